// What travels from the server to the terminal: changes of its view and trade transactions.
#pragma once

#include "book.hpp"
#include "chance.hpp"
#include "surroundings.hpp"

#include <map>
#include <optional>
#include <vector>

namespace mql::broker {

// One OnTradeTransaction; request and answer are filled for TRADE_TRANSACTION_REQUEST only.
struct Transaction {
  Notice notice;
  Request request;
  Answer answer;
};

// Changes of one object arrive in their order, different objects may overtake each other. The
// transactions of what arrives at the same moment come in random order, some of them twice or
// never. Nothing arrives while the terminal is not connected; what it has missed comes with the
// synchronisation afterwards, which makes no transaction and no OnTrade, as seen in terminals.
class Deliveries {
public:
  Deliveries(Surroundings& around, const Settings& settings, Random& random)
      : m_around(around), m_settings(settings), m_random(random) {}

  void send(const Change& change, std::vector<Transaction> transactions);
  void send(Transaction transaction);
  void arrive(i64 now_ms);

  i64 next_ms() const { return m_under_way.empty() ? INT64_MAX : m_under_way.begin()->first; }
  bool empty() const { return m_under_way.empty(); }

  Book view;  // what the terminal knows

private:
  struct Parcel {
    std::optional<Change> change;
    std::vector<Transaction> transactions;
  };
  void miss(i64 now_ms);
  i64 due_ms();
  void post(std::vector<Transaction> transactions);

  Surroundings& m_around;
  const Settings& m_settings;
  Random& m_random;
  std::multimap<i64, Parcel> m_under_way;
  std::map<std::pair<std::size_t, u64>, i64> m_last_due;  // by kind and ticket
};

// The transactions a change of the server's book makes, given the book before it.
std::vector<Transaction> transactions_of(const Change& change, const Book& before,
                                         bool batch_has_deal);

}  // namespace mql::broker
