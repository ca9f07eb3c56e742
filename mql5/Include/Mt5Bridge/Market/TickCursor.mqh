//| A place in a symbol's tick base: a millisecond, and which of its ticks were taken.
#ifndef MT5BRIDGE_MARKET_TICK_CURSOR
#define MT5BRIDGE_MARKET_TICK_CURSOR

#include "TickLedger.mqh"

// The base is asked from this millisecond on, again and again, and what was taken of it is left
// out. Ticks are told apart by content, since a late one may slip in between two of the same
// millisecond. After a restart only their number is known: the first ones found are adopted.
class TickCursor
  {
private:
   long  m_msc;
   ulong m_taken[];   // hashes of the ticks taken at m_msc
   int   m_count;
   int   m_adopt;     // so many more were taken, content unknown

public:
         TickCursor(void) { Seek(0, 0); }
   void  Seek(const long msc, const int count_at_msc);
   void  SeekKnown(const long msc, const TickLedger &ledger);
   long  Msc(void) const { return m_msc; }
   int   CountAtMsc(void) const { return m_count + m_adopt; }
   int   FirstNew(const MqlTick &ticks[], const int count);
   bool  IsNew(const MqlTick &tick, const MqlTick &ticks[], const int index) const;
   void  Take(const MqlTick &tick);
   void  TakeRun(const MqlTick &ticks[], const int from, const int count);

private:
   void  Adopt(const MqlTick &ticks[], const int count);
   void  Add(const ulong hash);
   int   Times(const ulong hash) const;
  };

// Stand behind `count_at_msc` ticks of a millisecond.
void TickCursor::Seek(const long msc, const int count_at_msc)
  {
   m_msc = msc;
   m_count = 0;
   m_adopt = count_at_msc;
  }

// Stand behind those ticks of a millisecond that the ledger holds.
void TickCursor::SeekKnown(const long msc, const TickLedger &ledger)
  {
   Seek(msc, 0);
   for(int i = 0; i < ledger.Count(); i++)
      if(ledger.MscAt(i) == msc)
         Add(ledger.HashAt(i));
  }

// How many of the ticks read from m_msc on were taken, if those are the first ones, in order;
// -1: they are not, so each tick of this millisecond has to be looked at (IsNew).
int TickCursor::FirstNew(const MqlTick &ticks[], const int count)
  {
   Adopt(ticks, count);
   for(int i = 0; i < m_count; i++)
      if(i >= count || ticks[i].time_msc != m_msc || TickHash(ticks[i]) != m_taken[i])
         return -1;
   return m_count;
  }

// Whether the tick at `index` of the cursor's millisecond is one more of its kind than was taken.
bool TickCursor::IsNew(const MqlTick &tick, const MqlTick &ticks[], const int index) const
  {
   ulong hash = TickHash(tick);
   int earlier = 0;
   for(int i = 0; i < index; i++)
      if(TickHash(ticks[i]) == hash)
         earlier++;
   return earlier >= Times(hash);
  }

void TickCursor::Take(const MqlTick &tick)
  {
   if(tick.time_msc > m_msc)
      Seek(tick.time_msc, 0);
   if(tick.time_msc == m_msc)
      Add(TickHash(tick));
  }

// Ticks in order of time: only those of the newest millisecond matter.
void TickCursor::TakeRun(const MqlTick &ticks[], const int from, const int count)
  {
   int first = from + count - 1;
   long newest = ticks[first].time_msc;
   while(first > from && ticks[first - 1].time_msc == newest)
      first--;
   for(int i = first; i < from + count; i++)
      Take(ticks[i]);
  }

void TickCursor::Adopt(const MqlTick &ticks[], const int count)
  {
   for(int i = m_count; m_adopt > 0 && i < count && ticks[i].time_msc == m_msc; i++)
     {
      Add(TickHash(ticks[i]));
      m_adopt--;
     }
  }

void TickCursor::Add(const ulong hash)
  {
   if(m_count == ArraySize(m_taken))
      ArrayResize(m_taken, m_count + 16, 64);
   m_taken[m_count++] = hash;
  }

int TickCursor::Times(const ulong hash) const
  {
   int times = 0;
   for(int i = 0; i < m_count; i++)
      if(m_taken[i] == hash)
         times++;
   return times;
  }

#endif
