// Keeps the selections by program, and the broker that all functions use.
#include "selections.hpp"

#include "broker.hpp"
#include "language/language.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace mql::broker {

namespace {

Broker* the_broker = nullptr;
std::map<const void*, Selection> selections;

}  // namespace

void install(Broker* broker) { the_broker = broker; }

Broker& installed() {
  if (the_broker == nullptr)
    throw std::logic_error("trade functions need a terminal with a broker");
  return *the_broker;
}

void forget(const void* program) { selections.erase(program); }

Selection& selection() { return selections[&current()]; }

void Tickets::assign(std::vector<std::pair<i64, u64>> timed) {
  std::sort(timed.begin(), timed.end());
  m_by_time.clear();
  for (const auto& [time, ticket] : timed)
    m_by_time.push_back(ticket);
  m_sorted = m_by_time;
  std::sort(m_sorted.begin(), m_sorted.end());
}

bool Tickets::contains(u64 ticket) const {
  return std::binary_search(m_sorted.begin(), m_sorted.end(), ticket);
}

u64 Tickets::at(int index) const {
  return index >= 0 && index < total() ? m_by_time[static_cast<std::size_t>(index)] : 0;
}

}  // namespace mql::broker
