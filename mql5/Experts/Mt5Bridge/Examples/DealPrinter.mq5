//| Example: prints each fill by itself, also of many in one millisecond. Needs no daemon.
#property version   "1.00"
#property description "Shows how to have each deal reported once with Mt5Bridge's DealEvents."

#include <Mt5Bridge\DealEvents.mqh>

input int TimerMs = 1000;  // Milliseconds between looks for what no event has told of

class DealPrinter : public EventsCallback
  {
public:
   // Magic number and comment tell equal deals apart.
   virtual void OnDeal(const DealRecord &deal)
     {
      if(deal.type > DEAL_TYPE_SELL)
         return;  // a deposit or the like
      string what = deal.kind == DEAL_RECORD_DELETE ? "is deleted" : deal.revision > 0 ? "is now" : "is";
      string side = deal.type == DEAL_TYPE_BUY ? "buy" : "sell";
      PrintFormat("deal %I64u %s %s %.2f %s at %.5f, magic %I64d, \"%s\"", deal.ticket, what, side, deal.volume, FixedTextOf(deal.symbol), deal.price, deal.magic, FixedTextOf(deal.comment));
     }
  };

DealPrinter printer;
DealEvents deals;

int OnInit()
  {
   deals.Begin(GetPointer(printer));
   return EventSetMillisecondTimer(TimerMs) ? INIT_SUCCEEDED : INIT_FAILED;
  }

void OnDeinit(const int reason)
  {
   EventKillTimer();
  }

void OnTrade()
  {
   deals.EnumCallbacks();
  }

void OnTradeTransaction(const MqlTradeTransaction &change, const MqlTradeRequest &request, const MqlTradeResult &result)
  {
   deals.Transaction(change);
  }

void OnTimer()
  {
   deals.Timer();
  }
