// What a request must fulfil before the server works it: rights, symbol, volume, filling, money.
#include "broker.hpp"

#include "sides.hpp"

#include <algorithm>

namespace mql::broker {

namespace {

enum TradeMode { kDisabled, kLongOnly, kShortOnly, kCloseOnly };
enum Execution { kRequest, kInstant, kMarket, kExchange };
enum FillingBit { kFok = 1, kIoc = 2, kBoc = 4 };

bool is_market(const Request& request) { return request.action == TRADE_ACTION_DEAL; }

// The lots of a symbol on one side, positions and working orders together.
double lots_on_side(const Book& book, const std::string& symbol, bool buy_side) {
  double lots = 0;
  for (const auto& [ticket, position] : book.positions)
    if (position.symbol == symbol && (position.type == POSITION_TYPE_BUY) == buy_side)
      lots += position.volume;
  for (const auto& [ticket, order] : book.orders)
    if (order.symbol == symbol && buys(order.type) == buy_side)
      lots += order.volume_current;
  return lots;
}

}  // namespace

u32 Broker::scripted_refusal() {
  for (Rejection& rejection : m_settings.rejections) {
    if (rejection.times == 0 || !(rejection.share >= 1 || happens(random(), rejection.share)))
      continue;
    if (rejection.times > 0)
      --rejection.times;
    return rejection.retcode;
  }
  return 0;
}

u32 Broker::check(const Request& request, std::string& why) {
  switch (request.action) {
    case TRADE_ACTION_DEAL:
    case TRADE_ACTION_PENDING: return check_open(request, why);
    case TRADE_ACTION_SLTP: return check_stops_change(request, why);
    case TRADE_ACTION_MODIFY: return check_modify(request, why);
    case TRADE_ACTION_REMOVE: return check_remove(request);
    case TRADE_ACTION_CLOSE_BY: return check_close_by(request, why);
    default: why = "unknown action"; return TRADE_RETCODE_INVALID;
  }
}

u32 Broker::check_rate() {
  if (m_settings.requests_per_second <= 0)
    return 0;
  const i64 now = m_around.steady_ms();
  std::erase_if(m_request_times, [now](i64 time) { return time <= now - 1000; });
  if (static_cast<double>(m_request_times.size()) >= m_settings.requests_per_second)
    return TRADE_RETCODE_TOO_MANY_REQUESTS;
  m_request_times.push_back(now);
  return 0;
}

u32 Broker::check_open(const Request& request, std::string& why) {
  const SymbolFacts* known = facts(request.symbol);
  u32 refusal = check_symbol(request, known, why);
  refusal = refusal != 0 ? refusal : check_volume(request, *known, why);
  refusal = refusal != 0 ? refusal : check_filling(request, *known, why);
  refusal = refusal != 0 ? refusal : check_position(request, why);
  refusal = refusal != 0 ? refusal : check_price(request, *known, why);
  refusal = refusal != 0 ? refusal : check_expiration(request, *known, why);
  return refusal != 0 ? refusal : check_money(request, why);
}

u32 Broker::check_symbol(const Request& request, const SymbolFacts* known, std::string& why) {
  if (known == nullptr) {
    why = "unknown symbol";
    return TRADE_RETCODE_INVALID;
  }
  const bool market = is_market(request);
  if (market ? request.type > ORDER_TYPE_SELL : request.type > ORDER_TYPE_SELL_STOP_LIMIT ||
                                                    request.type < ORDER_TYPE_BUY_LIMIT) {
    why = market ? "a deal is a buy or a sell" : "a pending order is a limit, a stop or a stop limit";
    return TRADE_RETCODE_INVALID;
  }
  if (m_settings.account_trade <= 0 || known->trade_mode == kDisabled)
    return TRADE_RETCODE_TRADE_DISABLED;
  const bool closes = market && hedging() && request.position != 0;
  if (known->trade_mode == kLongOnly && !buys(request.type) && !closes)
    return TRADE_RETCODE_LONG_ONLY;
  if (known->trade_mode == kShortOnly && buys(request.type) && !closes)
    return TRADE_RETCODE_SHORT_ONLY;
  const Position* open = m_book.position_of(request.symbol);
  const bool reduces = market && !hedging() && open != nullptr &&
                       (open->type == POSITION_TYPE_BUY) != buys(request.type) &&
                       request.volume <= open->volume + 1e-9;
  if (known->trade_mode == kCloseOnly && !closes && !reduces)
    return TRADE_RETCODE_CLOSE_ONLY;
  if (m_settings.is_closed(request.symbol))
    return TRADE_RETCODE_MARKET_CLOSED;
  const Quote quote = quote_of(request.symbol);
  return quote.bid > 0 && quote.ask > 0 ? 0 : u32{TRADE_RETCODE_PRICE_OFF};
}

u32 Broker::check_volume(const Request& request, const SymbolFacts& known, std::string& why) {
  const double lots = request.volume;
  const double count = lots / known.volume_step;
  const bool whole_steps = std::abs(count - std::round(count)) < 1e-6;
  if (!(lots >= known.volume_min - 1e-9 && lots <= known.volume_max + 1e-9) || !whole_steps) {
    why = "Invalid volume";
    return TRADE_RETCODE_INVALID_VOLUME;
  }
  if (known.volume_limit > 0 && request.position == 0 &&
      lots_on_side(m_book, request.symbol, buys(request.type)) + lots > known.volume_limit + 1e-9)
    return TRADE_RETCODE_LIMIT_VOLUME;
  if (request.action == TRADE_ACTION_PENDING && m_settings.limit_orders > 0 &&
      static_cast<double>(m_book.orders.size()) >= m_settings.limit_orders)
    return TRADE_RETCODE_LIMIT_ORDERS;
  return 0;
}

// Request and instant execution choose the filling themselves; market execution has no RETURN for
// market orders; pending orders may always rest.
u32 Broker::check_filling(const Request& request, const SymbolFacts& known, std::string& why) {
  const bool instant = known.execution == kRequest || known.execution == kInstant;
  bool allowed = false;
  switch (request.filling) {
    case ORDER_FILLING_FOK: allowed = instant || (known.filling_modes & kFok) != 0; break;
    case ORDER_FILLING_IOC: allowed = instant || (known.filling_modes & kIoc) != 0; break;
    case ORDER_FILLING_RETURN: allowed = known.execution != kMarket || !is_market(request); break;
    case ORDER_FILLING_BOC:
      allowed = (known.filling_modes & kBoc) != 0 && !is_market(request) &&
                is_limit(request.type);
      break;
    default: break;
  }
  if (!allowed) {
    why = "Unsupported filling mode";
    return TRADE_RETCODE_INVALID_FILL;
  }
  const bool whole = is_market(request) && request.filling == ORDER_FILLING_FOK;
  if (whole && (m_settings.liquidity < 1 ||
                request.volume > offered_lots(request.symbol, request.type) + 1e-9))
    return TRADE_RETCODE_REJECT;
  return 0;
}

// On hedging accounts a deal may name the position it closes; on netting accounts it takes from
// one of the other side.
u32 Broker::check_position(const Request& request, std::string& why) {
  if (!is_market(request) || (hedging() && request.position == 0))
    return 0;
  if (!hedging()) {
    const Position* open = m_book.position_of(request.symbol);
    const bool takes = open != nullptr && (open->type == POSITION_TYPE_BUY) != buys(request.type);
    return takes && frozen(*open) ? u32{TRADE_RETCODE_FROZEN} : 0;
  }
  const Position* position = m_book.position(request.position);
  if (position == nullptr)
    return TRADE_RETCODE_POSITION_CLOSED;
  if (position->symbol != request.symbol ||
      (position->type == POSITION_TYPE_BUY) == buys(request.type)) {
    why = "the position is of another symbol or of the same side";
    return TRADE_RETCODE_INVALID;
  }
  if (request.volume > position->volume + 1e-9)
    return TRADE_RETCODE_INVALID_CLOSE_VOLUME;
  return frozen(*position) ? u32{TRADE_RETCODE_FROZEN} : 0;
}

u32 Broker::check_money(const Request& request, std::string& why) {
  double lots = request.volume;
  const Position* open = m_book.position_of(request.symbol);
  if (hedging() && request.position != 0)
    return 0;
  if (!hedging() && open != nullptr && (open->type == POSITION_TYPE_BUY) != buys(request.type))
    lots -= std::min(lots, 2 * open->volume);
  const double price = is_market(request) ? quote_of(request.symbol).ask : request.price;
  if (margin_for(request.symbol, lots, price) <= equity(m_book) - margin(m_book))
    return 0;
  why = "No money";
  return TRADE_RETCODE_NO_MONEY;
}

u32 Broker::check_remove(const Request& request) {
  const Order* order = m_book.order(request.order);
  if (order == nullptr)
    return TRADE_RETCODE_INVALID_ORDER;
  if (m_settings.is_closed(order->symbol))
    return TRADE_RETCODE_MARKET_CLOSED;
  return frozen(*order) ? u32{TRADE_RETCODE_FROZEN} : 0;
}

u32 Broker::check_close_by(const Request& request, std::string& why) {
  const Position* position = m_book.position(request.position);
  const Position* other = m_book.position(request.position_by);
  if (position == nullptr || other == nullptr)
    return TRADE_RETCODE_POSITION_CLOSED;
  if (hedging() && position->symbol == other->symbol && position->type != other->type)
    return frozen(*position) || frozen(*other) ? u32{TRADE_RETCODE_FROZEN} : 0;
  why = "needs a hedging account and opposite positions of one symbol";
  return TRADE_RETCODE_INVALID;
}

}  // namespace mql::broker
