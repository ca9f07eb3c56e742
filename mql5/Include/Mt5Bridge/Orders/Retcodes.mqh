// The trade server's return codes: what they are called, and what follows from them.
//
// Source: https://www.mql5.com/en/docs/constants/errorswarnings/enum_trade_return_codes
#ifndef MT5BRIDGE_ORDERS_RETCODES_MQH
#define MT5BRIDGE_ORDERS_RETCODES_MQH

// What an answer says of its request.
enum RetcodeMeaning
  {
   RETCODE_ACCEPTED,   // done, in whole or in part, or placed
   RETCODE_UNCERTAIN,  // it may have been executed all the same
   RETCODE_PASSING,    // nothing was done; the same may go well in a moment
   RETCODE_FINAL       // nothing was done, nor would be if it were asked for again
  };

// What a return code means; one that is not documented is final.
RetcodeMeaning MeaningOf(const uint retcode)
  {
   switch((int)retcode)
     {
      case TRADE_RETCODE_PLACED:
      case TRADE_RETCODE_DONE:
      case TRADE_RETCODE_DONE_PARTIAL:
         return(RETCODE_ACCEPTED);
      case TRADE_RETCODE_ERROR:
      case TRADE_RETCODE_TIMEOUT:
      case TRADE_RETCODE_CONNECTION:
         return(RETCODE_UNCERTAIN);
      case TRADE_RETCODE_REQUOTE:
      case TRADE_RETCODE_MARKET_CLOSED:
      case TRADE_RETCODE_PRICE_CHANGED:
      case TRADE_RETCODE_PRICE_OFF:
      case TRADE_RETCODE_ORDER_CHANGED:
      case TRADE_RETCODE_TOO_MANY_REQUESTS:
      case TRADE_RETCODE_LOCKED:
      case TRADE_RETCODE_FROZEN:
      case TRADE_RETCODE_INVALID_CLOSE_VOLUME:
      case TRADE_RETCODE_CLOSE_ORDER_EXIST:
         return(RETCODE_PASSING);
     }
   return(RETCODE_FINAL);
  }

// A return code in words.
string RetcodeText(const uint retcode)
  {
   switch((int)retcode)
     {
      case TRADE_RETCODE_REQUOTE:              return("requote");
      case TRADE_RETCODE_REJECT:               return("request rejected");
      case TRADE_RETCODE_CANCEL:               return("request cancelled");
      case TRADE_RETCODE_PLACED:               return("order placed");
      case TRADE_RETCODE_DONE:                 return("request executed");
      case TRADE_RETCODE_DONE_PARTIAL:         return("request executed in part");
      case TRADE_RETCODE_ERROR:                return("request processing error");
      case TRADE_RETCODE_TIMEOUT:              return("request timed out");
      case TRADE_RETCODE_INVALID:              return("invalid request");
      case TRADE_RETCODE_INVALID_VOLUME:       return("invalid volume");
      case TRADE_RETCODE_INVALID_PRICE:        return("invalid price");
      case TRADE_RETCODE_INVALID_STOPS:        return("invalid stops");
      case TRADE_RETCODE_TRADE_DISABLED:       return("trading is disabled");
      case TRADE_RETCODE_MARKET_CLOSED:        return("market is closed");
      case TRADE_RETCODE_NO_MONEY:             return("not enough money");
      case TRADE_RETCODE_PRICE_CHANGED:        return("price has changed");
      case TRADE_RETCODE_PRICE_OFF:            return("no quotes");
      case TRADE_RETCODE_INVALID_EXPIRATION:   return("invalid expiration");
      case TRADE_RETCODE_ORDER_CHANGED:        return("the order has changed meanwhile");
      case TRADE_RETCODE_TOO_MANY_REQUESTS:    return("too many requests");
      case TRADE_RETCODE_NO_CHANGES:           return("no changes");
      case TRADE_RETCODE_SERVER_DISABLES_AT:   return("algo trading is disabled by the server");
      case TRADE_RETCODE_CLIENT_DISABLES_AT:   return("algo trading is disabled in the terminal");
      case TRADE_RETCODE_LOCKED:               return("locked while it is processed");
      case TRADE_RETCODE_FROZEN:               return("order or position is frozen");
      case TRADE_RETCODE_INVALID_FILL:         return("unsupported filling mode");
      case TRADE_RETCODE_CONNECTION:           return("no connection to the trade server");
      case TRADE_RETCODE_ONLY_REAL:            return("allowed on real accounts only");
      case TRADE_RETCODE_LIMIT_ORDERS:         return("limit of pending orders reached");
      case TRADE_RETCODE_LIMIT_VOLUME:         return("limit of volume for the symbol reached");
      case TRADE_RETCODE_INVALID_ORDER:        return("invalid or prohibited order type");
      case TRADE_RETCODE_POSITION_CLOSED:      return("position is closed already");
      case TRADE_RETCODE_INVALID_CLOSE_VOLUME: return("more to close than the position has");
      case TRADE_RETCODE_CLOSE_ORDER_EXIST:    return("another order closes this position");
      case TRADE_RETCODE_LIMIT_POSITIONS:      return("limit of open positions reached");
      case TRADE_RETCODE_REJECT_CANCEL:        return("activation refused, the order is cancelled");
      case TRADE_RETCODE_LONG_ONLY:            return("positions can only be long");
      case TRADE_RETCODE_SHORT_ONLY:           return("positions can only be short");
      case TRADE_RETCODE_CLOSE_ONLY:           return("positions can only be closed");
      case TRADE_RETCODE_FIFO_CLOSE:           return("positions must be closed oldest first");
      case TRADE_RETCODE_HEDGE_PROHIBITED:     return("opposite positions are not allowed");
     }
   return("return code " + IntegerToString((long)retcode));
  }

#endif
