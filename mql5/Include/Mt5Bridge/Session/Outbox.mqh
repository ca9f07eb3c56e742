//| One stream's records from their source to the acknowledgement: numbers, cursor, offsets.
#ifndef MT5BRIDGE_SESSION_OUTBOX
#define MT5BRIDGE_SESSION_OUTBOX

#include "../Wire/Encoder.mqh"

// From the record `first` on, the trade server was so far off UTC.
struct OffsetChange
  {
   ulong first;
   int   offset_ms;
  };

// Records below `base` are acknowledged and forgotten, the one at `cursor` is sent next, and `end`
// is the number the next record gets. Of an outbox that holds, only what was written down is sent:
// records below `ready`. Descendants hold the records themselves.
class Outbox
  {
protected:
   uint         m_stream;
   ulong        m_base;
   ulong        m_cursor;
   ulong        m_end;
   ulong        m_durable;
   ulong        m_next;     // where the frame just encoded ends
   ulong        m_ready;
   bool         m_holds;
   bool         m_begun;
   OffsetChange m_offsets[];

   // How many of `wanted` records from `first` on lie side by side in memory.
   virtual int  Contiguous(const ulong first, const int wanted) { return wanted; }
   virtual void EncodeRecords(Encoder &encoder, ByteWriter &out, const int offset_ms, const ulong first, const int count) {}
   virtual int  RecordsMax(void) const { return 1; }

public:
                Outbox(void) { m_stream = 0; m_holds = false; Outbox::Reset(); }
   virtual     ~Outbox(void) {}
   virtual void Reset(void);
   void         Number(const uint stream) { m_stream = stream; }
   void         Begin(const ulong durable);
   void         Resume(const ulong durable);
   void         Acknowledge(const ulong sequence);
   void         Rewind(const ulong first);
   bool         EncodeNext(Encoder &encoder, ByteWriter &out, const int records_max);
   void         Hold(const bool holds) { m_holds = holds; }
   void         Written(void) { m_ready = m_end; }
   void         Passed(void) { m_cursor = m_next; }
   uint         Stream(void) const { return m_stream; }
   bool         Begun(void) const { return m_begun; }
   bool         Idle(void) const { return m_cursor >= SendableEnd(); }
   ulong        Taken(void) const { return m_end - 1; }
   ulong        Sent(void) const { return m_cursor - 1; }
   ulong        Acknowledged(void) const { return m_base - 1; }
   int          Unacknowledged(void) const { return (int)(m_end - m_base); }
   int          InFlight(void) const { return m_cursor > m_base ? (int)(m_cursor - m_base) : 0; }

protected:
   void         NoteOffset(const int offset_ms);
   int          OffsetMs(const ulong sequence) const { return m_offsets[OffsetAt(sequence)].offset_ms; }
   void         Forget(void);

private:
   int          OffsetAt(const ulong sequence) const;
   ulong        SendableEnd(void) const { return m_holds ? MathMin(m_ready, m_end) : m_end; }
   int          Sendable(const int records_max);
   void         EncodeLost(Encoder &encoder, ByteWriter &out);
   void         DropOldOffsets(void);
  };

// As a new one: nothing is taken, and its place is not known.
void Outbox::Reset(void)
  {
   m_base = m_cursor = m_end = m_next = m_ready = 1;
   m_durable = 0;
   m_begun = false;
   ArrayResize(m_offsets, 0, 16);
  }

// The first settled WELCOME of a program: number on behind what the daemon has on disk.
void Outbox::Begin(const ulong durable)
  {
   m_base = m_cursor = m_end = m_next = m_ready = durable + 1;
   m_durable = durable;
   m_begun = true;
   ArrayResize(m_offsets, 0, 16);
  }

// A new connection of a running program: go on behind what the daemon has on disk.
void Outbox::Resume(const ulong durable)
  {
   Acknowledge(durable);
   m_cursor = MathMin(durable + 1, m_end);
  }

// Forget everything up to `sequence`, also what an earlier run has sent and this one takes later.
void Outbox::Acknowledge(const ulong sequence)
  {
   if(sequence > m_durable)
      m_durable = sequence;
   Forget();
  }

// Send again from `first`.
void Outbox::Rewind(const ulong first)
  {
   if(first >= 1 && first < m_cursor)
      m_cursor = first;
  }

// The next records, or LOST for what is no longer kept; false when there is nothing to send.
// Call Passed() once the frame is queued.
bool Outbox::EncodeNext(Encoder &encoder, ByteWriter &out, const int records_max)
  {
   if(Idle() || records_max < 1)
      return false;
   if(m_cursor < m_base)
     {
      EncodeLost(encoder, out);
      return true;
     }
   int count = Sendable(records_max);
   m_next = m_cursor + (ulong)count;
   EncodeRecords(encoder, out, OffsetMs(m_cursor), m_cursor, count);
   return true;
  }

void Outbox::EncodeLost(Encoder &encoder, ByteWriter &out)
  {
   LostFrame lost;
   lost.stream = m_stream;
   lost.first = m_cursor;
   lost.last = m_base - 1;
   lost.reason = (ushort)LOST_DISCARDED;
   lost.text = "acknowledged, no longer kept";
   m_next = m_base;
   encoder.Encode(lost, out);
  }

// Records from `end` on are taken with this offset.
void Outbox::NoteOffset(const int offset_ms)
  {
   int count = ArraySize(m_offsets);
   if(count > 0 && m_offsets[count - 1].offset_ms == offset_ms)
      return;
   ArrayResize(m_offsets, count + 1, 16);
   m_offsets[count].first = m_end;
   m_offsets[count].offset_ms = offset_ms;
  }

void Outbox::Forget(void)
  {
   ulong known = MathMin(m_durable, m_end - 1);
   if(known < m_base)
      return;
   m_base = known + 1;
   if(m_cursor < m_base)
      m_cursor = m_base;
   DropOldOffsets();
  }

void Outbox::DropOldOffsets(void)
  {
   while(ArraySize(m_offsets) > 1 && m_offsets[1].first <= m_base)
      ArrayRemove(m_offsets, 0, 1);
  }

int Outbox::OffsetAt(const ulong sequence) const
  {
   int index = ArraySize(m_offsets) - 1;
   while(index > 0 && m_offsets[index].first > sequence)
      index--;
   return index;
  }

// How many records from the cursor on fit one frame: all taken with one offset, side by side.
int Outbox::Sendable(const int records_max)
  {
   int count = (int)MathMin((ulong)MathMin(records_max, RecordsMax()), SendableEnd() - m_cursor);
   int change = OffsetAt(m_cursor) + 1;
   if(change < ArraySize(m_offsets))
      count = (int)MathMin((ulong)count, m_offsets[change].first - m_cursor);
   return Contiguous(m_cursor, count);
  }

#endif
