//| What was taken of a symbol's ticks lately: time and content of each, by number.
#ifndef MT5BRIDGE_MARKET_TICK_LEDGER
#define MT5BRIDGE_MARKET_TICK_LEDGER

#include "TickHash.mqh"

#define LEDGER_ROOM 1024
#define LEDGER_REMEMBERED 65536  // closed ticks kept, in case a late one comes very late
#define LEDGER_SPARE 8192        // ticks are forgotten so many at a time

// All ticks taken with times from KnownMsc() on are in here. Those from OpenMsc() on were not yet
// compared with the tick base; the others were, and are compared again before they are forgotten.
class TickLedger
  {
private:
   long  m_msc[];
   ulong m_hash[];
   int   m_start;     // the oldest entry kept
   int   m_end;
   int   m_scan;      // everything before it is closed; behind it only late ones are
   ulong m_first;     // the number of the oldest entry
   long  m_known_msc;
   long  m_open_msc;

public:
         TickLedger(void) { Begin(1, 0, 0); }
   void  Begin(const ulong first, const long known_msc, const long open_msc);
   void  Take(const MqlTick &ticks[], const int from, const int count);
   void  TakeHash(const long time_msc, const ulong hash);
   void  Cut(const ulong last);
   void  Close(const long to_msc, const ulong durable);
   int   Missing(const MqlTick &base[], const int count, const long from_msc, const long to_msc, int &missing[], int &surplus) const;
   long  OldestOpen(void) const;
   int   Forgettable(const int kept, const ulong durable) const;
   long  KnownMsc(void) const { return m_known_msc; }
   long  OpenMsc(void) const { return m_open_msc; }
   ulong First(void) const { return m_first; }
   ulong Last(void) const { return m_first + (ulong)(m_end - m_start) - 1; }
   int   Count(void) const { return m_end - m_start; }
   long  MscAt(const int index) const { return m_msc[m_start + index]; }
   ulong HashAt(const int index) const { return m_hash[m_start + index]; }

private:
   void  MakeRoom(const int count);
   int   Taken(const long from_msc, const long to_msc, ulong &hashes[], ulong &sum) const;
   bool  SameSum(const MqlTick &base[], const int count, const ulong sum) const;
   int   Match(const ulong hash, const ulong &hashes[], bool &used[]) const;
  };

// Nothing is taken yet: numbers go on with `first`.
void TickLedger::Begin(const ulong first, const long known_msc, const long open_msc)
  {
   m_start = m_end = m_scan = 0;
   m_first = first;
   m_known_msc = known_msc;
   m_open_msc = open_msc;
  }

void TickLedger::Take(const MqlTick &ticks[], const int from, const int count)
  {
   MakeRoom(count);
   for(int i = 0; i < count; i++)
     {
      m_msc[m_end + i] = ticks[from + i].time_msc;
      m_hash[m_end + i] = TickHash(ticks[from + i]);
     }
   m_end += count;
  }

void TickLedger::TakeHash(const long time_msc, const ulong hash)
  {
   MakeRoom(1);
   m_msc[m_end] = time_msc;
   m_hash[m_end] = hash;
   m_end++;
  }

// Forget what has numbers above `last`: the daemon never had it, and it is taken anew.
void TickLedger::Cut(const ulong last)
  {
   if(last < Last())
      m_end = last < m_first ? m_start : m_start + (int)(last - m_first) + 1;
   m_scan = MathMin(m_scan, m_end);
  }

// Everything before `to_msc` is compared; what is old enough is forgotten.
void TickLedger::Close(const long to_msc, const ulong durable)
  {
   m_open_msc = to_msc;
   while(m_scan < m_end && m_msc[m_scan] < to_msc)
      m_scan++;
   int forgotten = Count() > LEDGER_REMEMBERED + LEDGER_SPARE ? Forgettable(LEDGER_REMEMBERED, durable) : 0;
   for(int i = 0; i < forgotten; i++)
      m_known_msc = MathMax(m_known_msc, MscAt(i) + 1);
   m_start += forgotten;
   m_first += (ulong)forgotten;
  }

