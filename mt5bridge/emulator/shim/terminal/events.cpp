// What is queued, what is not.
#include "events.hpp"

#include <algorithm>
#include <utility>

namespace mql::terminal {
namespace {

std::size_t index_of(EventKind kind) {
  return static_cast<std::size_t>(kind);
}

}  // namespace

const char* handler_name(EventKind kind) {
  static constexpr std::array<const char*, EVENT_KINDS> names = {
      "OnTick", "OnTimer", "OnChartEvent", "OnBookEvent", "OnTrade", "OnTradeTransaction",
      "OnCalculate"};
  return names[index_of(kind)];
}

void EventQueue::post(Event event) {
  auto& counts = counts_of(event.kind);
  if (coalesces(event)) {
    ++counts.coalesced;
    return;
  }
  const bool always = event.kind == EventKind::book || event.kind == EventKind::transaction;
  if (!always && m_events.size() >= m_settings.limit) {
    ++counts.overflowed;
    return;
  }
  auto& waiting = m_waiting[index_of(event.kind)];
  if (event.kind == EventKind::transaction && waiting >= m_settings.transactions)
    overwrite_oldest();
  ++waiting;
  ++counts.queued;
  m_events.push_back(std::move(event));
}

bool EventQueue::take(Event& event) {
  if (m_events.empty())
    return false;
  event = std::move(m_events.front());
  m_events.pop_front();
  --m_waiting[index_of(event.kind)];
  m_handling = true;
  m_handled_kind = event.kind;
  m_handled_id = event.id;
  return true;
}

void EventQueue::clear() {
  m_events.clear();
  m_waiting.fill(0);
}

bool EventQueue::coalesces(const Event& event) const {
  const bool handled =
      m_handling && m_handled_kind == event.kind && m_handled_id == event.id;
  switch (event.kind) {
    case EventKind::tick:
    case EventKind::timer:
    case EventKind::calculate:
      return handled || waits(event);
    case EventKind::chart:
      return m_settings.chart_coalesces && (handled || waits(event));
    case EventKind::trade:
      return waits(event);
    default:
      return false;
  }
}

bool EventQueue::waits(const Event& event) const {
  if (m_waiting[index_of(event.kind)] == 0)
    return false;
  return event.kind != EventKind::chart ||
         std::any_of(m_events.begin(), m_events.end(), [&](const Event& queued) {
           return queued.kind == event.kind && queued.id == event.id;
         });
}

void EventQueue::overwrite_oldest() {
  const auto oldest = std::find_if(m_events.begin(), m_events.end(), [](const Event& queued) {
    return queued.kind == EventKind::transaction;
  });
  m_events.erase(oldest);
  --m_waiting[index_of(EventKind::transaction)];
  ++counts_of(EventKind::transaction).overwritten;
}

}  // namespace mql::terminal
