//| Publishes ticks, deals and the account's state to the daemon; never trades.
#property version   "1.00"
#property description "Sends every tick and every deal to the Mt5Bridge daemon, each once and in order."
#property description "Allow the daemon's address: Tools > Options > Expert Advisors > Allow WebRequest for listed URL."

#include <Mt5Bridge\Publisher.mqh>

input group "Daemon"
input string Address = "127.0.0.1";       // Daemon's host name or IP address
input int    Port = 5655;                 // Daemon's port
input string User = "";                   // User at the daemon; empty: the credential that `mt5cep terminal install` has written
input string Password = "";               // Password of that user
input string Identity = "";               // Name of this terminal; empty: ACCOUNT@SERVER, with the terminal's name if it has one
input group "What is published"
input bool   OwnSymbol = true;            // Publish the chart's symbol
input string Symbols = "";                // More symbols, separated by commas
input bool   PublishDeals = true;         // Publish the account's deals
input int    DealHistoryDays = 0;         // Deals of so many days before now; 0: all of the account
input int    PropertiesSeconds = 60;      // Look so often whether symbols have other swaps, sessions or levels; 0: only when connected anew
input int    BackfillMinutes = 0;         // First start of a symbol: ticks of so many minutes before now
input group "Wake-ups"
input int    TimerMs = 50;                // Milliseconds between looks at all symbols and the daemon
input bool   UseTickSpy = true;           // Run TickSpy on the other symbols, so that their ticks come at once
input bool   UseBookEvents = false;       // Also wake on changes of the symbols' market books
input group "Bounds"
input int    BlockMs = 50;                // Longest time in milliseconds that sockets may hold up one event, but for attempts to connect to another machine
input int    PumpMicroseconds = 10000;    // Longest time in microseconds for taking ticks in one event
input int    PumpTicksMax = 8192;         // Most ticks of a symbol taken in one event
input int    PumpDealsMax = 1000;          // Most deals of the history compared in one event
input int    KeptTicks = 131072;          // Most ticks of a symbol kept until they are acknowledged
input int    BatchTicks = 1000;           // Most ticks in one frame
input group "Proof"
input int    RecountSeconds = 60;         // Compare the tick base with what was sent for each interval of so many seconds
input int    GraceSeconds = 5;            // Wait so many seconds for late ticks before comparing
input int    QuietSeconds = 60;           // Compare at once when no tick has come for so many seconds
input bool   WriteAhead = false;          // Write down what is taken before it is sent, not on the timer: exact after a crash even if ticks were late
input int    DealReconcileSeconds = 60;   // Compare the deal history so often even if nothing happened
input int    DealDeleteSeconds = 10;      // A deal missing in the history for so many seconds counts as deleted
input group "Chart"
input bool   ShowStatus = true;           // Show connection and counters on the chart

Publisher *publisher = NULL;

// Globals live on when inputs, symbol or period change: nothing of the earlier publisher may, not
// even after an OnDeinit that was ended by force. What has to be known is in its files.
void Drop()
  {
   if(CheckPointer(publisher) == POINTER_DYNAMIC)
      delete publisher;
   publisher = NULL;
  }

int OnInit()
  {
   PublisherSettings settings;
   settings.session.host = Address;
   settings.session.port = Port;
   settings.session.user = User;
   settings.session.password = Password;
   settings.session.block_ms = BlockMs;
   settings.session.kept_ticks = KeptTicks;
   settings.session.batch_records = BatchTicks;
   settings.pump.ticks_max = MathMax(1, PumpTicksMax);
   settings.pump.us_max = PumpMicroseconds;
   settings.pump.backfill_ms = (long)MathMax(0, BackfillMinutes) * 60000;
   settings.pump.interval_ms = (long)MathMax(1, RecountSeconds) * 1000;
   settings.pump.grace_ms = (long)MathMax(0, GraceSeconds) * 1000;
   settings.pump.quiet_ms = (long)MathMax(1, QuietSeconds) * 1000;
   settings.deals.reconcile_ms = (long)MathMax(1, DealReconcileSeconds) * 1000;
   settings.deals.deals_max = MathMax(1, PumpDealsMax);
   settings.deals.confirm_ms = (long)DealDeleteSeconds * 1000;
   settings.identity = Identity;
   settings.symbols = Symbols;
   settings.own_symbol = OwnSymbol;
   settings.publishes_deals = PublishDeals;
   settings.deal_history_days = DealHistoryDays;
   settings.properties_ms = 1000 * MathMax(0, PropertiesSeconds);
   settings.timer_ms = MathMax(1, TimerMs);
   settings.spies = UseTickSpy;
   settings.books = UseBookEvents;
   settings.shows_status = ShowStatus;
   settings.pump.writes_ahead = WriteAhead;
   Drop();
   publisher = new Publisher();
   return publisher.Begin(settings);
  }

void OnDeinit(const int reason)
  {
   publisher.End(reason);
   Drop();
  }

void OnTick()
  {
   publisher.Tick();
  }

void OnTimer()
  {
   publisher.Timer();
  }

void OnChartEvent(const int id, const long &lparam, const double &dparam, const string &sparam)
  {
   publisher.ChartEvent(id, lparam);
  }

void OnBookEvent(const string &symbol)
  {
   publisher.Book(symbol);
  }

void OnTrade()
  {
   publisher.Trade();
  }

void OnTradeTransaction(const MqlTradeTransaction &change, const MqlTradeRequest &request, const MqlTradeResult &result)
  {
   publisher.Transaction(change);
  }
