// What the prices and times of a request must fulfil.
#include "broker.hpp"

#include "sides.hpp"

#include <algorithm>

namespace mql::broker {

namespace {

bool on_grid(double price, double tick_size) {
  const double count = price / tick_size;
  return tick_size <= 0 || std::abs(count - std::round(count)) < 1e-4;
}

bool same(double left, double right) { return std::abs(left - right) < 1e-9; }

// Whether what is so far from being carried out is within the freeze level; a level of 0 is none.
bool near(double distance, const SymbolFacts& known) {
  return known.freeze_level > 0 && distance <= known.freeze_level * known.point + 1e-9;
}

}  // namespace

u32 Broker::check_price(const Request& request, const SymbolFacts& known, std::string& why) {
  const Quote quote = quote_of(request.symbol);
  const i32 side = side_of(request.type);
  const double market = side == POSITION_TYPE_BUY ? quote.ask : quote.bid;
  if (request.action == TRADE_ACTION_DEAL) {
    const double off = std::abs(request.price - market);
    const bool instant = known.execution <= 1;
    if (instant && off > static_cast<double>(request.deviation) * known.point + known.point / 2)
      return request.price > 0 ? TRADE_RETCODE_REQUOTE : TRADE_RETCODE_INVALID_PRICE;
    return check_stops(side, side == POSITION_TYPE_BUY ? quote.bid : quote.ask, request.sl,
                       request.tp, known, why);
  }
  const bool limit = is_limit(request.type);
  const bool below = limit == (side == POSITION_TYPE_BUY);
  const double distance = below ? market - request.price : request.price - market;
  const bool takes_at_once = limit && known.execution == 3;
  if (takes_at_once && distance <= 0 && request.filling == ORDER_FILLING_BOC)
    return TRADE_RETCODE_REJECT;
  const double least = std::max(known.stops_level * known.point, 1e-12) - known.point / 2;
  if (request.price <= 0 || !std::isfinite(request.price) ||
      !on_grid(request.price, known.tick_size) || (!takes_at_once && distance < least)) {
    why = "Invalid price";
    return TRADE_RETCODE_INVALID_PRICE;
  }
  if (!is_stop_limit(request.type))
    return check_stops(side, request.price, request.sl, request.tp, known, why);
  const double back = (request.price - request.stoplimit) * (side == POSITION_TYPE_BUY ? 1 : -1);
  const double least_back = std::max(known.stops_level * known.point, known.point);
  if (!(request.stoplimit > 0) || !std::isfinite(request.stoplimit) ||
      back < least_back - known.point / 2 || !on_grid(request.stoplimit, known.tick_size)) {
    why = "Invalid stop limit price";
    return TRADE_RETCODE_INVALID_PRICE;
  }
  return check_stops(side, request.stoplimit, request.sl, request.tp, known, why);
}

// A buy's stop is below and its target above `from`, by the stops level at least.
u32 Broker::check_stops(i32 side, double from, double sl, double tp, const SymbolFacts& known,
                        std::string& why) {
  const double least = known.stops_level * known.point - known.point / 2;
  const double sign = side == POSITION_TYPE_BUY ? 1 : -1;
  const bool stop_wrong =
      sl != 0 && (!((from - sl) * sign > 0 && (from - sl) * sign >= least) ||
                  !on_grid(sl, known.tick_size));
  const bool target_wrong =
      tp != 0 && (!((tp - from) * sign > 0 && (tp - from) * sign >= least) ||
                  !on_grid(tp, known.tick_size));
  if (!stop_wrong && !target_wrong)
    return 0;
  why = "Invalid stops";
  return TRADE_RETCODE_INVALID_STOPS;
}

// Whether the market is so near to the position's stop or target that nothing of it may be changed,
// nor may it be closed by an order.
bool Broker::frozen(const Position& position) {
  const SymbolFacts* known = facts(position.symbol);
  const double price = price_now(position);
  const double sign = position.type == POSITION_TYPE_BUY ? 1 : -1;
  return known != nullptr && ((position.sl != 0 && near((price - position.sl) * sign, *known)) ||
                              (position.tp != 0 && near((position.tp - price) * sign, *known)));
}

// Whether the market is so near to a pending order's price that it may not be changed or taken back.
bool Broker::frozen(const Order& order) {
  const SymbolFacts* known = facts(order.symbol);
  const Quote quote = quote_of(order.symbol);
  const bool below = is_limit(order.type) == buys(order.type);
  const double market = buys(order.type) ? quote.ask : quote.bid;
  return known != nullptr && !order.triggered && market > 0 &&
         near(below ? market - order.price_open : order.price_open - market, *known);
}

u32 Broker::check_expiration(const Request& request, const SymbolFacts& known, std::string& why) {
  if (request.action == TRADE_ACTION_DEAL)
    return 0;
  const bool has_time = request.time_type == ORDER_TIME_SPECIFIED ||
                        request.time_type == ORDER_TIME_SPECIFIED_DAY;
  const bool known_type = request.time_type >= 0 && request.time_type <= ORDER_TIME_SPECIFIED_DAY;
  if (known_type && (known.expiration_modes >> request.time_type & 1) != 0 &&
      (!has_time || request.expiration_s * 1000 > m_around.server_msc()))
    return 0;
  why = "Invalid expiration";
  return TRADE_RETCODE_INVALID_EXPIRATION;
}

u32 Broker::check_stops_change(const Request& request, std::string& why) {
  const Position* position = hedging() || request.position != 0
                                 ? m_book.position(request.position)
                                 : m_book.position_of(request.symbol);
  if (position == nullptr)
    return TRADE_RETCODE_POSITION_CLOSED;
  if (same(position->sl, request.sl) && same(position->tp, request.tp))
    return TRADE_RETCODE_NO_CHANGES;
  if (m_settings.is_closed(position->symbol))
    return TRADE_RETCODE_MARKET_CLOSED;
  const SymbolFacts* known = facts(position->symbol);
  if (known == nullptr)
    return TRADE_RETCODE_INVALID;
  if (frozen(*position))
    return TRADE_RETCODE_FROZEN;
  return check_stops(position->type, price_now(*position), request.sl, request.tp, *known, why);
}

u32 Broker::check_modify(const Request& request, std::string& why) {
  const Order* order = m_book.order(request.order);
  if (order == nullptr || order->triggered)
    return TRADE_RETCODE_INVALID_ORDER;
  if (same(order->price_open, request.price) &&
      same(order->price_stoplimit, request.stoplimit) && same(order->sl, request.sl) &&
      same(order->tp, request.tp) && order->time_type == request.time_type &&
      order->expiration_s == request.expiration_s)
    return TRADE_RETCODE_NO_CHANGES;
  const SymbolFacts* known = facts(order->symbol);
  if (known == nullptr || m_settings.is_closed(order->symbol))
    return known == nullptr ? TRADE_RETCODE_INVALID : TRADE_RETCODE_MARKET_CLOSED;
  if (frozen(*order))
    return TRADE_RETCODE_FROZEN;
  Request changed = request;
  changed.symbol = order->symbol;
  changed.type = order->type;
  changed.filling = order->filling;
  const u32 refusal = check_price(changed, *known, why);
  return refusal != 0 ? refusal : check_expiration(changed, *known, why);
}

}  // namespace mql::broker
