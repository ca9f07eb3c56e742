// What a change of a position's stops does to its risk.
#ifndef MT5BRIDGE_ORDERS_STOP_CHANGE_MQH
#define MT5BRIDGE_ORDERS_STOP_CHANGE_MQH

#include "OrderRequest.mqh"

// Whether stop and target of the selected position only come nearer to the price, or stay.
bool StopsComeNearer(const OrderRequest &request)
  {
   const double side = PositionGetInteger(POSITION_TYPE) == POSITION_TYPE_BUY ? 1 : -1;
   const double sl = PositionGetDouble(POSITION_SL);
   const double tp = PositionGetDouble(POSITION_TP);
   const bool sl_nearer = request.sl == 0 || sl == 0 || (request.sl - sl) * side >= 0;
   const bool tp_nearer = request.tp == 0 || tp == 0 || (tp - request.tp) * side >= 0;
   return(sl_nearer && tp_nearer);
  }

#endif
