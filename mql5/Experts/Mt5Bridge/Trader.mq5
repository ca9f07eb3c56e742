// Executes the daemon's signals and orders in this terminal. Off until you set Trading.
#property copyright "Apache License 2.0"
#property version   "1.00"
#property description "Executes signals and orders of the Mt5Bridge daemon, each at most once."

#include <Mt5Bridge\Orders\Trader.mqh>

input group "What it may do"
input TradingChoice Trading = TRADING_OFF;          // What is done with signals and orders
input string        Symbols = "";                   // Symbols that may be traded, comma-separated (empty: the chart's)
input bool          Halted = false;                 // Kill switch: open nothing, only close

input group "Risk limits of this terminal (0: no limit)"
input double        MaxLotsPerOrder = 1.0;          // Lots of one order
input double        MaxLotsPerSymbol = 2.0;         // Lots open in one symbol: positions and working orders
input double        MaxLotsPerDay = 20.0;           // Lots ordered since the trade server's midnight
input int           MaxOrdersPerMinute = 30;        // Orders in 60 seconds
input double        MaxDailyLoss = 0.0;             // Loss since the server's midnight, realised and floating, in the account's currency

input group "Orders"
input double        DefaultLots = 0.01;             // Lots of signals that name none
input int           DeviationPoints = 20;           // Price deviation accepted by market orders, in points
input FillingChoice Filling = FILLING_BY_SYMBOL;    // How orders are filled
input IdCarrier     CarryId = ID_IN_COMMENT;        // Where the client order id is kept at the broker
input int           ReconcileSeconds = 60;          // An order not found at the broker for so long was not executed
input int           RetrySeconds = 60;              // Closing, cancelling and nearer stops without an end of their own are tried so long
input int           RetentionDays = 60;             // Days for which executed ids are remembered

input group "Connection to the daemon"
input string        Address = "127.0.0.1";          // Address of the daemon, to be allowed in Tools > Options > Expert Advisors
input int           Port = 5655;                    // Port of the daemon
input string        User = "";                      // User at the daemon; empty: the credential that `mt5cep terminal install` has written
input string        Password = "";                  // Password of that user
input string        Identity = "";                  // Name of this trader (empty: ACCOUNT@SERVER/trader)
input int           TimerMs = 20;                   // Milliseconds between looks at the connection
input int           BlockMs = 50;                   // Longest time in milliseconds that a look may take in sockets, but for attempts to connect to another machine
input bool          ShowStatus = true;              // Show the state on the chart

Trader *trader = NULL;

// The inputs in the form the trader takes them.
void ReadInputs(TraderSettings &settings)
  {
   settings.identity = Identity;
   settings.symbols = Symbols;
   settings.halted = Halted;
   settings.show_status = ShowStatus;
   settings.timer_ms = MathMax(1, TimerMs);
   settings.session.publishes = false;
   settings.session.host = Address;
   settings.session.port = Port;
   settings.session.user = User;
   settings.session.password = Password;
   settings.session.block_ms = BlockMs;
   settings.limits.lots_per_order = MaxLotsPerOrder;
   settings.limits.lots_per_symbol = MaxLotsPerSymbol;
   settings.limits.lots_per_day = MaxLotsPerDay;
   settings.limits.orders_per_minute = MaxOrdersPerMinute;
   settings.limits.daily_loss = MaxDailyLoss;
   settings.desk.trading = Trading;
   settings.desk.filling = Filling;
   settings.desk.carrier = CarryId;
   settings.desk.default_lots = DefaultLots;
   settings.desk.deviation_points = (uint)MathMax(0, DeviationPoints);
   settings.desk.reconcile_ms = (long)MathMax(1, ReconcileSeconds) * 1000;
   settings.desk.retry_ms = (long)MathMax(0, RetrySeconds) * 1000;
   settings.desk.retention_ms = (long)MathMax(2, RetentionDays) * 86400000;
  }

// Reads the inputs and starts; the result for the terminal.
int Start(void)
  {
   TraderSettings settings;
   ReadInputs(settings);
   return(trader.Init(settings));
  }

// Globals live on when inputs, symbol or period change: nothing of the earlier trader may, not even
// after an OnDeinit that was ended by force. What has to be known is in its journal.
void Drop(void)
  {
   if(CheckPointer(trader) == POINTER_DYNAMIC)
      delete trader;
   trader = NULL;
  }

int OnInit(void)
  {
   Drop();
   trader = new Trader();
   return(Start());
  }

void OnDeinit(const int reason)
  {
   trader.Deinit();
   Drop();
  }

void OnTimer(void) { trader.OnTimer(); }

void OnTrade(void) { trader.OnTrade(); }

void OnTradeTransaction(const MqlTradeTransaction &transaction, const MqlTradeRequest &request,
                        const MqlTradeResult &result) { trader.OnTradeTransaction(transaction, result); }
