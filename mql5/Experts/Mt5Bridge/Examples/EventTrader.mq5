//| Example: trades on a complex event of the daemon, each event once. Dry run unless you set Trading.
#property version   "1.00"
#property description "Shows how to trade on complex events with Mt5Bridge's EventsCallback and ClientOrders."

#include <Mt5Bridge\ClientOrders.mqh>
#include <Mt5Bridge\SignalReceiver.mqh>

input string        Event = "Turn";          // Complex event that is traded on; its key is the symbol
input string        Symbols = "";            // Symbols that may be traded, separated by commas; empty: the chart's
input TradingChoice Trading = TRADING_DRY;   // What is done with orders
input double        Lots = 0.01;             // Lots of an order
input double        StopPoints = 300;        // Stop loss in points from the price; 0: none
input double        TargetPoints = 300;      // Take profit in points from the price; 0: none
input int           ValidSeconds = 10;       // An event that is older is not traded
input double        MaxLotsPerSymbol = 0.05; // Lots open in one symbol: positions and working orders
input int           Magic = 7;               // Magic number of the orders
input string        Address = "127.0.0.1";   // Daemon's host name or IP address
input int           Port = 5655;             // Daemon's port
input string        User = "";               // User at the daemon; empty: the credential that `mt5cep terminal install` has written
input string        Password = "";           // Password of that user
input int           TimerMs = 50;            // Milliseconds between looks at the daemon

class EventTrader : public EventsCallback
  {
public:
   ClientOrders orders;
   OrderRequest order;      // what each order has
   long         valid_ms;

   // Sells. The id is the event's, so an event that comes again is not traded again.
   virtual void OnComplexEvent(const ComplexEvent &event)
     {
      OrderRequest sale;
      sale = order;
      sale.id = orders.IdOf(event);
      sale.time_msc = event.TimeMsc();
      sale.valid_until_msc = event.TimeMsc() + valid_ms;
      sale.side = (uchar)ORDER_SELL;
      sale.name = event.Name();
      sale.symbol = event.Key();
      PrintFormat("%s %I64u of %s", event.Name(), event.Number(), event.Key());
      orders.Take(sale);
     }

   virtual void OnOrderResult(const SignalResultFrame &result)
     {
      const string fill = result.lots > 0 ? StringFormat("%.2f lots at %.5f", result.lots, result.price) : result.text;
      Print("  " + EnumToString((ResultStatus)result.status) + " " + fill);
     }

   virtual void OnHalt(const bool halted, const string reason) { orders.Halt(halted, reason); }
  };

EventTrader    trader;
SignalReceiver receiver;

int OnInit()
  {
   SessionSettings settings;
   settings.host = Address;
   settings.port = Port;
   settings.user = User;
   settings.password = Password;
   ClearRequest(trader.order);
   trader.order.lots = Lots;
   trader.order.stop_points = StopPoints;
   trader.order.target_points = TargetPoints;
   trader.order.magic = Magic;
   trader.valid_ms = (long)ValidSeconds * 1000;
   trader.orders.limits.lots_per_symbol = MaxLotsPerSymbol;
   if(!trader.orders.Begin("EventTrader", Trading, Symbols == "" ? _Symbol : Symbols, GetPointer(trader)))
      return INIT_FAILED;
   if(!receiver.Begin(settings, "", "", Trading == TRADING_LIVE ? TRADES_ORDERS : TRADES_DRY_RUN, "Mt5Bridge EventTrader " + MT5BRIDGE_VERSION, GetPointer(trader)))
      return INIT_FAILED;
   receiver.SubscribeEvent(Event);
   return EventSetMillisecondTimer(TimerMs) ? INIT_SUCCEEDED : INIT_FAILED;
  }

void OnDeinit(const int reason)
  {
   EventKillTimer();
   receiver.End();
   trader.orders.End();
  }

void OnTimer()
  {
   receiver.Timer();
   trader.orders.Timer();
  }

void OnTrade()
  {
   trader.orders.Trade();
  }

void OnTradeTransaction(const MqlTradeTransaction &change, const MqlTradeRequest &request, const MqlTradeResult &result)
  {
   trader.orders.Transaction(change, result);
  }
