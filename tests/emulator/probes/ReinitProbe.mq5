// Keeps everything over OnDeinit and OnInit, to show what the terminal keeps and what it drops.
#property version "1.00"

input int    Number    = 1;      // any
input int    TimerMs   = 0;      // the first OnInit sets this timer, no other does
input bool   Fail      = false;  // OnInit fails
input string SpySymbol = "";     // the first OnInit starts SpyProbe on it and watches its book
input int    Port      = 0;      // the first OnInit connects to it
input int    Leak      = 0;      // so many objects are made and not deleted

class Memory
  {
public:
   int inits;
   int ticks;
   int timers;
   int charts;
   int books;
   int trades;
       Memory(void) { inits = ticks = timers = charts = books = trades = 0; }
  };

class Lost
  {
  };

Memory memory;
int    file = INVALID_HANDLE;
int    spy = INVALID_HANDLE;
int    link = INVALID_HANDLE;

void First()
  {
   file = FileOpen("kept.txt", FILE_WRITE | FILE_TXT | FILE_ANSI);
   for(int i = 0; i < Leak; i++)
     {
      Lost *lost = new Lost;
      if(CheckPointer(lost) == POINTER_INVALID)
         Print("no object");
     }
   if(TimerMs > 0)
      EventSetMillisecondTimer(TimerMs);
   if(SpySymbol != "")
     {
      spy = iCustom(SpySymbol, PERIOD_CURRENT, "SpyProbe", ChartID(), 7, 0.5);
      MarketBookAdd(SpySymbol);
     }
   if(Port > 0)
     {
      link = SocketCreate();
      SocketConnect(link, "127.0.0.1", (uint)Port, 1000);
     }
  }

void TellAccount(const string where)
  {
   PrintFormat("%s login %I64d positions %d time %d", where, AccountInfoInteger(ACCOUNT_LOGIN),
               PositionsTotal(), TimeCurrent() > 0);
  }

int OnInit()
  {
   if(memory.inits++ == 0)
      First();
   PrintFormat("init %d reason %d %d number %d file %d socket %d", memory.inits, UninitializeReason(),
               _UninitReason, Number, FileWriteString(file, "line") > 0,
               Port > 0 && SocketIsConnected(link));
   PrintFormat("chart %s %s", _Symbol, EnumToString(_Period));
   PrintFormat("id %I64d", ChartID());
   TellAccount("account");
   return Fail ? INIT_FAILED : INIT_SUCCEEDED;
  }

void OnDeinit(const int reason)
  {
   PrintFormat("deinit %d reason %d number %d on %s %s", reason, _UninitReason, Number, _Symbol,
               EnumToString(_Period));
   PrintFormat("counts ticks %d timers %d charts %d books %d trades %d", memory.ticks,
               memory.timers, memory.charts, memory.books, memory.trades);
   TellAccount("left");
   Sleep(20);  // the market goes on meanwhile, and nobody tells this program
  }

void OnTick() { memory.ticks++; }

void OnTimer() { memory.timers++; }

void OnChartEvent(const int id, const long &lparam, const double &dparam, const string &sparam) { memory.charts++; }

void OnBookEvent(const string &symbol) { memory.books++; }

void OnTrade() { memory.trades++; }
