//| The outbox of a symbol's ticks: a ring that grows up to a bound and then takes no more.
#ifndef MT5BRIDGE_SESSION_TICK_OUTBOX
#define MT5BRIDGE_SESSION_TICK_OUTBOX

#include "Outbox.mqh"

#define TICK_RING_FIRST 1024

// A tick lies at its number modulo the ring's size, which is a power of two.
class TickOutbox : public Outbox
  {
private:
   MqlTick m_ring[];
   ulong   m_mask;
   int     m_kept_max;
   long    m_whole_msc;  // UTC: all earlier ticks are taken, but for late ones; 0: not known

protected:
   virtual int  Contiguous(const ulong first, const int wanted);
   virtual void EncodeRecords(Encoder &encoder, ByteWriter &out, const int offset_ms, const ulong first, const int count);
   virtual int  RecordsMax(void) const { return TICKS_MAX; }

public:
                TickOutbox(const int kept_max);
   int          Room(void) const { return m_kept_max - Unacknowledged(); }
   bool         Append(const MqlTick &ticks[], const int from, const int count, const int offset_ms);
   void         Whole(const long utc_msc) { m_whole_msc = MathMax(m_whole_msc, utc_msc); }
   long         CompleteMsc(void) const;

private:
   bool         MakeRoom(const int count);
   void         Store(const MqlTick &ticks[], const int from, const int count);
  };

TickOutbox::TickOutbox(const int kept_max)
  {
   m_kept_max = MathMax(1, kept_max);
   m_mask = 0;
   m_whole_msc = 0;
  }

// Give the next numbers to ticks just taken; false when there is no room: nothing was taken.
bool TickOutbox::Append(const MqlTick &ticks[], const int from, const int count, const int offset_ms)
  {
   if(count > Room() || !MakeRoom(count))
      return false;
   NoteOffset(offset_ms);
   Store(ticks, from, count);
   m_end += (ulong)count;
   Forget();
   return true;
  }

// UTC: all earlier ticks are sent, but for late ones; 0: not known.
long TickOutbox::CompleteMsc(void) const
  {
   ulong next = MathMax(m_cursor, m_base);
   if(next >= m_end)
      return m_whole_msc;
   return MathMin(m_whole_msc, m_ring[(int)(next & m_mask)].time_msc - OffsetMs(next));
  }

void TickOutbox::Store(const MqlTick &ticks[], const int from, const int count)
  {
   int at = (int)(m_end & m_mask);
   int before_wrap = MathMin(count, ArraySize(m_ring) - at);
   ArrayCopy(m_ring, ticks, at, from, before_wrap);
   if(before_wrap < count)
      ArrayCopy(m_ring, ticks, 0, from + before_wrap, count - before_wrap);
  }

int TickOutbox::Contiguous(const ulong first, const int wanted)
  {
   return MathMin(wanted, ArraySize(m_ring) - (int)(first & m_mask));
  }

void TickOutbox::EncodeRecords(Encoder &encoder, ByteWriter &out, const int offset_ms, const ulong first, const int count)
  {
   encoder.EncodeTicks(m_stream, offset_ms, first, m_ring, (int)(first & m_mask), count, out);
  }

bool TickOutbox::MakeRoom(const int count)
  {
   int size = MathMax(TICK_RING_FIRST, ArraySize(m_ring));
   while(size < Unacknowledged() + count)
      size *= 2;
   if(size == ArraySize(m_ring))
      return true;
   MqlTick larger[];
   if(ArrayResize(larger, size) != size)
      return false;
   for(ulong sequence = m_base; sequence < m_end; sequence++)
      larger[(int)(sequence & (ulong)(size - 1))] = m_ring[(int)(sequence & m_mask)];
   ArraySwap(m_ring, larger);
   m_mask = (ulong)(size - 1);
   return true;
  }

#endif
