//| What a ledger's file still tells after a crash: prints what is known, kept and found missing.
#include <Mt5Bridge\Market\LedgerFile.mqh>

#define TICKS 40000
#define FIRST_MSC 1000
#define LATE_MSC 1010

void Tick(const long msc, const double bid, MqlTick &tick)
  {
   ZeroMemory(tick);
   tick.time_msc = msc;
   tick.bid = bid;
  }

// The tick base holds TICKS ticks, a millisecond apart, and a late one among the first of them, which
// was found and taken last. All but the last `open` of those taken are on the daemon's disk.
void Probe(const string name, const int open)
  {
   MqlTick base[];
   ArrayResize(base, TICKS + 1);
   for(int i = 0; i < TICKS; i++)
      Tick(FIRST_MSC + i, 1.0, base[i]);
   Tick(LATE_MSC, 2.0, base[TICKS]);
   TickLedger ledger;
   ledger.Begin(1, FIRST_MSC, FIRST_MSC);
   ledger.Take(base, 0, TICKS + 1);
   const ulong durable = (ulong)(TICKS + 1 - open);
   ledger.Close(FIRST_MSC + TICKS, durable);
   LedgerPlace place;
   place.msc = FIRST_MSC + TICKS - 1;
   place.count_at_msc = 1;
   LedgerFile file;
   file.Name("ledger.probe", true);
   file.Rewrite(ledger, place, durable);
   file.Shut();
   TickLedger again;
   file.Load(again, place);
   again.Cut(durable);
   MqlTick known[];
   int count = 0;
   ArrayResize(known, TICKS + 1);
   for(int i = 0; i <= TICKS; i++)
      if(base[i].time_msc >= again.KnownMsc())
         known[count++] = base[i];
   int missing[];
   int surplus = 0;
   const int found = again.Missing(known, count, again.KnownMsc(), again.OpenMsc(), missing, surplus);
   PrintFormat("%s: kept %d missing %d surplus %d", name, again.Count(), found, surplus);
  }

void OnStart()
  {
   Probe("all on disk", 0);
   Probe("late one under way", 1);
   Probe("many under way", 5000);
  }
