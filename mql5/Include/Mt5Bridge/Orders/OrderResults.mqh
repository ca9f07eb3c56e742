// Results on their way to the daemon, and what the end of an order is called.
#ifndef MT5BRIDGE_ORDERS_ORDER_RESULTS_MQH
#define MT5BRIDGE_ORDERS_ORDER_RESULTS_MQH

#include "..\Session\Moment.mqh"
#include "BrokerView.mqh"

// Results to tell, in their order; whoever tells them takes them out.
class ResultTray
  {
private:
   SignalResultFrame m_results[];

public:
   int               Count(void) const { return(ArraySize(m_results)); }
   void              Get(const int index, SignalResultFrame &result) const { result = m_results[index]; }

   // Takes out the oldest ones.
   void              Drop(const int count)
     {
      const int left = ArraySize(m_results) - count;
      for(int i = 0; i < left; i++)
         m_results[i] = m_results[i + count];
      ArrayResize(m_results, left, 64);
     }

   void              Clear(void) { ArrayResize(m_results, 0, 64); }

   void              Put(const SignalResultFrame &result)
     {
      const int count = ArraySize(m_results);
      ArrayResize(m_results, count + 1, 64);
      m_results[count] = result;
     }
  };

// A result that is no fill.
void MakeResult(const ulong id, const ushort status, const uint retcode, const string text,
                const Moment &now, SignalResultFrame &result)
  {
   result.id = id;
   result.deal = 0;
   result.order = 0;
   result.time_msc = now.utc_msc;
   result.lots = 0;
   result.price = 0;
   result.retcode = retcode;
   result.status = status;
   result.text = text;
  }

// Whether a request's time has passed.
bool Late(const OrderRequest &request, const Moment &now)
  {
   return(request.valid_until_msc > 0 && now.market_msc > request.valid_until_msc);
  }

string LateText(const OrderRequest &request, const Moment &now)
  {
   return(StringFormat("too late by %I64d ms", now.market_msc - request.valid_until_msc));
  }

// How an order has ended that was not filled in full; `late` if its request's time has passed.
ushort EndingOf(const BrokerOrder &order, const bool late)
  {
   if(order.state == ORDER_STATE_EXPIRED || (order.state == ORDER_STATE_CANCELED && late))
      return(RESULT_EXPIRED);
   return(order.state == ORDER_STATE_REJECTED ? (ushort)RESULT_REJECTED : (ushort)RESULT_CANCELLED);
  }

uint EndingRetcode(const BrokerOrder &order)
  {
   return(order.state == ORDER_STATE_REJECTED ? TRADE_RETCODE_REJECT : TRADE_RETCODE_CANCEL);
  }

string EndingText(const BrokerOrder &order)
  {
   if(order.state == ORDER_STATE_REJECTED)
      return("rejected by the broker");
   return(order.state == ORDER_STATE_EXPIRED ? "the order's time has passed"
          : "the order was cancelled");
  }

#endif
