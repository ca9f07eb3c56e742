// Without a journal, the broker's orders tell which ids were executed already.
#ifndef MT5BRIDGE_ORDERS_ORDER_ADOPTION_MQH
#define MT5BRIDGE_ORDERS_ORDER_ADOPTION_MQH

#include "BrokerView.mqh"
#include "Exposure.mqh"
#include "OrderJournal.mqh"

// What kind of request an order comes from.
OrderKind KindOfOrder(const BrokerOrder &order)
  {
   if(order.type == ORDER_TYPE_BUY_LIMIT || order.type == ORDER_TYPE_SELL_LIMIT)
      return(ORDER_LIMIT);
   if(order.type == ORDER_TYPE_BUY_STOP || order.type == ORDER_TYPE_SELL_STOP)
      return(ORDER_STOP);
   const bool closes = order.position != 0 && (ulong)order.position != order.ticket;
   return(closes ? ORDER_CLOSE : ORDER_MARKET);
  }

// Takes an order that carries an id into book and journal, to be followed by its ticket.
void AdoptOrder(const ulong id, const BrokerOrder &order, OrderBook &book, OrderJournal &journal,
                const Moment &now)
  {
   OrderEntry *entry = book.Find(id);
   if(entry == NULL)
     {
      OrderRequest request;
      ClearRequest(request);
      request.id = id;
      request.magic = order.magic;
      request.symbol = order.symbol;
      request.lots = order.lots;
      request.kind = (uchar)KindOfOrder(order);
      request.side = (uchar)(BuyType(order.type) ? ORDER_BUY : ORDER_SELL);
      entry = book.Add(request, order.setup_msc - now.utc_offset_ms);
      journal.WriteEntry(entry);
     }
   OrderLeg leg;
   ClearLeg(leg);
   leg.state = LEG_WORKING;
   leg.type = (uchar)order.type;
   leg.lots = order.lots;
   leg.order = order.ticket;
   leg.sent_msc = order.setup_msc;
   entry.AddLeg(leg);
   journal.WriteLeg(entry, ArraySize(entry.legs) - 1);
  }

// Adopts all orders of the view that programs have made and whose comments carry an id.
void AdoptOrders(const BrokerView &view, OrderBook &book, OrderJournal &journal, const Moment &now)
  {
   BrokerOrder order;
   ulong id = 0;
   for(int i = 0; i < view.OrderCount(); i++)
     {
      view.Order(i, order);
      if(order.reason == ORDER_REASON_EXPERT && IdOfComment(order.comment, id))
         AdoptOrder(id, order, book, journal, now);
     }
   journal.Flush();
  }

#endif
