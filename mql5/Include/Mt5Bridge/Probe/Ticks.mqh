//| What CopyTicks and CopyTicksRange give at the edges of what is asked for.
#ifndef MT5BRIDGE_PROBE_TICKS_MQH
#define MT5BRIDGE_PROBE_TICKS_MQH

#include "Facts.mqh"

#define PROBE_TICKS     2000
#define PROBE_TICKS_MIN 10
#define PROBE_HOUR_MS   3600000

// How many of the ticks have that time.
int ProbeTicksAt(const MqlTick &ticks[], const int count, const long msc)
  {
   int found = 0;
   for(int i = 0; i < count; i++)
      found += ticks[i].time_msc == msc ? 1 : 0;
   return(found);
  }

void ProbeOrder(const MqlTick &ticks[], const int count, ProbeFacts &facts)
  {
   bool ordered = true;
   bool seconds = true;
   int most = 1;
   int run = 1;
   for(int i = 0; i < count; i++)
     {
      seconds = seconds && (long)ticks[i].time == ticks[i].time_msc / 1000;
      ordered = ordered && (i == 0 || ticks[i].time_msc >= ticks[i - 1].time_msc);
      run = i > 0 && ticks[i].time_msc == ticks[i - 1].time_msc ? run + 1 : 1;
      most = MathMax(most, run);
     }
   facts.Truth("tick.ordered", ordered);
   facts.Truth("tick.time_is_msc", seconds);
   facts.Whole("tick.same_ms_most", most);
  }

// Asks from the time of a tick in the middle: it and all others of its millisecond come first.
void ProbeFrom(const MqlTick &ticks[], const int count, ProbeFacts &facts)
  {
   MqlTick found[];
   const long msc = ticks[count / 2].time_msc;
   const int at = ProbeTicksAt(ticks, count, msc);
   int got = CopyTicks(_Symbol, found, COPY_TICKS_ALL, (ulong)msc, PROBE_TICKS);
   facts.Truth("tick.from_inclusive", got > 0 && found[0].time_msc == msc && ProbeTicksAt(found, got, msc) >= at);
   got = CopyTicks(_Symbol, found, COPY_TICKS_ALL, (ulong)msc, 1);
   facts.Whole("tick.asked_one", got);
   got = CopyTicksRange(_Symbol, found, COPY_TICKS_ALL, (ulong)msc, (ulong)msc);
   facts.Truth("tick.range_inclusive", got >= at && ProbeTicksAt(found, got, msc) == got);
   got = CopyTicksRange(_Symbol, found, COPY_TICKS_ALL, (ulong)ticks[0].time_msc + 1, (ulong)msc);
   facts.Truth("tick.range_keeps_out", got > 0 && ProbeTicksAt(found, got, ticks[0].time_msc) == 0);
  }

// Asks for more than there is, for a time to come, and of a symbol that is none.
void ProbeBeyond(const long newest_msc, ProbeFacts &facts)
  {
   MqlTick found[];
   ResetLastError();
   int got = CopyTicks(_Symbol, found, COPY_TICKS_ALL, (ulong)newest_msc, PROBE_TICKS);
   facts.Truth("tick.fewer_than_asked", got > 0 && got < PROBE_TICKS);
   facts.Whole("tick.fewer_than_asked_error", GetLastError());
   ResetLastError();
   const ulong later_msc = (ulong)newest_msc + PROBE_HOUR_MS;
   facts.Whole("tick.empty_range", CopyTicksRange(_Symbol, found, COPY_TICKS_ALL, later_msc, later_msc + 1000));
   facts.Whole("tick.empty_range_error", GetLastError());
   ResetLastError();
   facts.Whole("tick.unknown_symbol", CopyTicks("Mt5Bridge.none", found, COPY_TICKS_ALL, 1, 1));
   facts.Truth("tick.unknown_symbol_fails", GetLastError() != 0);
  }

void ProbeTicks(ProbeFacts &facts)
  {
   MqlTick ticks[];
   const int count = CopyTicks(_Symbol, ticks, COPY_TICKS_ALL, 0, PROBE_TICKS);
   if(count < PROBE_TICKS_MIN || ticks[count - 1].time_msc <= ticks[0].time_msc)
     {
      facts.Skip("tick.", _Symbol + " has too few ticks: run the script on a symbol that is quoted");
      return;
     }
   MqlTick newest;
   const bool known = SymbolInfoTick(_Symbol, newest);
   facts.Truth("tick.zero_is_newest", known && MathAbs(newest.time_msc - ticks[count - 1].time_msc) <= PROBE_HOUR_MS);
   ProbeOrder(ticks, count, facts);
   ProbeFrom(ticks, count, facts);
   ProbeBeyond(MathMax(newest.time_msc, ticks[count - 1].time_msc), facts);
   const ulong begin_us = GetMicrosecondCount();
   for(int i = 0; i < 100; i++)
      CopyTicks(_Symbol, ticks, COPY_TICKS_ALL, (ulong)newest.time_msc, 100);
   facts.Whole("tick.copy_us", (long)(GetMicrosecondCount() - begin_us) / 100);
  }

#endif
