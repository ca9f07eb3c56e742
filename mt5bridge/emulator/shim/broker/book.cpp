// Applies changes to a book; the same for the running server, its log and the terminal's view.
#include "book.hpp"

#include <algorithm>

namespace mql::broker {

namespace {

template <class Record>
const Record* look_up(const std::map<u64, Record>& records, u64 key) {
  const auto found = records.find(key);
  return found == records.end() ? nullptr : &found->second;
}

}  // namespace

void Book::apply(const Change& change) {
  std::visit([this](const auto& record) { take(record); }, change);
}

void Book::take(const Order& order) {
  m_last_order = std::max(m_last_order, order.ticket);
  if (order.place == Place::working) {
    orders[order.ticket] = order;
    return;
  }
  orders.erase(order.ticket);
  past_orders[order.ticket] = order;
}

void Book::take(const Deal& deal) {
  m_last_deal = std::max(m_last_deal, deal.ticket);
  if (deal.kind == Kind::remove)
    deals.erase(deal.ticket);
  else
    deals[deal.ticket] = deal;
}

void Book::take(const Position& position) {
  if (position.volume > 0)
    positions[position.ticket] = position;
  else
    positions.erase(position.ticket);
}

void Book::take(const Money& other) { money = other; }

void Book::take(const Request& request) {
  m_last_request = std::max(m_last_request, request.serial);
  if (request.outcome == Outcome::sent)
    requests[request.serial] = request;
  else
    requests.erase(request.serial);
}

const Order *Book::order(u64 ticket) const { return look_up(orders, ticket); }

const Order *Book::past_order(u64 ticket) const { return look_up(past_orders, ticket); }

const Deal *Book::deal(u64 ticket) const { return look_up(deals, ticket); }

const Position *Book::position(u64 ticket) const { return look_up(positions, ticket); }

const Position *Book::position_of(const std::string& symbol) const {
  const auto found = std::find_if(positions.begin(), positions.end(), [&](const auto& entry) {
    return entry.second.symbol == symbol;
  });
  return found == positions.end() ? nullptr : &found->second;
}

}  // namespace mql::broker
