// The broker's orders tell which ids were executed that the journal does not know: it may be lost,
// or have lost its end with the power.
#ifndef MT5BRIDGE_ORDERS_ORDER_ADOPTION_MQH
#define MT5BRIDGE_ORDERS_ORDER_ADOPTION_MQH

#include "BrokerView.mqh"
#include "Exposure.mqh"
#include "OrderJournal.mqh"

// Whether a name is in a list.
bool IsOneOf(const string name, const string &names[])
  {
   for(int i = 0; i < ArraySize(names); i++)
      if(names[i] == name)
         return(true);
   return(false);
  }

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

// Takes an order that carries an id into book and journal, to be followed by its ticket, unless the
// journal knows what was sent for this id.
void AdoptOrder(const ulong id, const BrokerOrder &order, OrderBook &book, OrderJournal &journal,
                const Moment &now)
  {
   OrderEntry *entry = book.Find(id);
   const bool known = entry != NULL && ArraySize(entry.legs) > 0;
   if(entry != NULL && !entry.adopted && (entry.Final() || known))
      return;
   if(known && order.state == ORDER_STATE_REJECTED)
      return;  // an attempt of which nothing came
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
   entry.adopted = true;
   OrderLeg leg;
   ClearLeg(leg);
   leg.state = LEG_WORKING;
   leg.type = (uchar)order.type;
   leg.lots = order.lots;
   leg.order = order.ticket;
   leg.sent_msc = order.setup_msc;
   leg.sent_by_msc = order.setup_msc;
   entry.AddLeg(leg);
   journal.WriteLeg(entry, ArraySize(entry.legs) - 1);
  }

// Adopts all orders of the view that programs have made in these symbols and whose comments carry
// an id; rejected ones last, since another attempt may have been more than that.
void AdoptOrders(const BrokerView &view, const string &symbols[], OrderBook &book,
                 OrderJournal &journal, const Moment &now)
  {
   BrokerOrder order;
   ulong id = 0;
   const int count = view.OrderCount();
   for(int i = 0; i < 2 * count; i++)
     {
      view.Order(i % count, order);
      const bool rejected = order.state == ORDER_STATE_REJECTED;
      if(rejected == (i >= count) && order.reason == ORDER_REASON_EXPERT
         && IdOfComment(order.comment, id) && IsOneOf(order.symbol, symbols))
         AdoptOrder(id, order, book, journal, now);
     }
   journal.Flush();
  }

#endif
