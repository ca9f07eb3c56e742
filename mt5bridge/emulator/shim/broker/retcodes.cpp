// The words a terminal has for the trade server's return codes.
#include "retcodes.hpp"

#include "enums.hpp"

#include <map>

namespace mql::broker {

std::string text_of_retcode(u32 retcode) {
  static const std::map<u32, const char*> texts = {
      {TRADE_RETCODE_REQUOTE, "Requote"},
      {TRADE_RETCODE_REJECT, "Request rejected"},
      {TRADE_RETCODE_CANCEL, "Request canceled"},
      {TRADE_RETCODE_PLACED, "Order placed"},
      {TRADE_RETCODE_DONE, "Request executed"},
      {TRADE_RETCODE_DONE_PARTIAL, "Request executed partially"},
      {TRADE_RETCODE_ERROR, "Common error"},
      {TRADE_RETCODE_TIMEOUT, "Timeout"},
      {TRADE_RETCODE_INVALID, "Invalid request"},
      {TRADE_RETCODE_INVALID_VOLUME, "Invalid volume"},
      {TRADE_RETCODE_INVALID_PRICE, "Invalid price"},
      {TRADE_RETCODE_INVALID_STOPS, "Invalid stops"},
      {TRADE_RETCODE_TRADE_DISABLED, "Trade disabled"},
      {TRADE_RETCODE_MARKET_CLOSED, "Market closed"},
      {TRADE_RETCODE_NO_MONEY, "No money"},
      {TRADE_RETCODE_PRICE_CHANGED, "Price changed"},
      {TRADE_RETCODE_PRICE_OFF, "Off quotes"},
      {TRADE_RETCODE_INVALID_EXPIRATION, "Invalid expiration"},
      {TRADE_RETCODE_ORDER_CHANGED, "Order changed"},
      {TRADE_RETCODE_TOO_MANY_REQUESTS, "Too many requests"},
      {TRADE_RETCODE_NO_CHANGES, "No changes"},
      {TRADE_RETCODE_SERVER_DISABLES_AT, "AutoTrading disabled by server"},
      {TRADE_RETCODE_CLIENT_DISABLES_AT, "AutoTrading disabled by client"},
      {TRADE_RETCODE_LOCKED, "Request locked"},
      {TRADE_RETCODE_FROZEN, "Order or position frozen"},
      {TRADE_RETCODE_INVALID_FILL, "Unsupported filling mode"},
      {TRADE_RETCODE_CONNECTION, "No connection"},
      {TRADE_RETCODE_ONLY_REAL, "Only real accounts allowed"},
      {TRADE_RETCODE_LIMIT_ORDERS, "Orders limit reached"},
      {TRADE_RETCODE_LIMIT_VOLUME, "Volume limit reached"},
      {TRADE_RETCODE_INVALID_ORDER, "Invalid order"},
      {TRADE_RETCODE_POSITION_CLOSED, "Position doesn't exist"},
      {TRADE_RETCODE_INVALID_CLOSE_VOLUME, "Invalid close volume"},
      {TRADE_RETCODE_CLOSE_ORDER_EXIST, "Close order already exists"},
      {TRADE_RETCODE_LIMIT_POSITIONS, "Positions limit reached"},
      {TRADE_RETCODE_REJECT_CANCEL, "Order activation rejected"},
      {TRADE_RETCODE_LONG_ONLY, "Long only"},
      {TRADE_RETCODE_SHORT_ONLY, "Short only"},
      {TRADE_RETCODE_CLOSE_ONLY, "Close only"},
      {TRADE_RETCODE_FIFO_CLOSE, "Only FIFO close allowed"},
      {TRADE_RETCODE_HEDGE_PROHIBITED, "Hedging prohibited"},
  };
  const auto found = texts.find(retcode);
  return found == texts.end() ? "Error " + std::to_string(retcode) : found->second;
}

}  // namespace mql::broker
