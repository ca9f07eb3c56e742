// Finds at the broker what became of an order whose ticket is not known.
#ifndef MT5BRIDGE_ORDERS_ORDER_FINDER_MQH
#define MT5BRIDGE_ORDERS_ORDER_FINDER_MQH

#include "BrokerView.mqh"
#include "DeskSettings.mqh"
#include "OrderBook.mqh"

#define CLOCK_SLACK_MS 5000
#define ANSWER_MS      200000  // no answer to a request comes after that, nor is it executed later

// An order is recognised by its id. If the broker has rewritten the comment, by everything else:
// symbol, type, lots, magic number and time of an order that a program made and nobody claims. The
// magic number 0 is everybody's: it tells nothing. A leg behind others is never an order that was
// rejected: that may be an earlier one's whose ticket was not told.
class OrderFinder
  {
private:
   IdCarrier         m_carrier;

public:
   void              Begin(const IdCarrier carrier) { m_carrier = carrier; }

   // The ticket of a leg's order, 0 if it is not to be found.
   ulong             Find(const OrderEntry &target, const int index, const BrokerView &view,
                          OrderBook &book) const
     {
      BrokerOrder order;
      ulong like = 0;
      for(int i = 0; i < view.OrderCount(); i++)
        {
         view.Order(i, order);
         if(order.reason != ORDER_REASON_EXPERT || target.Owns(order.ticket)
            || (index > 0 && order.state == ORDER_STATE_REJECTED)
            || order.type != target.legs[index].type
            || MathAbs(order.lots - target.legs[index].lots) > LOTS_EPSILON)
            continue;
         if(Carries(order, target.request.id, index))
            return(order.ticket);
         if(Like(order, target, index) && (like == 0 || order.ticket < like)
            && !book.Owned(order.ticket))
            like = order.ticket;
        }
      return(like);
     }

   // Whether what a modification or cancellation asks for is so at the broker.
   bool              InPlace(const OrderRequest &request, const OrderLeg &leg) const
     {
      if(request.kind == ORDER_CANCEL)
         return(HistoryOrderSelect(request.ticket)
                && HistoryOrderGetInteger(request.ticket, ORDER_STATE) == ORDER_STATE_CANCELED);
      if(leg.position != 0)
         return(PositionSelectByTicket(leg.position)
                && Stands(request.sl, PositionGetDouble(POSITION_SL), PositionGetString(POSITION_SYMBOL))
                && Stands(request.tp, PositionGetDouble(POSITION_TP), PositionGetString(POSITION_SYMBOL)));
      return(OrderSelect(request.ticket)
             && Stands(request.price, OrderGetDouble(ORDER_PRICE_OPEN), OrderGetString(ORDER_SYMBOL))
             && Stands(request.sl, OrderGetDouble(ORDER_SL), OrderGetString(ORDER_SYMBOL))
             && Stands(request.tp, OrderGetDouble(ORDER_TP), OrderGetString(ORDER_SYMBOL)));
     }

private:
   bool              Carries(const BrokerOrder &order, const ulong id, const int index) const
     {
      if(m_carrier == ID_IN_MAGIC && order.magic == (long)id)
         return(true);
      const int at = StringFind(order.comment, IdText(id));
      if(at < 0)
         return(false);
      const string behind = StringSubstr(order.comment, at + ID_LENGTH);
      if(behind == "" || index == 0)
         return(StringFind(behind, ":") != 0);  // a comment that was cut tells no leg
      const string leg = ":" + IntegerToString(index);
      return(behind == leg || StringFind(behind, leg + " ") == 0);
     }

   bool              Like(const BrokerOrder &order, const OrderEntry &target, const int index) const
     {
      ulong other;
      return(m_carrier == ID_IN_COMMENT && !IdOfComment(order.comment, other)
             && order.symbol == target.request.symbol && order.magic == target.request.magic
             && order.magic != 0
             && order.setup_msc >= target.legs[index].sent_msc - CLOCK_SLACK_MS
             && order.setup_msc <= target.legs[index].sent_by_msc + ANSWER_MS + CLOCK_SLACK_MS);
     }

   // Whether a price that was asked for is there: what was sent is the nearest that the symbol can have.
   bool              Stands(const double asked, const double present, const string symbol) const
     {
      const double tick = SymbolInfoDouble(symbol, SYMBOL_TRADE_TICK_SIZE);
      const double step = tick > 0 ? tick : SymbolInfoDouble(symbol, SYMBOL_POINT);
      return(asked == 0 || MathAbs(asked - present) <= step / 2 + 0.000000000001 * (1 + MathAbs(present)));
     }
  };

#endif
