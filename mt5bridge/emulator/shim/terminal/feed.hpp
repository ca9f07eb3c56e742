// The ticks of the session's files, in the order in which they reach the terminal.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "market.hpp"
#include "session.hpp"

namespace mql::terminal {

constexpr std::int64_t NEVER_US = std::numeric_limits<std::int64_t>::max();

struct Arrival {
  market::Symbol* symbol;
  MqlTick tick;
  bool late;  // older than a tick of its symbol that came before
};

// Where the feed stands is kept in the data folder, so that the next start goes on behind it.
// The order is the same for all runs with the same script and files.
class Feed {
public:
  explicit Feed(const host::Script& script);

  std::uint64_t total() const { return m_arrivals.size(); }
  std::uint64_t released() { return m_released.value(); }
  bool finished() { return released() == total(); }

  // Give the pace its starting point: from now on ticks are due.
  void start(std::int64_t now_us);

  // When the next ticks are due. `waiting`: a program is being held up meanwhile.
  std::int64_t due_us(bool waiting);

  // How many ticks are due; at least one whenever `due_us` has come.
  std::uint64_t due_count(std::int64_t now_us);

  // The next tick; its number counts as released before anybody sees it.
  const Arrival& release();

  const Arrival& at(std::uint64_t index) const { return m_arrivals[index]; }

private:
  enum class Pace { steps, rate, speed };
  void read_pace(const host::Statement& pace);
  void read_files(const host::Script& script);
  void delay_late_ones(const host::Statement& odd);
  void mark_late_ones();
  std::int64_t time_of(std::uint64_t index) const;

  std::vector<Arrival> m_arrivals;
  std::vector<std::int64_t> m_times;  // newest time among the ticks up to this one
  host::DurableCounter m_released;
  Pace m_pace = Pace::steps;
  host::Range m_step{1, 1};
  double m_rate = 0, m_speed = 0;
  std::int64_t m_start_us = 0, m_last_us = 0;
  std::uint64_t m_start = 0;
};

}  // namespace mql::terminal
