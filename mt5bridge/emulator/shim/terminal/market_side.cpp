// What goes on beside the programs: ticks arrive, timers fire, the broker works.
#include <algorithm>

#include "runtime.hpp"

namespace mql::terminal {

bool Terminal::move_market(bool waiting) {
  const auto now = host::steady_us();
  const auto count = m_feed.due_us(waiting) <= now ? m_feed.due_count(now) : 0;
  if (count == 0) {
    settle(true);
    return false;
  }
  for (std::uint64_t index = 0; index < count; ++index)
    take(m_feed.release());
  settle(false);
  m_active_us = now;
  return true;
}

// A tick is there, on the trade server at least.
void Terminal::take(const Arrival& arrival) {
  host::advance_clock(arrival.tick.time_msc);
  if (!m_connected && m_feed.released() >= m_reconnect_at)
    reconnect();
  if (m_connected)
    show(arrival);
  else
    m_missed.push_back(arrival);
  if (!arrival.late)
    trade_server::on_tick(*arrival.symbol, arrival.tick);
}

void Terminal::show(const Arrival& arrival) {
  market::arrive(*arrival.symbol, arrival.tick);
  if (!arrival.late)
    wake(*arrival.symbol);  // of a correction of history nobody is told
}

void Terminal::wake(market::Symbol& symbol) {
  const auto& name = symbol.facts.name;
  auto& skips = host::random("events.skip");
  auto& books = host::random("events.book");
  const bool book = host::chance(books, m_odd.book);
  for (const auto& attached : m_programs) {
    if (!attached->running)
      continue;
    if (attached->symbol == &symbol && attached->indicator()) {
      attached->queue.post({EventKind::calculate});
    } else if (attached->symbol == &symbol && attached->program->has(ON_TICK)) {
      if (host::chance(skips, m_odd.skip))
        attached->queue.skip(EventKind::tick);
      else
        attached->queue.post({EventKind::tick});
    }
    if (book && attached->books.count(name) != 0 && attached->program->has(ON_BOOK_EVENT)) {
      Event event{EventKind::book};
      event.text = string(name);
      attached->queue.post(std::move(event));
    }
  }
}

// What was missed comes in one batch, and each symbol's programs are told once.
void Terminal::reconnect() {
  m_connected = true;
  host::journal("", "connected to the trade server, " + std::to_string(m_missed.size()) +
                        " ticks were missed");
  for (const auto& arrival : m_missed)
    market::arrive(*arrival.symbol, arrival.tick);
  settle(true);
  for (const auto& symbol : market::symbols())
    wake(*symbol);
  m_missed.clear();
}

// Ticks come into the tick bases; unless all shall, a symbol's may have to wait.
void Terminal::settle(bool all) {
  for (const auto& symbol : market::symbols())
    if (!symbol->hidden.empty() && (all || !host::chance(host::random("ticks.lag"), m_odd.lag)))
      market::settle(*symbol);
}

bool Terminal::fire_timers() {
  bool fired = false;
  const auto now = host::steady_us();
  for (const auto& attached : m_programs) {
    if (!attached->running || attached->timer_period_us == 0 || now < attached->timer_due_us)
      continue;
    attached->timer_due_us = now + attached->timer_period_us;
    if (attached->program->has(ON_TIMER))
      attached->queue.post({EventKind::timer});
    fired = true;
  }
  return fired;
}

// While a program is held up; never within itself.
void Terminal::background() {
  if (m_interlude)
    return;
  const Interlude not_the_programs;
  m_interlude = true;
  move_market(true);
  fire_timers();
  m_broker_due_us = trade_server::poll();
  run_indicators();
  m_interlude = false;
}

void Terminal::yield_point() {
  if (m_interlude || !host::chance(host::random("ticks.burst"), m_odd.burst))
    return;
  const Interlude not_the_programs;
  m_interlude = true;
  move_market(false);
  run_indicators();
  m_interlude = false;
}

std::int64_t Terminal::next_due_us(bool waiting) {
  auto due = std::min(m_feed.due_us(waiting), m_broker_due_us);
  for (const auto& attached : m_programs)
    if (attached->running && attached->timer_period_us != 0)
      due = std::min(due, attached->timer_due_us);
  return due;
}

}  // namespace mql::terminal
