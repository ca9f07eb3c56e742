// A fill's deal, and what it makes of the positions: netting (also exchange) and hedging.
#include "broker.hpp"

#include "sides.hpp"

#include <algorithm>

namespace mql::broker {

namespace {

// A position's own levels stay if the order that adds to it names none.
void take_stops(Position& position, const Order& order) {
  position.sl = order.sl > 0 ? order.sl : position.sl;
  position.tp = order.tp > 0 ? order.tp : position.tp;
}

Position position_from(const Order& order, const Deal& deal) {
  Position position;
  position.ticket = order.ticket;
  position.identifier = order.ticket;
  position.time_msc = deal.time_msc;
  position.magic = order.magic;
  position.type = side_of(order.type);
  position.reason = order.reason;
  position.price_open = deal.price;
  position.symbol = order.symbol;
  position.comment = order.comment;
  return position;
}

}  // namespace

// Adds the deal of a fill and the changed position to `batch`; returns the lots really filled,
// which are fewer if the position to be closed has become smaller.
double Broker::book_fill(Batch& batch, Order& order, double lots, double price) {
  Deal deal;
  deal.ticket = m_book.next_deal();
  deal.order = order.ticket;
  deal.time_msc = m_around.server_msc();
  deal.magic = order.magic;
  deal.price = price;
  deal.sl = order.sl;
  deal.tp = order.tp;
  deal.type = static_cast<u32>(side_of(order.type));
  deal.reason = static_cast<u32>(order.reason);
  deal.symbol = order.symbol;
  deal.comment = order.comment;
  deal.external_id = "X" + std::to_string(deal.ticket);
  const bool closes = hedging() && order.position_id != 0 && order.position_id != order.ticket;
  const Position* target = hedging() ? m_book.position(closes ? order.position_id : order.ticket)
                                     : m_book.position_of(order.symbol);
  if (closes && target == nullptr)
    return 0;
  const bool reduces = target != nullptr && target->type != side_of(order.type);
  deal.volume = closes ? std::min(lots, target->volume) : lots;
  deal.commission = cents(-m_settings.commission * deal.volume);
  if (!reduces)
    open_lots(batch, deal, order, target);
  else if (deal.volume <= target->volume)
    close_lots(batch, deal, *target, deal.volume);
  else
    reverse(batch, deal, order, *target);
  order.position_id = deal.position_id;
  return deal.volume;
}

void Broker::open_lots(Batch& batch, Deal& deal, const Order& order, const Position* into) {
  Position position = into != nullptr ? *into : position_from(order, deal);
  const double volume = tidy(position.volume + deal.volume);
  if (position.volume > 0)  // else the price of the deal, which no division shall change
    position.price_open =
        (position.price_open * position.volume + deal.price * deal.volume) / volume;
  position.volume = volume;
  position.time_update_msc = deal.time_msc;
  take_stops(position, order);
  deal.entry = DEAL_ENTRY_IN;
  deal.position_id = position.identifier;
  batch.insert(batch.end(), {Change(deal), Change(position)});
  add_money(batch, deal.commission);
}

void Broker::close_lots(Batch& batch, Deal& deal, const Position& from, double lots) {
  Position rest = from;
  deal.entry = DEAL_ENTRY_OUT;
  deal.position_id = from.identifier;
  deal.profit = profit_between(from.symbol, from.type, lots, from.price_open, deal.price);
  deal.swap = cents(from.swap * lots / from.volume);
  rest.volume = tidy(from.volume - lots);
  rest.swap = cents(from.swap - deal.swap);
  rest.time_update_msc = deal.time_msc;
  batch.insert(batch.end(), {Change(deal), Change(rest)});
  add_money(batch, deal.profit + deal.swap + deal.commission);
}

// One deal closes the position and opens one on the other side: the identifier stays, the ticket
// becomes that of the order.
void Broker::reverse(Batch& batch, Deal& deal, const Order& order, const Position& from) {
  Position closed = from;
  closed.volume = 0;
  Position opened = position_from(order, deal);
  opened.identifier = from.identifier;
  opened.volume = tidy(deal.volume - from.volume);
  opened.time_update_msc = deal.time_msc;
  take_stops(opened, order);
  deal.entry = DEAL_ENTRY_INOUT;
  deal.position_id = from.identifier;
  deal.profit = profit_between(from.symbol, from.type, from.volume, from.price_open, deal.price);
  deal.swap = from.swap;
  batch.insert(batch.end(), {Change(deal), Change(closed), Change(opened)});
  add_money(batch, deal.profit + deal.swap + deal.commission);
}

void Broker::add_money(Batch& batch, double amount) {
  if (amount == 0)
    return;
  Money money = m_book.money;
  money.balance = cents(money.balance + amount);
  batch.push_back(money);
}

}  // namespace mql::broker
