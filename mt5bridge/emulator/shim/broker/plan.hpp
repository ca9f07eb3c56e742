// What the server has still to do: at a moment of the steady clock, or after ticks of a symbol.
#pragma once

#include "records.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace mql::broker {

class Plan {
public:
  using Task = std::function<void()>;

  void at(i64 steady_ms, Task task) { m_timed.emplace(steady_ms, std::move(task)); }

  void after_ticks(const std::string& symbol, i64 ticks, Task task) {
    m_counted.push_back({symbol, ticks, std::move(task)});
  }

  // Does what is due at `now_ms`, also what becomes due on the way.
  void run(i64 now_ms) {
    while (!m_timed.empty() && m_timed.begin()->first <= now_ms)
      m_timed.extract(m_timed.begin()).mapped()();
  }

  // A tick of `symbol` has come.
  void tick(const std::string& symbol) {
    std::vector<Counted> waiting;
    waiting.swap(m_counted);
    for (Counted& counted : waiting) {
      if (counted.symbol == symbol && --counted.ticks <= 0)
        counted.task();
      else
        m_counted.push_back(std::move(counted));
    }
  }

  i64 next_ms() const { return m_timed.empty() ? INT64_MAX : m_timed.begin()->first; }
  bool empty() const { return m_timed.empty(); }  // but for what waits for ticks
  bool waits_for_ticks() const { return !m_counted.empty(); }

private:
  struct Counted {
    std::string symbol;
    i64 ticks;
    Task task;
  };
  std::multimap<i64, Task> m_timed;  // equal times keep the order they were planned in
  std::vector<Counted> m_counted;
};

}  // namespace mql::broker
