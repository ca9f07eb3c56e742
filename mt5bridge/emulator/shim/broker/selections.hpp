// What each program has selected: a position, an order, a piece of history.
#pragma once

#include "records.hpp"

#include <optional>

namespace mql::broker {

// Tickets of history in the order of their time, as indexes count them, and sorted for look-up.
class Tickets {
public:
  void assign(std::vector<std::pair<i64, u64>> timed);  // (time_msc, ticket), any order
  bool contains(u64 ticket) const;
  int total() const { return static_cast<int>(m_by_time.size()); }
  u64 at(int index) const;  // 0: no such index

private:
  std::vector<u64> m_by_time, m_sorted;
};

// A position or order is copied when it is selected, as the documentation says.
struct Selection {
  std::optional<Position> position;
  std::optional<Order> order;
  Tickets deals, past_orders;
};

// The running program's.
Selection& selection();

}  // namespace mql::broker
