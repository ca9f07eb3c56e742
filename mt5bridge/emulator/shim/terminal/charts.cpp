// Programs on charts: attached, handled, detached.
#include <time.h>

#include <new>

#include "language/files_open.hpp"
#include "runtime.hpp"

namespace mql::terminal {
namespace {

constexpr std::int64_t DEINIT_US_MAX = 2'500'000;  // then the terminal ends a program by force

std::int64_t cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

std::int64_t others_ns = 0;  // CPU time that counts for another program or for the terminal

// The name without folders, as `iCustom("Mt5Bridge\\TickSpy")` gives it.
std::string title_of(const Attached& attached) {
  const auto& name = attached.program->info().name;
  return attached.what.symbol.empty() ? name : name + " (" + attached.what.symbol + ")";
}

}  // namespace

const char* usage_name(std::size_t slot) {
  static constexpr std::array<const char*, 3> names = {"OnInit", "OnDeinit", "OnStart"};
  return slot < EVENT_KINDS ? handler_name(static_cast<EventKind>(slot))
                            : names[slot - EVENT_KINDS];
}

// Measures a handler: CPU time without what ran inside it for others, and time on the wall.
class Terminal::Watch {
public:
  explicit Watch(Usage& usage)
      : m_usage(usage), m_cpu(cpu_ns()), m_others(others_ns), m_wall(host::steady_us()) {}
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() {
    const auto whole = cpu_ns() - m_cpu;
    ++m_usage.calls;
    m_usage.cpu_ns += whole - (others_ns - m_others);
    m_usage.longest_us = std::max(m_usage.longest_us, host::steady_us() - m_wall);
    others_ns = m_others + whole;
  }

private:
  Usage& m_usage;
  std::int64_t m_cpu, m_others, m_wall;
};

Interlude::Interlude() : m_cpu(cpu_ns()), m_others(others_ns) {}

Interlude::~Interlude() {
  others_ns = m_others + (cpu_ns() - m_cpu);
}

namespace {

// The real terminal closes what a program leaves open when it unloads it, and does not tell.
void tell_left_open(const Attached& attached) {
  std::size_t indicators = attached.studies.size();
  for (const auto& [handle, indicator] : attached.indicators)
    indicators += !indicator->leaving;
  const std::pair<std::size_t, const char*> counts[] = {
      {attached.program->files->count(), " files"}, {attached.sockets.count(), " sockets"},
      {indicators, " indicators"}, {attached.books.size(), " market books"}};
  std::string text;
  for (const auto& [count, what] : counts)
    if (count > 0)
      text += (text.empty() ? "" : ", ") + std::to_string(count) + what;
  if (!text.empty())
    host::journal(attached.title, "OnDeinit has left open: " + text);
}

}  // namespace

Attached* Terminal::attach(Attachment what, Attached* owner) {
  auto attached = std::make_unique<Attached>(std::move(what), m_odd.queue);
  attached->program = create_program(attached->what.program);
  if (attached->program == nullptr)
    throw host::ScriptError("attach: no program " + attached->what.program + " is built in");
  furnish(*attached);
  attached->owner = owner;
  attached->chart_id = attached->what.chart_id != 0 ? attached->what.chart_id : m_next_chart++;
  attached->program->attachment = std::shared_ptr<void>(std::shared_ptr<void>(), attached.get());
  m_programs.push_back(std::move(attached));
  auto* kept = m_programs.back().get();
  if (owner == nullptr)
    initialise(*kept);
  return kept;
}

Attached* Terminal::attach_indicator(Attachment what, Attached& owner) {
  return attach(std::move(what), &owner);
}

// The chart and the inputs are as `what` says.
void Terminal::furnish(Attached& attached) {
  attached.symbol = market::find(attached.what.symbol);
  if (attached.symbol == nullptr && !attached.what.symbol.empty())
    throw host::ScriptError(attached.what.program + ": no such symbol: " + attached.what.symbol);
  for (const auto& [name, value] : attached.what.inputs)
    attached.program->set_input(name, value);
  attached.title = title_of(attached);
}

void Terminal::initialise(Attached& attached) {
  int result = INIT_SUCCEEDED;
  guarded(attached, USAGE_INIT, [&] {
    attached.program->begin();
    result = attached.program->handle_init();
  });
  if (attached.failed)
    return;
  if (result != INIT_SUCCEEDED) {
    host::journal(attached.title, "OnInit returned " + std::to_string(result));
    m_failed.push_back(attached.title + ": OnInit returned " + std::to_string(result));
    leave(attached, REASON_INITFAILED);
    return;
  }
  attached.running = true;
  if (attached.script()) {
    guarded(attached, USAGE_START, [&] { attached.program->handle_start(); });
    leave(attached, REASON_PROGRAM);
  }
}

template <class Call>
void Terminal::guarded(Attached& attached, std::size_t slot, Call call) {
  Program* before = any_current() ? &current() : nullptr;
  set_current(attached.program.get());
  ++attached.depth;
  try {
    Watch watch(attached.usage[slot]);
    call();
  } catch (const std::exception& error) {  // a fatal error of the program, or no memory
    attached.failed = true;
    attached.running = false;
    attached.leaving = true;
    host::journal(attached.title, std::string("stopped: ") + error.what());
    m_failed.push_back(attached.title + ": " + error.what());
  }
  --attached.depth;
  set_current(before);
}

// One event for each program that has time. Whether any was handled or still waits.
bool Terminal::dispatch() {
  bool handled = false;
  auto& busy = host::random("events.busy");
  for (std::size_t at = 0; at < m_programs.size(); ++at)
    if (!host::chance(busy, m_odd.busy))
      handled |= handle_one(*m_programs[at]);
  return handled || events_wait();
}

bool Terminal::events_wait() const {
  for (const auto& attached : m_programs)
    if (attached->running && !attached->queue.empty())
      return true;
  return false;
}

bool Terminal::handle_one(Attached& attached) {
  Event event;
  if (!attached.running && attached.owner != nullptr && !attached.leaving)
    initialise(attached);  // an indicator starts after the call that has created it
  if (!attached.running || attached.depth > 0 || !attached.queue.take(event))
    return false;
  handle(attached, event);
  attached.queue.done();
  if (event.kind != EventKind::timer)
    m_active_us = host::steady_us();
  return true;
}

void Terminal::handle(Attached& attached, const Event& event) {
  auto& program = *attached.program;
  guarded(attached, static_cast<std::size_t>(event.kind), [&] {
    switch (event.kind) {
      case EventKind::tick:
        return program.handle_tick();
      case EventKind::timer:
        return program.handle_timer();
      case EventKind::chart:
        return program.handle_chart_event(event.id, event.lparam, event.dparam, event.text);
      case EventKind::book:
        return program.handle_book_event(event.text);
      case EventKind::trade:
        return program.handle_trade();
      case EventKind::transaction:
        return program.handle_trade_transaction(event.trade->transaction, event.trade->request,
                                                event.trade->result);
      case EventKind::calculate: {
        static const array<double> no_prices;  // bars are not part of the emulated terminal
        attached.calculated = program.handle_calculate(
            static_cast<int>(attached.symbol->arrived), attached.calculated, 0, no_prices);
      }
    }
  });
}

void Terminal::run_indicators() {
  for (std::size_t at = 0; at < m_programs.size(); ++at)
    while (m_programs[at]->indicator() && handle_one(*m_programs[at])) {
    }
}

void Terminal::leave(Attached& attached, int reason) {
  if (attached.leaving)
    return;
  attached.leaving = true;
  attached.reason = reason;
  for (const auto& [handle, indicator] : attached.indicators)
    leave(*indicator, REASON_REMOVE);
}

// Programs end when none of their handlers is running, indicators before their owners.
void Terminal::reap() {
  for (bool waiting = true; waiting;) {
    waiting = false;
    for (std::size_t at = m_programs.size(); at-- > 0;) {
      auto& attached = *m_programs[at];
      if (!attached.leaving || attached.depth > 0)
        continue;
      for (const auto& [handle, indicator] : attached.indicators)
        leave(*indicator, REASON_REMOVE);
      waiting |= !attached.indicators.empty();
      if (!attached.indicators.empty())
        continue;
      detach(attached);
      m_programs.erase(m_programs.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
  auto again = std::move(m_again);
  m_again.clear();
  for (auto& what : again)
    attach(std::move(what), nullptr);
}

// Events that come from now on are not for this run of the program.
void Terminal::deinitialise(Attached& attached) {
  attached.running = false;
  if (attached.failed)
    return;
  guarded(attached, USAGE_DEINIT, [&] { attached.program->handle_deinit(attached.reason); });
  tell_left_open(attached);
  if (attached.usage[USAGE_DEINIT].longest_us > DEINIT_US_MAX)
    m_failed.push_back(attached.title + ": OnDeinit took longer than 2.5 seconds");
}

void Terminal::detach(Attached& attached) {
  deinitialise(attached);
  if (attached.owner != nullptr)
    std::erase_if(attached.owner->indicators,
                  [&](const auto& entry) { return entry.second == &attached; });
  m_ended.push_back(program_stats(attached));
  trade_server::forget(attached.program.get());
  Program* before = any_current() ? &current() : nullptr;
  set_current(attached.program.get());
  const auto* program = attached.program.get();
  attached.program.reset();  // its objects' destructors still belong to it
  set_current(before);
  if (const int left = objects::left(program); left > 0)
    host::journal(attached.title, std::to_string(left) + " undeleted objects left");
  host::journal("", attached.title + " removed");
}

Attached* Terminal::find_chart(long chart_id) {
  for (const auto& attached : m_programs)
    if (attached->chart_id == chart_id && !attached->indicator())
      return attached.get();
  return nullptr;
}

void Terminal::post_transaction(std::shared_ptr<const TradeEvent> trade) {
  for (const auto& attached : m_programs) {
    if (!attached->running || !attached->program->has(ON_TRADE_TRANSACTION))
      continue;
    Event event{EventKind::transaction};
    event.trade = trade;
    attached->queue.post(std::move(event));
  }
}

void Terminal::post_trade() {
  for (const auto& attached : m_programs)
    if (attached->running && attached->program->has(ON_TRADE))
      attached->queue.post({EventKind::trade});
}

void post_transaction(const MqlTradeTransaction& transaction, const MqlTradeRequest& request,
                      const MqlTradeResult& result) {
  terminal().post_transaction(
      std::make_shared<const TradeEvent>(TradeEvent{transaction, request, result}));
}

void post_trade() {
  terminal().post_trade();
}

}  // namespace mql::terminal
