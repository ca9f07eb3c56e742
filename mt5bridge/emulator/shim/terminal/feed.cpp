// Reads tick files, merges them by time and paces them.
#include "feed.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <numeric>

namespace mql::terminal {
namespace {

constexpr std::int64_t WAITING_STEP_US = 1000;  // steps while a program is held up

std::vector<MqlTick> read_ticks(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file)
    throw host::ScriptError("ticks: cannot read " + path);
  const auto bytes = static_cast<std::size_t>(file.tellg());
  if (bytes % sizeof(MqlTick) != 0)
    throw host::ScriptError("ticks: " + path + " does not hold whole records of 60 bytes");
  std::vector<MqlTick> ticks(bytes / sizeof(MqlTick));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(ticks.data()), static_cast<std::streamsize>(bytes));
  return ticks;
}

}  // namespace

Feed::Feed(const host::Script& script) : m_released(host::data_folder() / "market.position") {
  read_pace(script.merged("pace"));
  read_files(script);
  delay_late_ones(script.merged("ticks_odd"));
  mark_late_ones();
  if (released() > total())
    throw host::ScriptError("ticks: fewer than were released in an earlier run");
}

void Feed::read_pace(const host::Statement& pace) {
  m_step = pace.range("step", {1, 1});
  m_rate = pace.number("rate");
  m_speed = pace.number("speed");
  m_pace = m_rate > 0 ? Pace::rate : m_speed > 0 ? Pace::speed : Pace::steps;
}

void Feed::read_files(const host::Script& script) {
  std::vector<std::int64_t> keys;  // a symbol's own order is kept even where times go back
  std::map<market::Symbol*, std::int64_t> reached;
  for (const auto* statement : script.all("ticks")) {
    auto* symbol = market::find(statement->text("name"));
    if (symbol == nullptr)
      throw host::ScriptError("ticks: no such symbol: " + statement->text("name"));
    for (const auto& tick : read_ticks(statement->text("path"))) {
      auto& newest = reached[symbol];
      newest = std::max<std::int64_t>(newest, tick.time_msc);
      keys.push_back(newest);
      m_arrivals.push_back({symbol, tick, false});
    }
  }
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  std::vector<Arrival> sorted;
  sorted.reserve(order.size());
  for (const auto index : order)
    sorted.push_back(m_arrivals[index]);
  m_arrivals = std::move(sorted);
}

void Feed::delay_late_ones(const host::Statement& odd) {
  const double share = odd.number("late");
  if (share <= 0)
    return;
  const auto by = odd.range("late_by", {1, 50});
  host::Random random(static_cast<std::uint64_t>(host::script().merged("seed").integer("value", 1)));
  std::map<market::Symbol*, std::vector<std::size_t>> places;
  for (std::size_t at = 0; at < m_arrivals.size(); ++at)
    places[m_arrivals[at].symbol].push_back(at);
  for (const auto& symbol : market::symbols()) {
    const auto& own = places[symbol.get()];
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t at = 0; at < own.size(); ++at) {
      const bool late = host::chance(random, share);
      const double delay =
          late ? static_cast<double>(host::between(random, by.first, by.second)) + 0.5 : 0;
      order.emplace_back(static_cast<double>(at) + delay, own[at]);
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Arrival> moved;
    for (const auto& [key, place] : order)
      moved.push_back(m_arrivals[place]);
    for (std::size_t at = 0; at < own.size(); ++at)
      m_arrivals[own[at]] = moved[at];
  }
}

void Feed::mark_late_ones() {
  std::int64_t newest = 0;
  std::map<market::Symbol*, std::int64_t> reached;
  for (auto& arrival : m_arrivals) {
    const std::int64_t time_msc = arrival.tick.time_msc;
    auto& own = reached[arrival.symbol];
    arrival.late = time_msc < own;
    own = std::max(own, time_msc);
    newest = std::max(newest, time_msc);
    m_times.push_back(newest);
  }
}

void Feed::start(std::int64_t now_us) {
  m_start_us = now_us;
  m_last_us = now_us;
  m_start = released();
}

std::int64_t Feed::time_of(std::uint64_t index) const {
  return m_times[index];
}

std::int64_t Feed::due_us(bool waiting) {
  if (finished())
    return NEVER_US;
  switch (m_pace) {
    case Pace::rate:
      return m_start_us +
             static_cast<std::int64_t>(1e6 * static_cast<double>(released() - m_start) / m_rate);
    case Pace::speed: {
      const auto passed = time_of(released()) - time_of(m_start);
      return m_start_us + static_cast<std::int64_t>(1e3 * static_cast<double>(passed) / m_speed);
    }
    default:
      return waiting ? m_last_us + WAITING_STEP_US : m_last_us;
  }
}

std::uint64_t Feed::due_count(std::int64_t now_us) {
  m_last_us = now_us;
  const auto left = total() - released();
  if (m_pace == Pace::steps) {
    const auto drawn = host::between(host::random("feed.step"), m_step.first, m_step.second);
    return std::min(left, static_cast<std::uint64_t>(drawn));
  }
  const auto passed_us = static_cast<double>(now_us - m_start_us);
  if (m_pace == Pace::rate) {
    const auto due = m_start + static_cast<std::uint64_t>(passed_us * m_rate / 1e6) + 1;
    return std::min(left, due - std::min(due, released()));
  }
  const auto until = time_of(m_start) + static_cast<std::int64_t>(passed_us * m_speed / 1e3);
  std::uint64_t count = 0;
  while (count < left && time_of(released() + count) <= until)
    ++count;
  return count;
}

const Arrival& Feed::release() {
  return m_arrivals[m_released.value()++];
}

}  // namespace mql::terminal
