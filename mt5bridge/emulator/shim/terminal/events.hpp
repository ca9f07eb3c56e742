// The event queue of one program, with the terminal's rules of what is queued and what is not.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>

#include "api.hpp"
#include "broker/api.hpp"

namespace mql::terminal {

enum class EventKind { tick, timer, chart, book, trade, transaction, calculate };
constexpr std::size_t EVENT_KINDS = 7;
const char* handler_name(EventKind kind);  // "OnTick" ...

struct TradeEvent {
  MqlTradeTransaction transaction;
  MqlTradeRequest request;
  MqlTradeResult result;
};

struct Event {
  EventKind kind{};
  int id = 0;  // of a chart event
  long lparam = 0;
  double dparam = 0;
  string text{};  // of a chart event; the symbol of a book event
  std::shared_ptr<const TradeEvent> trade{};
};

struct QueueSettings {
  bool chart_coalesces = true;
  std::size_t limit = 1024;         // events beyond are dropped silently
  std::size_t transactions = 1024;  // transactions beyond overwrite the oldest
};

struct EventCounts {
  std::uint64_t queued = 0, skipped = 0, coalesced = 0, overflowed = 0, overwritten = 0;
};

// NewTick, Timer, Calculate and, by setting, chart events of one id are not queued while one of
// them is queued or being handled. Trade events are not queued while one is queued. Book events
// are always queued. Transactions are kept in a ring.
class EventQueue {
public:
  explicit EventQueue(QueueSettings settings) : m_settings(settings) {}

  void post(Event event);
  void skip(EventKind kind) { ++counts_of(kind).skipped; }
  bool take(Event& event);  // it is being handled until `done`
  void done() { m_handling = false; }
  void clear();
  bool empty() const { return m_events.empty(); }

  const EventCounts& counts(EventKind kind) const {
    return m_counts[static_cast<std::size_t>(kind)];
  }

private:
  EventCounts& counts_of(EventKind kind) { return m_counts[static_cast<std::size_t>(kind)]; }
  bool coalesces(const Event& event) const;
  bool waits(const Event& event) const;  // one like it is in the queue
  void overwrite_oldest();

  QueueSettings m_settings;
  std::deque<Event> m_events;
  std::array<std::size_t, EVENT_KINDS> m_waiting{};
  std::array<EventCounts, EVENT_KINDS> m_counts{};
  bool m_handling = false;
  EventKind m_handled_kind{};
  int m_handled_id = 0;
};

}  // namespace mql::terminal
