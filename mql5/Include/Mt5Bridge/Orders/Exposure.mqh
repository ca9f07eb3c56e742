// What is at risk now: positions, working orders and this program's orders on their way.
#ifndef MT5BRIDGE_ORDERS_EXPOSURE_MQH
#define MT5BRIDGE_ORDERS_EXPOSURE_MQH

#include "OrderBook.mqh"

#define DAY_MS 86400000

// Whether an order of this type (ENUM_ORDER_TYPE) buys.
bool BuyType(const long type)
  {
   return(type == ORDER_TYPE_BUY || type == ORDER_TYPE_BUY_LIMIT || type == ORDER_TYPE_BUY_STOP
          || type == ORDER_TYPE_BUY_STOP_LIMIT);
  }

// Whether every order opens a position of its own.
bool HedgingAccount(void)
  {
   return(AccountInfoInteger(ACCOUNT_MARGIN_MODE) == ACCOUNT_MARGIN_MODE_RETAIL_HEDGING);
  }

// Lots of one symbol by direction.
struct Exposure
  {
   double            long_lots;      // positions
   double            short_lots;
   double            buying;         // orders that may still be filled
   double            selling;
  };

// Adds lots to one of two directions.
void AddLots(const bool first, const double lots, double &one, double &other)
  {
   if(first)
      one += lots;
   else
      other += lots;
  }

// Adds what this program has accepted and what may still be filled of it.
void AddOwnOrders(const string symbol, OrderBook &book, Exposure &exposure)
  {
   const int open = book.OpenCount();
   for(int i = 0; i < open; i++)
     {
      OrderEntry *entry = book.OpenAt(i);
      if(entry.request.symbol != symbol || ArraySize(entry.legs) == 0)
         continue;
      if(Opens(entry.request) || entry.request.kind == ORDER_CLOSE)
         AddLots(BuyType(entry.legs[0].type), entry.Open(), exposure.buying, exposure.selling);
     }
  }

// Reads the exposure of a symbol.
void ReadExposure(const string symbol, OrderBook &book, Exposure &exposure)
  {
   exposure.long_lots = 0;
   exposure.short_lots = 0;
   exposure.buying = 0;
   exposure.selling = 0;
   for(int i = PositionsTotal() - 1; i >= 0; i--)
      if(PositionGetTicket(i) != 0 && PositionGetString(POSITION_SYMBOL) == symbol)
         AddLots(PositionGetInteger(POSITION_TYPE) == POSITION_TYPE_BUY,
                 PositionGetDouble(POSITION_VOLUME), exposure.long_lots, exposure.short_lots);
   AddOwnOrders(symbol, book, exposure);
   for(int i = OrdersTotal() - 1; i >= 0; i--)
     {
      const ulong ticket = OrderGetTicket(i);
      if(ticket != 0 && OrderGetString(ORDER_SYMBOL) == symbol && !book.OwnedByOpen(ticket))
         AddLots(BuyType(OrderGetInteger(ORDER_TYPE)), OrderGetDouble(ORDER_VOLUME_CURRENT),
                 exposure.buying, exposure.selling);
     }
  }

// The most lots of the symbol that can stand open once so many more are ordered.
double ExposureAfter(const Exposure &exposure, const bool buys, const double lots,
                     const bool hedging)
  {
   const double buying = exposure.buying + (buys ? lots : 0);
   const double selling = exposure.selling + (buys ? 0 : lots);
   if(hedging)
      return(exposure.long_lots + exposure.short_lots + buying + selling);
   const double net = exposure.long_lots - exposure.short_lots;
   return(MathMax(MathAbs(net + buying), MathAbs(net - selling)));
  }

// Whether so many lots at the market only make a net position smaller.
bool OnlyReduces(const Exposure &exposure, const bool buys, const double lots, const bool hedging)
  {
   if(hedging)
      return(false);
   const double net = exposure.long_lots - exposure.short_lots;
   const double against = buys ? -net : net;
   const double committed = buys ? exposure.buying : exposure.selling;
   return(lots + committed <= against + LOTS_EPSILON);
  }

// Server time at the last midnight of the trade server.
long ServerMidnight(const long server_msc)
  {
   return(server_msc - server_msc % DAY_MS);
  }

// What a deal of this type earns belongs to the day's result; deposits and credits do not.
bool EarningDeal(const long type)
  {
   return(type != DEAL_TYPE_BALANCE && type != DEAL_TYPE_CREDIT && type != DEAL_TYPE_BONUS);
  }

// The account's result since the server's midnight in its currency: realised and floating. False
// if the history cannot be read now.
bool DayResult(const long server_msc, double &result)
  {
   const datetime midnight = (datetime)(ServerMidnight(server_msc) / 1000);
   result = AccountInfoDouble(ACCOUNT_PROFIT);
   if(!HistorySelect(midnight, (datetime)(midnight + 2 * DAY_MS / 1000)))
      return(false);
   for(int i = HistoryDealsTotal() - 1; i >= 0; i--)
     {
      const ulong ticket = HistoryDealGetTicket(i);
      if(ticket != 0 && EarningDeal(HistoryDealGetInteger(ticket, DEAL_TYPE)))
         result += HistoryDealGetDouble(ticket, DEAL_PROFIT)
                   + HistoryDealGetDouble(ticket, DEAL_COMMISSION)
                   + HistoryDealGetDouble(ticket, DEAL_SWAP)
                   + HistoryDealGetDouble(ticket, DEAL_FEE);
     }
   return(true);
  }

#endif
