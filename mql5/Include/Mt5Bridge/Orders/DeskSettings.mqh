// How a trader executes.
#ifndef MT5BRIDGE_ORDERS_DESK_SETTINGS_MQH
#define MT5BRIDGE_ORDERS_DESK_SETTINGS_MQH

#include "SymbolRules.mqh"

// What is done with signals and orders.
enum TradingChoice
  {
   TRADING_OFF,    // Refuse all signals and orders
   TRADING_DRY,    // Say what would be done
   TRADING_LIVE    // Execute
  };

// Where the client order id is kept at the broker.
enum IdCarrier
  {
   ID_IN_COMMENT,  // In the comment; the magic number is the strategy's
   ID_IN_MAGIC     // In the magic number, for brokers that rewrite comments
  };

struct DeskSettings
  {
   TradingChoice     trading;
   FillingChoice     filling;
   IdCarrier         carrier;
   double            default_lots;       // of signals that name none
   uint              deviation_points;   // of requests that name none
   long              reconcile_ms;       // after so long an order that is not found was never made
   long              retry_ms;           // what makes risk smaller and has no end is tried so long
   long              retention_ms;       // final results are kept so long
   string            journal_path;       // in Files
   string            halt_path;
  };

#endif