// How many of the oldest ticks may be forgotten so that `kept` stay: closed ones that the daemon has
// on its disk, and older than each that it has not. After a crash those are taken anew, and a late
// one is found only where everything is known.
int TickLedger::Forgettable(const int kept, const ulong durable) const
  {
   long before_msc = m_open_msc;
   int on_disk = durable < m_first ? 0 : (int)MathMin((ulong)Count(), durable - m_first + 1);
   for(int i = on_disk; i < Count(); i++)
      before_msc = MathMin(before_msc, MscAt(i));
   int count = 0;
   while(count < on_disk && Count() - count > kept && MscAt(count) < before_msc)
      count++;
   return count;
  }

// The time of the oldest tick taken in the open interval; LONG_MAX when there is none.
long TickLedger::OldestOpen(void) const
  {
   long oldest = LONG_MAX;
   for(int i = m_scan; i < m_end; i++)
      if(m_msc[i] >= m_open_msc && m_msc[i] < oldest)
         oldest = m_msc[i];
   return oldest;
  }

// Which of the base's ticks of an interval were not taken; how many were taken that the base does
// not hold. Ticks are told apart by content, equal ones are counted.
int TickLedger::Missing(const MqlTick &base[], const int count, const long from_msc, const long to_msc, int &missing[], int &surplus) const
  {
   ulong hashes[];
   ulong sum = 0;
   int taken = Taken(from_msc, to_msc, hashes, sum);
   ArrayResize(missing, 0, 64);
   surplus = 0;
   if(taken == count && SameSum(base, count, sum))
      return 0;
   bool used[];
   ArrayResize(used, taken);
   ArrayInitialize(used, false);
   ArraySort(hashes);
   int found = 0;
   for(int i = 0; i < count; i++)
     {
      int at = Match(Sortable(TickHash(base[i])), hashes, used);
      if(at >= 0)
         used[at] = true;
      else
        {
         ArrayResize(missing, found + 1, 64);
         missing[found++] = i;
        }
     }
   surplus = taken - (count - found);
   return found;
  }

int TickLedger::Taken(const long from_msc, const long to_msc, ulong &hashes[], ulong &sum) const
  {
   int count = 0;
   int first = from_msc >= m_open_msc ? m_scan : m_start;
   ArrayResize(hashes, m_end - first);
   for(int i = first; i < m_end; i++)
      if(m_msc[i] >= from_msc && m_msc[i] < to_msc)
        {
         hashes[count++] = Sortable(m_hash[i]);
         sum += m_hash[i];
        }
   ArrayResize(hashes, count);
   return count;
  }

bool TickLedger::SameSum(const MqlTick &base[], const int count, const ulong sum) const
  {
   ulong found = 0;
   for(int i = 0; i < count; i++)
      found += TickHash(base[i]);
   return found == sum;
  }

// The first unused one of equal hashes in the sorted list; -1: none.
int TickLedger::Match(const ulong hash, const ulong &hashes[], bool &used[]) const
  {
   int low = 0;
   int high = ArraySize(hashes);
   while(low < high)
     {
      int middle = (low + high) / 2;
      if(hashes[middle] < hash)
         low = middle + 1;
      else
         high = middle;
     }
   while(low < ArraySize(hashes) && hashes[low] == hash && used[low])
      low++;
   return low < ArraySize(hashes) && hashes[low] == hash ? low : -1;
  }

// Move to the front what is kept before growing.
void TickLedger::MakeRoom(const int count)
  {
   if(m_end + count <= ArraySize(m_msc))
      return;
   int kept = m_end - m_start;
   for(int i = 0; i < kept && m_start > 0; i++)
     {
      m_msc[i] = m_msc[m_start + i];
      m_hash[i] = m_hash[m_start + i];
     }
   m_scan -= m_start;
   m_start = 0;
   m_end = kept;
   int size = MathMax(LEDGER_ROOM, 2 * (kept + count));
   if(size > ArraySize(m_msc))
     {
      ArrayResize(m_msc, size);
      ArrayResize(m_hash, size);
     }
  }

#endif
