// What the broker knows of orders and deals, read once and then looked up in.
#ifndef MT5BRIDGE_ORDERS_BROKER_VIEW_MQH
#define MT5BRIDGE_ORDERS_BROKER_VIEW_MQH

#include "OrderEntry.mqh"

// A working or past order.
struct BrokerOrder
  {
   ulong             ticket;
   bool              live;
   long              state;         // ENUM_ORDER_STATE
   long              type;          // ENUM_ORDER_TYPE
   long              reason;
   long              magic;
   long              setup_msc;
   long              position;
   double            lots;
   double            rest;
   string            symbol;
   string            comment;
  };

// A deal that filled an order.
struct BrokerFill
  {
   ulong             deal;
   ulong             order;
   long              time_msc;
   double            lots;
   double            price;
  };

// Working orders are read before history, so that one which moves meanwhile is in both, never in
// neither; deals are read after the orders, so that what a finished order filled can be told.
class BrokerView
  {
private:
   BrokerOrder       m_orders[];
   int               m_order_count;
   int               m_live_count;
   BrokerFill        m_fills[];
   int               m_fill_count;

   void              ReadLive(void)
     {
      const int total = OrdersTotal();
      for(int i = 0; i < total; i++)
        {
         const ulong ticket = OrderGetTicket(i);
         if(ticket == 0)
            continue;
         const int at = Room();
         m_orders[at].ticket = ticket;
         m_orders[at].live = true;
         m_orders[at].state = OrderGetInteger(ORDER_STATE);
         m_orders[at].type = OrderGetInteger(ORDER_TYPE);
         m_orders[at].reason = OrderGetInteger(ORDER_REASON);
         m_orders[at].magic = OrderGetInteger(ORDER_MAGIC);
         m_orders[at].setup_msc = OrderGetInteger(ORDER_TIME_SETUP_MSC);
         m_orders[at].position = OrderGetInteger(ORDER_POSITION_ID);
         m_orders[at].lots = OrderGetDouble(ORDER_VOLUME_INITIAL);
         m_orders[at].rest = OrderGetDouble(ORDER_VOLUME_CURRENT);
         m_orders[at].symbol = OrderGetString(ORDER_SYMBOL);
         m_orders[at].comment = OrderGetString(ORDER_COMMENT);
        }
      m_live_count = m_order_count;
     }

   void              ReadPast(void)
     {
      const int total = HistoryOrdersTotal();
      for(int i = 0; i < total; i++)
        {
         const ulong ticket = HistoryOrderGetTicket(i);
         if(ticket == 0)
            continue;
         int at = 0;
         while(at < m_live_count && m_orders[at].ticket != ticket)
            at++;
         if(at == m_live_count)
            at = Room();
         m_orders[at].ticket = ticket;
         m_orders[at].live = false;
         m_orders[at].state = HistoryOrderGetInteger(ticket, ORDER_STATE);
         m_orders[at].type = HistoryOrderGetInteger(ticket, ORDER_TYPE);
         m_orders[at].reason = HistoryOrderGetInteger(ticket, ORDER_REASON);
         m_orders[at].magic = HistoryOrderGetInteger(ticket, ORDER_MAGIC);
         m_orders[at].setup_msc = HistoryOrderGetInteger(ticket, ORDER_TIME_SETUP_MSC);
         m_orders[at].position = HistoryOrderGetInteger(ticket, ORDER_POSITION_ID);
         m_orders[at].lots = HistoryOrderGetDouble(ticket, ORDER_VOLUME_INITIAL);
         m_orders[at].rest = HistoryOrderGetDouble(ticket, ORDER_VOLUME_CURRENT);
         m_orders[at].symbol = HistoryOrderGetString(ticket, ORDER_SYMBOL);
         m_orders[at].comment = HistoryOrderGetString(ticket, ORDER_COMMENT);
        }
     }

   void              ReadDeals(void)
     {
      const int total = HistoryDealsTotal();
      for(int i = 0; i < total; i++)
        {
         const ulong ticket = HistoryDealGetTicket(i);
         const long type = HistoryDealGetInteger(ticket, DEAL_TYPE);
         if(ticket == 0 || (type != DEAL_TYPE_BUY && type != DEAL_TYPE_SELL))
            continue;
         if(m_fill_count == ArraySize(m_fills))
            ArrayResize(m_fills, 2 * m_fill_count + 64);
         m_fills[m_fill_count].deal = ticket;
         m_fills[m_fill_count].order = (ulong)HistoryDealGetInteger(ticket, DEAL_ORDER);
         m_fills[m_fill_count].time_msc = HistoryDealGetInteger(ticket, DEAL_TIME_MSC);
         m_fills[m_fill_count].lots = HistoryDealGetDouble(ticket, DEAL_VOLUME);
         m_fills[m_fill_count].price = HistoryDealGetDouble(ticket, DEAL_PRICE);
         m_fill_count++;
        }
     }

   // A place for one more order.
   int               Room(void)
     {
      if(m_order_count == ArraySize(m_orders))
         ArrayResize(m_orders, 2 * m_order_count + 64);
      return(m_order_count++);
     }

public:
                     BrokerView(void)
     {
      m_order_count = 0;
      m_live_count = 0;
      m_fill_count = 0;
     }

   // Reads working orders, and orders and deals since `from_msc` (server time); false if the
   // history cannot be read now.
   bool              Refresh(const long from_msc)
     {
      m_order_count = 0;
      m_fill_count = 0;
      ReadLive();
      const datetime from = (datetime)(from_msc > 0 ? from_msc / 1000 : 0);
      const datetime newest = MathMax(TimeCurrent(), TimeTradeServer());
      if(!HistorySelect(from, (datetime)(newest + 7 * 86400)))
         return(false);
      ReadPast();
      ReadDeals();
      return(true);
     }

   int               OrderCount(void) const { return(m_order_count); }
   void              Order(const int index, BrokerOrder &order) const { order = m_orders[index]; }

   // Where an order is, -1 if it is not here; the newest are found first.
   int               OrderOf(const ulong ticket) const
     {
      for(int i = m_order_count - 1; i >= 0; i--)
         if(m_orders[i].ticket == ticket)
            return(i);
      return(-1);
     }

   // Whether an order is working; false also when it is not known.
   bool              Live(const ulong ticket) const
     {
      const int at = OrderOf(ticket);
      return(at >= 0 && m_orders[at].live);
     }

   // The first deal of an order, by time and ticket, that the entry has not told; false if none.
   bool              NextFill(const OrderEntry &entry, const ulong order, BrokerFill &fill) const
     {
      int found = -1;
      for(int i = 0; i < m_fill_count; i++)
         if(m_fills[i].order == order && !entry.Told(m_fills[i].deal)
            && (found < 0 || Earlier(m_fills[i], m_fills[found])))
            found = i;
      if(found >= 0)
         fill = m_fills[found];
      return(found >= 0);
     }

private:
   bool              Earlier(const BrokerFill &a, const BrokerFill &b) const
     {
      return(a.time_msc < b.time_msc || (a.time_msc == b.time_msc && a.deal < b.deal));
     }
  };

#endif
