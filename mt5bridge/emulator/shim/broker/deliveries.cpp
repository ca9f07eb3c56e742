// Carries changes to the terminal's view and turns them into trade transactions.
#include "deliveries.hpp"

#include "convert.hpp"
#include "enums.hpp"
#include "sides.hpp"

#include <algorithm>

namespace mql::broker {

namespace {

std::pair<std::size_t, u64> object_of(const Change& change) {
  struct {
    u64 operator()(const Order& order) const { return order.ticket; }
    u64 operator()(const Deal& deal) const { return deal.ticket; }
    u64 operator()(const Position& position) const { return position.ticket; }
    u64 operator()(const Money&) const { return 0; }
    u64 operator()(const Request& request) const { return request.serial; }
  } key;
  return {change.index(), std::visit(key, change)};
}

Transaction about(const Order& order, int type) {
  Notice notice;
  notice.type = type;
  notice.order = order.ticket;
  notice.symbol = order.symbol;
  notice.order_type = order.type;
  notice.order_state = order.state;
  notice.time_type = order.time_type;
  notice.expiration_s = order.expiration_s;
  notice.price = order.price_open;
  notice.price_trigger = is_stop_limit(order.type) ? order.price_open : 0;
  notice.sl = order.sl;
  notice.tp = order.tp;
  notice.volume = order.volume_current;
  notice.position = order.position_id;
  notice.position_by = order.position_by;
  return {notice, {}, {}};
}

Transaction about(const Deal& deal) {
  static constexpr int kTypes[] = {TRADE_TRANSACTION_DEAL_ADD, TRADE_TRANSACTION_DEAL_UPDATE,
                                   TRADE_TRANSACTION_DEAL_DELETE};
  Notice notice;
  notice.type = kTypes[static_cast<u32>(deal.kind)];
  notice.deal = deal.ticket;
  notice.order = deal.order;
  notice.symbol = deal.symbol;
  notice.deal_type = static_cast<i32>(deal.type);
  notice.price = deal.price;
  notice.sl = deal.sl;
  notice.tp = deal.tp;
  notice.volume = deal.volume;
  notice.position = deal.position_id;
  return {notice, {}, {}};
}

Transaction about(const Position& position) {
  Notice notice;
  notice.type = TRADE_TRANSACTION_POSITION;
  notice.symbol = position.symbol;
  notice.deal_type = position.type;
  notice.price = position.price_open;
  notice.sl = position.sl;
  notice.tp = position.tp;
  notice.volume = position.volume;
  notice.position = position.ticket;
  return {notice, {}, {}};
}

}  // namespace

std::vector<Transaction> transactions_of(const Change& change, const Book& before,
                                         bool batch_has_deal) {
  std::vector<Transaction> made;
  if (const Order* order = std::get_if<Order>(&change)) {
    const bool known = before.order(order->ticket) != nullptr;
    if (order->place == Place::working) {
      made.push_back(
          about(*order, known ? TRADE_TRANSACTION_ORDER_UPDATE : TRADE_TRANSACTION_ORDER_ADD));
    } else {
      made.push_back(about(*order, TRADE_TRANSACTION_ORDER_DELETE));
      made.push_back(about(*order, TRADE_TRANSACTION_HISTORY_ADD));
    }
  } else if (const Deal* deal = std::get_if<Deal>(&change)) {
    made.push_back(about(*deal));
  } else if (const Position* position = std::get_if<Position>(&change)) {
    if (!batch_has_deal)
      made.push_back(about(*position));
  }
  return made;
}

i64 Deliveries::due_ms() {
  return m_around.steady_ms() + whole(m_random, m_settings.history_delay_ms);
}

void Deliveries::send(const Change& change, std::vector<Transaction> transactions) {
  i64& last = m_last_due[object_of(change)];
  last = std::max(last, due_ms());
  m_under_way.emplace(last, Parcel{change, std::move(transactions)});
}

void Deliveries::send(Transaction transaction) {
  m_under_way.emplace(due_ms(), Parcel{std::nullopt, {std::move(transaction)}});
}

// The terminal is cut off: of what was to arrive by now it will not be told.
void Deliveries::miss(i64 now_ms) {
  const auto end = m_under_way.upper_bound(now_ms);
  for (auto missed = m_under_way.begin(); missed != end; ++missed)
    missed->second.transactions.clear();
}

void Deliveries::arrive(i64 now_ms) {
  if (next_ms() > now_ms)
    return;
  if (!m_around.connected()) {
    miss(now_ms);
    return;
  }
  std::vector<Transaction> arrived;
  while (next_ms() <= now_ms) {
    Parcel parcel = std::move(m_under_way.extract(m_under_way.begin()).mapped());
    if (parcel.change)
      view.apply(*parcel.change);
    for (Transaction& transaction : parcel.transactions)
      arrived.push_back(std::move(transaction));
  }
  if (m_under_way.empty())
    m_last_due.clear();
  post(std::move(arrived));
}

void Deliveries::post(std::vector<Transaction> transactions) {
  if (transactions.empty())
    return;
  if (m_settings.shuffle > 0)
    std::shuffle(transactions.begin(), transactions.end(), m_random);
  for (const Transaction& transaction : transactions) {
    int times = happens(m_random, m_settings.duplicates) ? 2 : 1;
    if (happens(m_random, m_settings.missing))
      times = 0;
    for (int time = 0; time < times; ++time)
      m_around.post_transaction(to_mql(transaction.notice), to_mql(transaction.request),
                                to_mql(transaction.answer));
  }
  m_around.post_trade();
}

}  // namespace mql::broker
