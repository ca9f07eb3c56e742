// The trade server's return codes: what they mean, and which leave it open what happened.
#ifndef MT5BRIDGE_ORDERS_RETCODES_MQH
#define MT5BRIDGE_ORDERS_RETCODES_MQH

// Whether the request may have been executed although this was answered.
bool DoubtfulRetcode(const uint retcode)
  {
   return(retcode == TRADE_RETCODE_TIMEOUT || retcode == TRADE_RETCODE_CONNECTION
          || retcode == TRADE_RETCODE_ERROR);
  }

// Whether the request was accepted, in whole or in part.
bool AcceptedRetcode(const uint retcode)
  {
   return(retcode == TRADE_RETCODE_DONE || retcode == TRADE_RETCODE_DONE_PARTIAL
          || retcode == TRADE_RETCODE_PLACED);
  }

// A return code in words.
string RetcodeText(const uint retcode)
  {
   switch((int)retcode)
     {
      case TRADE_RETCODE_REQUOTE:            return("requote");
      case TRADE_RETCODE_REJECT:             return("request rejected");
      case TRADE_RETCODE_CANCEL:             return("request cancelled");
      case TRADE_RETCODE_ERROR:              return("request processing error");
      case TRADE_RETCODE_TIMEOUT:            return("request timed out");
      case TRADE_RETCODE_INVALID:            return("invalid request");
      case TRADE_RETCODE_INVALID_VOLUME:     return("invalid volume");
      case TRADE_RETCODE_INVALID_PRICE:      return("invalid price");
      case TRADE_RETCODE_INVALID_STOPS:      return("invalid stops");
      case TRADE_RETCODE_TRADE_DISABLED:     return("trading is disabled");
      case TRADE_RETCODE_MARKET_CLOSED:      return("market is closed");
      case TRADE_RETCODE_NO_MONEY:           return("not enough money");
      case TRADE_RETCODE_PRICE_CHANGED:      return("price has changed");
      case TRADE_RETCODE_PRICE_OFF:          return("no quotes");
      case TRADE_RETCODE_INVALID_EXPIRATION: return("invalid expiration");
      case TRADE_RETCODE_TOO_MANY_REQUESTS:  return("too many requests");
      case TRADE_RETCODE_NO_CHANGES:         return("no changes");
      case TRADE_RETCODE_SERVER_DISABLES_AT: return("algo trading is disabled by the server");
      case TRADE_RETCODE_CLIENT_DISABLES_AT: return("algo trading is disabled in the terminal");
      case TRADE_RETCODE_FROZEN:             return("order or position is frozen");
      case TRADE_RETCODE_INVALID_FILL:       return("unsupported filling mode");
      case TRADE_RETCODE_CONNECTION:         return("no connection to the trade server");
      case TRADE_RETCODE_LIMIT_ORDERS:       return("limit of pending orders reached");
      case TRADE_RETCODE_LIMIT_VOLUME:       return("limit of volume for the symbol reached");
      case TRADE_RETCODE_POSITION_CLOSED:    return("position is closed already");
      case TRADE_RETCODE_CLOSE_ONLY:         return("positions can only be closed");
     }
   return("return code " + IntegerToString((long)retcode));
  }

#endif
