// What ticks set off: pending orders, stops and targets, expiry, stop-out, and trades by hand.
#include "broker.hpp"

#include "enums.hpp"
#include "sides.hpp"

#include <vector>

namespace mql::broker {

namespace {

constexpr i64 kDayMs = 86'400'000;

bool reached(const Order& order, const Quote& quote) {
  if (order.triggered && !is_limit(order.type))
    return true;  // it is at the market, and has only not been filled whole
  switch (order.type) {
    case ORDER_TYPE_BUY_LIMIT: return quote.ask <= order.price_open;
    case ORDER_TYPE_SELL_LIMIT: return quote.bid >= order.price_open;
    case ORDER_TYPE_BUY_STOP_LIMIT:
    case ORDER_TYPE_BUY_STOP: return quote.ask >= order.price_open;
    case ORDER_TYPE_SELL_STOP_LIMIT:
    case ORDER_TYPE_SELL_STOP: return quote.bid <= order.price_open;
    default: return false;
  }
}

bool stopped(const Position& position, const Quote& quote) {
  return position.sl > 0 && (position.type == POSITION_TYPE_BUY ? quote.bid <= position.sl
                                                                 : quote.ask >= position.sl);
}

bool on_target(const Position& position, const Quote& quote) {
  return position.tp > 0 && (position.type == POSITION_TYPE_BUY ? quote.bid >= position.tp
                                                                 : quote.ask <= position.tp);
}

bool expired(const Order& order, i64 now_msc) {
  switch (order.time_type) {
    case ORDER_TIME_DAY: return now_msc / kDayMs > order.time_setup_msc / kDayMs;
    case ORDER_TIME_SPECIFIED: return now_msc >= order.expiration_s * 1000;
    case ORDER_TIME_SPECIFIED_DAY: return now_msc / kDayMs > order.expiration_s * 1000 / kDayMs;
    default: return false;
  }
}

// The positions that `which` holds for, copied, since working on them changes the book.
template <class Which> std::vector<Position> positions_that(const Book& book, Which which) {
  std::vector<Position> found;
  for (const auto& [ticket, position] : book.positions)
    if (which(position))
      found.push_back(position);
  return found;
}

// Those whose fills have begun only if they wait for more to be offered.
template <class Which>
std::vector<Order> orders_that(const Book& book, bool resting, Which which) {
  std::vector<Order> found;
  for (const auto& [ticket, order] : book.orders)
    if ((!order.triggered || (resting && order.filling == ORDER_FILLING_RETURN)) && which(order))
      found.push_back(order);
  return found;
}

}  // namespace

void Broker::on_tick(const std::string& symbol, const Quote& quote) {
  if (!m_started)
    start();
  m_taken.erase(symbol);
  if (m_plan.waits_for_ticks())
    m_plan.tick(symbol);
  if (!m_book.orders.empty()) {
    expire_orders(quote.time_msc);
    trigger_orders(symbol, quote);
  }
  if (!m_book.positions.empty()) {
    trigger_stops(symbol, quote);
    if (m_settings.stop_out > 0)
      stop_out();
  }
  if (m_settings.activity_ticks > 0)
    trade_by_hand(symbol, quote);
}

void Broker::expire_orders(i64 now_msc) {
  for (const Order& order :
       orders_that(m_book, m_settings.depth_lots > 0,
                   [&](const Order& each) { return expired(each, now_msc); })) {
    Batch batch;
    end_order(batch, order, ORDER_STATE_EXPIRED);
    commit(batch, "order_ended");
  }
}

void Broker::trigger_orders(const std::string& symbol, const Quote& quote) {
  if (quote.bid <= 0 || quote.ask <= 0 || m_settings.is_closed(symbol))
    return;
  for (Order& order : orders_that(m_book, m_settings.depth_lots > 0, [&](const Order& each) {
         return each.symbol == symbol && reached(each, quote);
       })) {
    if (is_stop_limit(order.type)) {  // its limit is looked at from the next tick on
      order.type = buys(order.type) ? ORDER_TYPE_BUY_LIMIT : ORDER_TYPE_SELL_LIMIT;
      order.price_open = order.price_stoplimit;
      commit({order}, "order_accepted");
      continue;
    }
    order.triggered = true;
    commit({order}, "order_accepted");
    work_order(order.ticket);
  }
}

void Broker::trigger_stops(const std::string& symbol, const Quote& quote) {
  if (quote.bid <= 0 || quote.ask <= 0 || m_settings.is_closed(symbol))
    return;
  for (const Position& position : positions_that(m_book, [&](const Position& each) {
         return each.symbol == symbol && (stopped(each, quote) || on_target(each, quote));
       })) {
    const bool stop = stopped(position, quote);
    char comment[32];
    std::snprintf(comment, sizeof comment, "[%s %.5f]", stop ? "sl" : "tp",
                  stop ? position.sl : position.tp);
    close_position(position, stop ? ORDER_REASON_SL : ORDER_REASON_TP, comment);
  }
}

// The position with the greatest loss goes first, until the margin level is above the limit.
void Broker::stop_out() {
  while (!m_book.positions.empty()) {
    const double blocked = margin(m_book);
    if (blocked <= 0 || equity(m_book) / blocked * 100 >= m_settings.stop_out)
      return;
    const std::vector<Position> closable = positions_that(m_book, [&](const Position& each) {
      const bool is_long = each.type == POSITION_TYPE_BUY;
      return offered_lots(each.symbol, is_long ? ORDER_TYPE_SELL : ORDER_TYPE_BUY) > 0;
    });
    if (closable.empty())
      return;  // until more is offered
    Position worst = closable.front();
    for (const Position& position : closable)
      if (floating(position) < floating(worst))
        worst = position;
    close_position(worst, ORDER_REASON_SO, "so");
  }
}

// The server closes a position as far as lots are offered; a target is met at its own price.
void Broker::close_position(const Position& position, i32 reason, const std::string& comment) {
  Order order;
  order.ticket = m_book.next_order();
  order.type = position.type == POSITION_TYPE_BUY ? ORDER_TYPE_SELL : ORDER_TYPE_BUY;
  order.volume_initial = order.volume_current = position.volume;
  order.price_open = reason == ORDER_REASON_TP ? position.tp : position.sl;
  order.reason = reason;
  order.magic = position.magic;
  order.position_id = hedging() ? position.ticket : 0;
  // What nobody takes now stays open, and its level with it.
  order.filling = m_settings.depth_lots > 0 ? ORDER_FILLING_IOC : ORDER_FILLING_FOK;
  order.symbol = position.symbol;
  order.comment = comment;
  order.time_setup_msc = m_around.server_msc();
  order.state = ORDER_STATE_STARTED;
  order.triggered = true;
  commit({order}, "order_accepted");
  work_order(order.ticket);
}

// Somebody trades on a phone: one side, then the other.
void Broker::trade_by_hand(const std::string& symbol, const Quote& quote) {
  if (quote.bid <= 0 || quote.ask <= 0 ||
      static_cast<double>(++m_ticks_to_activity[symbol]) < m_settings.activity_ticks)
    return;
  m_ticks_to_activity[symbol] = 0;
  const Position* open = m_book.position_of(symbol);
  const bool sells = open != nullptr && open->type == POSITION_TYPE_BUY;
  manual_order(sells ? ORDER_TYPE_SELL : ORDER_TYPE_BUY, symbol, m_settings.activity_lots, 0, "",
               ORDER_REASON_MOBILE);
}

}  // namespace mql::broker
