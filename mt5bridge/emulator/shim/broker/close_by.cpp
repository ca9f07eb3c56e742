// Two opposite positions of a hedging account close each other.
#include "broker.hpp"

#include "sides.hpp"

#include <algorithm>

namespace mql::broker {

namespace {

Position reduced(Position position, double lots, i64 time_msc) {
  position.volume = tidy(position.volume - lots);
  position.time_update_msc = time_msc;
  return position;
}

Deal leg(const Order& order, const Position& position, double lots, double price) {
  Deal deal;
  deal.order = order.ticket;
  deal.time_msc = order.time_setup_msc;
  deal.magic = order.magic;
  deal.position_id = position.identifier;
  deal.volume = lots;
  deal.price = price;
  deal.type = position.type == POSITION_TYPE_BUY ? DEAL_TYPE_SELL : DEAL_TYPE_BUY;
  deal.entry = DEAL_ENTRY_OUT_BY;
  deal.reason = static_cast<u32>(order.reason);
  deal.symbol = order.symbol;
  deal.comment = order.comment;
  return deal;
}

}  // namespace

// The first position is closed at the other's opening price and bears the profit of both; the
// other is closed at its own opening price.
Answer Broker::close_by(const Request& request) {
  const Position position = *m_book.position(request.position);
  const Position other = *m_book.position(request.position_by);
  const double lots = std::min(position.volume, other.volume);
  Order order;
  order.ticket = m_book.next_order();
  order.type = ORDER_TYPE_CLOSE_BY;
  order.reason = ORDER_REASON_EXPERT;
  order.magic = request.magic;
  order.position_id = position.identifier;
  order.position_by = other.identifier;
  order.volume_initial = lots;
  order.price_open = other.price_open;
  order.symbol = position.symbol;
  order.comment = m_settings.comment_of(request.comment);
  order.time_setup_msc = m_around.server_msc();
  Deal first = leg(order, position, lots, other.price_open);
  first.ticket = m_book.next_deal();
  first.profit = profit_between(position.symbol, position.type, lots, position.price_open,
                                other.price_open);
  Deal second = leg(order, other, lots, other.price_open);
  second.ticket = first.ticket + 1;
  Batch batch{order, first, second, reduced(position, lots, first.time_msc),
              reduced(other, lots, first.time_msc)};
  add_money(batch, first.profit);
  end_order(batch, order, ORDER_STATE_FILLED);
  return accept(request, batch,
                {.retcode = TRADE_RETCODE_DONE,
                 .deal = first.ticket,
                 .order = order.ticket,
                 .volume = lots,
                 .price = first.price,
                 .comment = ""},
                "deal_made");
}

}  // namespace mql::broker
