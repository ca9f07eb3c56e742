// What the trade server would refuse now because the market is too near (SYMBOL_TRADE_FREEZE_LEVEL).
//
// A position is frozen while the price it would be closed at is within the freeze level of its stop or
// target, a pending order while its price is within it of the market. Neither can be changed or
// taken back then, nor a position be closed by an order.
#ifndef MT5BRIDGE_ORDERS_FREEZING_MQH
#define MT5BRIDGE_ORDERS_FREEZING_MQH

#include "Exposure.mqh"
#include "SymbolRules.mqh"

// Why the selected position cannot be changed or closed now, "" if it can.
string FrozenPosition(const SymbolRules &rules)
  {
   const bool buys = PositionGetInteger(POSITION_TYPE) == POSITION_TYPE_BUY;
   const double side = buys ? 1 : -1;
   const double price = rules.Market(!buys);
   const double sl = PositionGetDouble(POSITION_SL);
   const double tp = PositionGetDouble(POSITION_TP);
   if(sl > 0 && rules.Freezes((price - sl) * side))
      return(rules.FrozenText("position", PositionGetInteger(POSITION_TICKET), "stop", sl, price));
   if(tp > 0 && rules.Freezes((tp - price) * side))
      return(rules.FrozenText("position", PositionGetInteger(POSITION_TICKET), "target", tp, price));
   return("");
  }

// Why the selected pending order cannot be changed or taken back now, "" if it can.
string FrozenOrder(const SymbolRules &rules)
  {
   const long type = OrderGetInteger(ORDER_TYPE);
   const bool limit = type == ORDER_TYPE_BUY_LIMIT || type == ORDER_TYPE_SELL_LIMIT;
   const double side = BuyType(type) == limit ? 1 : -1;
   const double price = OrderGetDouble(ORDER_PRICE_OPEN);
   const double market = rules.Market(BuyType(type));
   if(!rules.Freezes((market - price) * side))
      return("");
   return(rules.FrozenText("order", OrderGetInteger(ORDER_TICKET), "price", price, market));
  }

#endif
