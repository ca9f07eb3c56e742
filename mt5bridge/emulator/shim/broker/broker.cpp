// The server's life: opening its log, committing batches, going on after a crash, polling.
#include "broker.hpp"

#include "enums.hpp"

#include <algorithm>

namespace mql::broker {

namespace {

constexpr i64 kWithoutConnectionMs = 10;  // how often a cut-off terminal is looked at again

bool has_deal(const Batch& batch) {
  return std::any_of(batch.begin(), batch.end(),
                     [](const Change& change) { return std::holds_alternative<Deal>(change); });
}

}  // namespace

// Chance differs from run to run, but not between two runs after the same history.
Broker::Broker(Surroundings& around, AccountSettings account, u64 seed,
               const std::string& log_path)
    : m_around(around), m_account(std::move(account)),
      m_log(log_path,
            [this](i64, const Batch& batch) {
              ++m_batches;
              for (const Change& change : batch)
                m_book.apply(change);
            }),
      m_random(seed * 0x9E3779B97F4A7C15u + m_batches),
      m_deliveries(around, m_settings, m_random) {
  if (m_batches == 0)
    commit({Money{m_account.balance, 0}}, "account_opened");
  m_deliveries.view = m_book;
}

// Nothing while the terminal does not know whose it is.
const Book& Broker::view() const {
  static const Book none;
  return logged_in() ? m_deliveries.view : none;
}

// Writes a batch down, applies it, and sends it on its way to the terminal.
void Broker::commit(const Batch& batch, const char* effect) {
  m_log.append(m_around.server_msc(), batch);
  const bool deals = has_deal(batch);
  std::vector<std::pair<const Change*, std::vector<Transaction>>> told;
  for (const Change& change : batch) {
    told.emplace_back(&change, transactions_of(change, m_book, deals));
    m_book.apply(change);
  }
  m_around.effect(effect);
  for (auto& [change, transactions] : told)
    m_deliveries.send(*change, std::move(transactions));
  revise_later(batch);
}

// Once the server has a time.
void Broker::start() {
  m_started = m_around.server_msc() > 0;
  if (!m_started)
    return;
  open_account();
  resume_requests();
  resume_orders();
}

// A new account begins with a deposit.
void Broker::open_account() {
  if (m_book.next_deal() > Book().next_deal() || m_account.balance <= 0)
    return;
  Deal deposit;
  deposit.ticket = m_book.next_deal();
  deposit.time_msc = m_around.server_msc();
  deposit.type = DEAL_TYPE_BALANCE;
  deposit.profit = m_account.balance;
  deposit.comment = "Initial deposit";
  commit({deposit}, "deal_made");
}

// Requests that were on their way when the terminal died: some had left, some had not.
void Broker::resume_requests() {
  const std::map<u64, Request> on_their_way = m_book.requests;
  for (const auto& [serial, request] : on_their_way) {
    if (happens(random(), m_settings.in_flight)) {
      const i64 due = m_around.steady_ms() + whole(random(), m_settings.in_flight_delay_ms);
      m_plan.at(due, [this, request = request] { arrive_at_server(request, false); });
    } else {
      Request lost = request;
      lost.outcome = Outcome::lost;
      commit({lost}, "request_lost");
    }
  }
}

// Orders that were being filled go on being filled.
void Broker::resume_orders() {
  for (const auto& [ticket, order] : m_book.orders)
    if (order.triggered)
      next_part_later(ticket);
}

void Broker::revise_later(const Batch& batch) {
  static constexpr double Deal::*kFields[] = {&Deal::commission, &Deal::swap, &Deal::fee};
  for (const Change& change : batch) {
    const Deal* deal = std::get_if<Deal>(&change);
    if (deal == nullptr || deal->kind != Kind::add || !happens(random(), m_settings.revisions))
      continue;
    double Deal::*const field = kFields[whole(random(), {0, 2})];
    const double value = -static_cast<double>(whole(random(), {1, 500})) / 100;
    const i64 due = m_around.steady_ms() + whole(random(), m_settings.revision_delay_ms);
    m_plan.at(due, [this, ticket = deal->ticket, field, value] {
      if (const Deal* known = m_book.deal(ticket))
        revise(*known, field, value);
    });
  }
}

void Broker::pump() {
  if (!m_started)
    start();
  const i64 now_ms = m_around.steady_ms();
  m_plan.run(now_ms);
  m_deliveries.arrive(now_ms);
}

i64 Broker::due_in_ms() const {
  const bool nothing = m_plan.next_ms() == INT64_MAX && m_deliveries.empty();
  if (nothing)
    return -1;
  const i64 now_ms = m_around.steady_ms();
  const i64 delivery_ms =
      m_around.connected() ? m_deliveries.next_ms() : now_ms + kWithoutConnectionMs;
  const i64 next_ms = m_deliveries.empty() ? m_plan.next_ms()
                                           : std::min(m_plan.next_ms(), delivery_ms);
  return std::max<i64>(0, next_ms - now_ms);
}

bool Broker::quiet() const {
  return m_plan.empty() && m_deliveries.empty() && m_book.requests.empty();
}

Quote Broker::quote_of(const std::string& symbol) {
  Quote quote;
  m_around.quote(symbol, quote);
  return quote;
}

}  // namespace mql::broker
