// Prints the time of each tick that TickEvents tells, from a time of the trade server on.
#property version "1.00"

#include <Mt5Bridge\TickEvents.mqh>

input string Symbols = "";  // followed
input long   Since = 0;     // server time in milliseconds
input int    TimerMs = 10;  // 0: no timer

// Looks again from within OnTick: that must neither repeat nor lose a tick.
class Printer : public EventsCallback
  {
public:
   TickEvents  *ticks;
                Printer(void) { ticks = NULL; }
   virtual void OnTick(const string symbol, const MqlTick &tick)
     {
      PrintFormat("%s %I64d %.5f %.5f", symbol, tick.time_msc, tick.bid, tick.ask);
      ticks.Timer();
     }
  };

Printer    printer;
TickEvents ticks;

int OnInit(void)
  {
   printer.ticks = GetPointer(ticks);
   if(!ticks.Begin(Symbols, GetPointer(printer), Since))
      return INIT_PARAMETERS_INCORRECT;
   return TimerMs == 0 || EventSetMillisecondTimer(TimerMs) ? INIT_SUCCEEDED : INIT_FAILED;
  }

void OnDeinit(const int reason)
  {
   ticks.End();
  }

void OnTick(void) { ticks.Tick(); }
void OnTimer(void) { ticks.Timer(); }
void OnChartEvent(const int id, const long &lparam, const double &dparam, const string &sparam)
  {
   ticks.ChartEvent(id, lparam);
  }
