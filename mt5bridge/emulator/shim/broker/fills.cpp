// Working orders become deals, in one part or several.
#include "broker.hpp"

#include "sides.hpp"

#include <algorithm>
#include <limits>

namespace mql::broker {

// Adds a new working order to `batch`; returns its ticket.
u64 Broker::new_order(Batch& batch, Order order) {
  order.ticket = m_book.next_order();
  order.time_setup_msc = m_around.server_msc();
  order.volume_current = order.volume_initial;
  order.comment = m_settings.comment_of(order.comment);
  order.parts = static_cast<u16>(std::max<i64>(1, whole(random(), m_settings.fills)));
  if (m_settings.liquidity < 1 && order.filling == ORDER_FILLING_RETURN)
    order.parts = std::max<u16>(2, order.parts);
  order.state = order.triggered ? ORDER_STATE_STARTED : ORDER_STATE_PLACED;
  batch.push_back(order);
  return order.ticket;
}

// Fills what can be filled now and plans the rest.
void Broker::work_order(u64 ticket) {
  while (fill_part(ticket))
    if (m_settings.fill_delay_ms.most > 0 || waits_for_ticks(*m_book.order(ticket))) {
      next_part_later(ticket);
      return;
    }
}

// What the market could not take at once of an order that stays waits for the next tick at least.
bool Broker::waits_for_ticks(const Order& order) const {
  const bool stays = m_settings.liquidity < 1 && order.filling == ORDER_FILLING_RETURN;
  return m_settings.fill_ticks.most > 0 || (stays && m_settings.fill_delay_ms.most <= 0);
}

void Broker::next_part_later(u64 ticket) {
  const Order* order = m_book.order(ticket);
  const auto task = [this, ticket] { work_order(ticket); };
  if (order == nullptr)
    return;
  if (waits_for_ticks(*order))
    m_plan.after_ticks(order->symbol, whole(random(), m_settings.fill_ticks), task);
  else
    m_plan.at(m_around.steady_ms() + whole(random(), m_settings.fill_delay_ms), task);
}

// The lots of the next part: equal shares in whole steps, all the rest at last. The first part of
// an order that the market cannot take at once (`liquidity`) is what it takes.
double Broker::part_lots(const Order& order) {
  const double at_once = steps(order.symbol, order.volume_initial * m_settings.liquidity);
  double wanted = order.volume_current;
  if (order.filling == ORDER_FILLING_IOC)
    wanted = std::max(0.0, at_once - tidy(order.volume_initial - order.volume_current));
  if (order.filling == ORDER_FILLING_RETURN && m_settings.liquidity < 1 && order.parts_done == 0)
    return at_once;
  const int parts_left = order.parts - order.parts_done;
  if (parts_left <= 1)
    return wanted;
  const double lots = steps(order.symbol, wanted / parts_left);
  return lots > 0 ? lots : wanted;
}

// What is left of the lots that the newest tick offers to buyers, or to sellers, in whole steps.
double Broker::offered_lots(const std::string& symbol, i32 order_type) {
  if (m_settings.depth_lots <= 0)
    return std::numeric_limits<double>::infinity();
  const double taken = m_taken[symbol][buys(order_type)];
  return steps(symbol, std::max(0.0, tidy(m_settings.depth_lots - taken)));
}

double Broker::fill_price(const Order& order) {
  const Quote quote = quote_of(order.symbol);
  const SymbolFacts* known = facts(order.symbol);
  const bool buy = buys(order.type);
  const double market = buy ? quote.ask : quote.bid;
  if (is_limit(order.type))
    return buy ? std::min(market, order.price_open) : std::max(market, order.price_open);
  if (order.reason == ORDER_REASON_TP)
    return order.price_open;
  const i64 slippage = whole(random(), m_settings.slippage_points);
  const double slipped = static_cast<double>(slippage) * (known != nullptr ? known->point : 0);
  return buy ? market + slipped : market - slipped;
}

// Makes one deal of an order; whether the order goes on after it.
bool Broker::fill_part(u64 ticket) {
  const Order* working = m_book.order(ticket);
  if (working == nullptr)
    return false;
  Order order = *working;
  Batch batch;
  const double wanted = part_lots(order), offered = offered_lots(order.symbol, order.type);
  const bool starved = wanted > offered + 1e-9;
  const bool dies = starved && order.filling == ORDER_FILLING_FOK;
  const double lots = dies ? 0 : starved ? offered : wanted;
  const double filled = lots > 0 ? book_fill(batch, order, lots, fill_price(order)) : 0;
  m_taken[order.symbol][buys(order.type)] += filled;
  order.volume_current = tidy(order.volume_current - filled);
  const bool rests = starved && filled >= lots && order.filling == ORDER_FILLING_RETURN;
  if (rests) {  // until a tick offers more
    order.state = order.volume_current < order.volume_initial ? ORDER_STATE_PARTIAL : order.state;
    batch.push_back(order);
    commit(batch, filled > 0 ? "deal_made" : "order_accepted");
    return false;
  }
  ++order.parts_done;
  const bool nothing_more = starved || filled < lots || order.parts_done >= order.parts;
  if (order.volume_current <= 0) {
    end_order(batch, order, ORDER_STATE_FILLED);
  } else if (nothing_more || (filled <= 0 && order.filling != ORDER_FILLING_RETURN)) {
    end_order(batch, order, ORDER_STATE_CANCELED);
  } else {
    order.state = order.volume_current < order.volume_initial ? ORDER_STATE_PARTIAL : order.state;
    batch.push_back(order);
  }
  commit(batch, filled > 0 ? "deal_made" : "order_ended");
  return m_book.order(ticket) != nullptr;
}

void Broker::end_order(Batch& batch, Order order, i32 state) {
  order.state = state;
  order.place = Place::history;
  order.time_done_msc = m_around.server_msc();
  batch.push_back(order);
}

}  // namespace mql::broker
