// An EA whose trader, publisher and receiver are global objects: OnInit meets them as OnDeinit left
// them, and when OnDeinit was ended by force, as they were in the midst of their work.
#property version "1.00"

#include <Mt5Bridge\SignalReceiver.mqh>
#include <Mt5Bridge\Orders\Trader.mqh>
#include <Mt5Bridge\Publisher.mqh>

input int    Port = 0;        // the daemon's
input string Symbols = "";    // published besides the chart's
input bool   Orderly = true;  // OnDeinit ends what OnInit has begun

// Counts over all runs.
class Counter : public EventsCallback
  {
public:
   int          signals;
   int          deals;
                Counter(void) { signals = deals = 0; }
   virtual void OnSignal(const SignalFrame &signal, SignalResultFrame &result)
     {
      signals++;
      result.status = RESULT_DRY_RUN;
     }
   virtual void OnDeal(const DealRecord &deal) { PrintFormat("deal %d of %I64u", ++deals, deal.ticket); }
  };

Counter        counter;
SignalReceiver receiver;
Publisher      publisher;
Trader         trader;

int BeginTrader(void)
  {
   TraderSettings settings;
   settings.identity = "";
   settings.symbols = "";
   settings.halted = false;
   settings.show_status = false;
   settings.timer_ms = 10;
   settings.session.publishes = false;
   settings.session.port = Port;
   ZeroMemory(settings.limits);
   settings.desk.trading = TRADING_LIVE;
   settings.desk.filling = FILLING_BY_SYMBOL;
   settings.desk.carrier = ID_IN_COMMENT;
   settings.desk.default_lots = 0.01;
   settings.desk.deviation_points = 20;
   settings.desk.reconcile_ms = 1000;
   settings.desk.retention_ms = 86400000;
   return trader.Init(settings);
  }

int BeginPublisher(void)
  {
   PublisherSettings settings;
   settings.session.port = Port;
   settings.pump.backfill_ms = (long)1000000 * 60000;
   settings.pump.quiet_ms = 1000;
   settings.pump.grace_ms = 1000;
   settings.identity = "";
   settings.symbols = Symbols;
   settings.own_symbol = true;
   settings.publishes_deals = true;
   settings.deal_history_days = 0;
   settings.timer_ms = 10;
   settings.spies = false;
   settings.books = false;
   settings.shows_status = false;
   return publisher.Begin(settings);
  }

int OnInit(void)
  {
   SessionSettings settings;
   settings.port = Port;
   if(!receiver.Begin(settings, "", _Symbol, TRADES_DRY_RUN, "GlobalObjects", GetPointer(counter)))
      return INIT_FAILED;
   if(BeginTrader() != INIT_SUCCEEDED)
      return INIT_FAILED;
   return BeginPublisher();
  }

void OnDeinit(const int reason)
  {
   if(!Orderly)
      return;
   receiver.End();
   trader.Deinit();
   publisher.End(reason);
  }

void OnTick(void) { publisher.Tick(); }

void OnTimer(void)
  {
   receiver.Timer();
   trader.OnTimer();
   publisher.Timer();
  }

void OnTrade(void)
  {
   receiver.Trade();
   trader.OnTrade();
   publisher.Trade();
  }

void OnTradeTransaction(const MqlTradeTransaction &change, const MqlTradeRequest &request,
                        const MqlTradeResult &result)
  {
   receiver.Transaction(change);
   trader.OnTradeTransaction(change, result);
   publisher.Transaction(change);
  }
