// Counts its events and prints what the tests of the emulated terminal look at.
#property version "1.00"

input int    TimerMs    = 0;      // period of the timer, 0 none
input int    SleepMs    = 0;      // OnTimer and OnInit take so long
input bool   CopyInTick = false;  // OnTick asks for the newest tick
input string BookSymbol = "";     // watch this symbol's book
input string SpySymbol  = "";     // start SpyProbe on this symbol
input bool   Fail       = false;  // read behind the end of an array in the first OnTick
input int    InitResult = 0;      // what OnInit returns

int  ticks = 0;
int  timers = 0;
int  charts = 0;
int  books = 0;
int  trades = 0;
int  transactions = 0;
long seen_msc = 0;
int  spy = INVALID_HANDLE;

int OnInit()
  {
   if(SleepMs > 0)
      Sleep(SleepMs);
   if(TimerMs > 0)
      EventSetMillisecondTimer(TimerMs);
   if(BookSymbol != "")
      MarketBookAdd(BookSymbol);
   if(SpySymbol != "")
      spy = iCustom(SpySymbol, PERIOD_M1, "SpyProbe", ChartID(), 7, 0.5);
   PrintFormat("init on %s spy %d", _Symbol, spy);
   return InitResult;
  }

void OnDeinit(const int reason)
  {
   PrintFormat("offset %d reason %d", (int)(TimeTradeServer() - TimeGMT()), UninitializeReason());
   PrintFormat("deinit %d ticks %d timers %d charts %d books %d trades %d transactions %d", reason,
               ticks, timers, charts, books, trades, transactions);
  }

void OnTick()
  {
   ticks++;
   if(Fail)
     {
      int few[];
      ArrayResize(few, 2);
      few[ticks + 1] = 1;
     }
   if(CopyInTick)
     {
      MqlTick newest[];
      if(CopyTicks(_Symbol, newest, COPY_TICKS_ALL, 0, 1) == 1)
         seen_msc = newest[0].time_msc;
      PrintFormat("seen %I64d", seen_msc);
     }
  }

void OnTimer()
  {
   timers++;
   if(SleepMs > 0)
      Sleep(SleepMs);
  }

void OnChartEvent(const int id, const long &lparam, const double &dparam, const string &sparam)
  {
   if(charts++ == 0)
      PrintFormat("chart event %d %I64d %.1f %d", id - CHARTEVENT_CUSTOM, lparam, dparam,
                  StringLen(sparam));
  }

void OnBookEvent(const string &symbol)
  {
   if(books++ == 0)
      Print("book of ", symbol);
  }

void OnTrade()
  {
   trades++;
  }

void OnTradeTransaction(const MqlTradeTransaction &transaction, const MqlTradeRequest &request,
                        const MqlTradeResult &result)
  {
   transactions++;
  }
