//| Example: prints each tick of five symbols, whatever chart it is on. Needs no daemon.
#property version   "1.00"
#property description "Shows how to have OnTick for any symbol with Mt5Bridge's TickEvents."

#include <Mt5Bridge\TickEvents.mqh>

input string Symbols = "EURUSD,GBPUSD,USDJPY,USDCHF,AUDUSD";  // Symbols whose ticks are printed, as Market Watch spells them
input int    TimerMs = 1000;                                  // Milliseconds between looks at all symbols, for events that are dropped

class TickPrinter : public EventsCallback
  {
public:
   virtual void OnTick(const string symbol, const MqlTick &tick)
     {
      PrintFormat("%s %s.%03d bid %.5f ask %.5f", symbol, TimeToString(tick.time, TIME_DATE | TIME_SECONDS), (int)(tick.time_msc % 1000), tick.bid, tick.ask);
     }
  };

TickPrinter printer;
TickEvents ticks;

int OnInit()
  {
   if(!ticks.Begin(Symbols, GetPointer(printer)))
      return INIT_PARAMETERS_INCORRECT;
   return EventSetMillisecondTimer(TimerMs) ? INIT_SUCCEEDED : INIT_FAILED;
  }

void OnDeinit(const int reason)
  {
   EventKillTimer();
   ticks.End();
  }

void OnTick()
  {
   ticks.Tick();
  }

void OnChartEvent(const int id, const long &lparam, const double &dparam, const string &sparam)
  {
   ticks.ChartEvent(id, lparam);
  }

void OnTimer()
  {
   ticks.Timer();
  }
