// The loop: market, timers, broker, programs, and round again.
#include "runtime.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

namespace mql::terminal {
namespace {

constexpr std::int64_t REST_US = 10'000;       // between two looks at everything
constexpr std::int64_t STATS_US = 50'000;      // between two writings of the statistics
constexpr std::size_t QUIET_BYTES = 512;       // what heartbeats send is no activity

Terminal* the_terminal = nullptr;
volatile sig_atomic_t signalled = 0;
volatile sig_atomic_t passing = 0;

void note_signal(int) {
  signalled = 1;
}

void note_passing(int) {
  passing = 1;
}

void listen_to_signals() {
  struct sigaction action {};
  action.sa_handler = note_signal;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
  action.sa_handler = note_passing;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace

bool told_to_stop() {
  return signalled != 0;
}

Terminal& terminal() {
  return *the_terminal;
}

bool in_tester() {
  return !host::script().all("tester").empty();
}

Attached& self() {
  return *static_cast<Attached*>(current().attachment.get());
}

Oddities Oddities::of(const host::Script& script) {
  const auto events = script.merged("events");
  const auto ticks = script.merged("ticks_odd");
  Oddities odd;
  odd.skip = script.merged("ontick").number("skip");
  odd.busy = events.number("busy");
  odd.book = events.number("book", odd.book);
  odd.lag = ticks.number("lag");
  odd.burst = ticks.number("burst_in_handler");
  odd.timer_us = 1000 * events.integer("timer_resolution_ms", odd.timer_us / 1000);
  odd.queue.chart_coalesces = events.text("chart", "coalesce") == "coalesce";
  odd.queue.limit = static_cast<std::size_t>(events.integer("limit", 1024));
  return odd;
}

int Terminal::run() {
  listen_to_signals();
  start();
  std::int64_t stats_due_us = 0;
  while (!stopping() && !m_restart && !finished()) {
    round();
    if (host::steady_us() >= stats_due_us) {
      write_stats(*this, false);
      stats_due_us = host::steady_us() + STATS_US;
    }
  }
  close_all();
  write_stats(*this, true);
  market::dump(host::data_folder() / "tick_base");
  return m_failed.empty() ? 0 : 1;
}

void Terminal::start() {
  host::journal("", "terminal started, run " + std::to_string(host::run_number()));
  trade_server::start();
  for (auto& action : m_actions)  // of earlier runs
    action.done = action.statement->has("tick") && host::run_number() > 1 &&
                  static_cast<std::uint64_t>(action.statement->integer("tick")) <= m_feed.released();
  catch_up();
  m_broker_due_us = trade_server::poll();  // the account is there before any program
  m_feed.start(host::steady_us());
  const auto login_ms = host::script().merged("account").integer("login_ms");
  if (login_ms > 0) {
    m_logged_in = m_connected = false;
    m_login_us = host::steady_us() + 1000 * login_ms;
    m_reconnect_at = std::numeric_limits<std::uint64_t>::max();
  }
  for (const auto* statement : host::script().all("attach"))
    attach({statement->text("program"), statement->text("symbol"), statement->inputs()}, nullptr);
  reap();
}

// The tick base holds what earlier runs have seen; then come the ticks nobody was there for.
void Terminal::catch_up() {
  for (std::uint64_t index = 0; index < m_feed.released(); ++index) {
    const auto& arrival = m_feed.at(index);
    host::advance_clock(arrival.tick.time_msc);
    market::arrive(*arrival.symbol, arrival.tick);
  }
  const auto offline = host::script().merged("offline_ticks");
  const auto range = host::run_number() == 1 ? offline.range("first") : offline.range("count");
  release_unseen(static_cast<std::uint64_t>(
      host::between(host::random("offline"), range.first, range.second)));
  settle(true);
  if (!offline.flag("quoted", true))
    market::forget_quotes();
  if (!m_feed.finished())
    host::advance_clock(m_feed.at(m_feed.released()).tick.time_msc);
}

void Terminal::round() {
  if (passing != 0) {  // between two handlers, so that it makes none of them long
    passing = 0;
    host::pass_time();
  }
  log_in();
  const bool moved = move_market(false);
  fire_timers();
  m_broker_due_us = trade_server::poll();
  const bool handled = dispatch();
  reap();
  change_charts();
  run_actions();
  if (!moved && !handled)
    rest();
}

void Terminal::rest() {
  const auto until = std::min(next_due_us(false), host::steady_us() + REST_US);
  const auto us = until - host::steady_us();
  if (us <= 0)
    return;
  const host::Sleep sleep(us);
  usleep(static_cast<useconds_t>(us));
}

bool Terminal::finished() {
  if (m_programs.empty() && m_again.empty())
    return true;
  const auto end = host::script().merged("end");
  return end.has("quiet_ms") && m_feed.finished() && m_connected && trade_server::idle() &&
         !events_wait() && quiet_ms() >= end.integer("quiet_ms");
}

std::int64_t Terminal::quiet_ms() const {
  return (host::steady_us() - m_active_us) / 1000;
}

void Terminal::count_sent(std::size_t bytes) {
  if (bytes > QUIET_BYTES)
    m_active_us = host::steady_us();
}

bool Terminal::stopping() const {
  return told_to_stop();
}

void Terminal::close_all() {
  for (std::size_t at = 0; at < m_programs.size(); ++at)
    leave(*m_programs[at], REASON_CLOSE);
  m_again.clear();
  reap();
  settle(true);
  trade_server::stop();
  host::journal("", m_restart ? "terminal restarts" : "terminal closed");
}

void Terminal::wait_us(std::int64_t us) {
  wait_for(-1, 0, us);
}

bool Terminal::wait_for(int descriptor, short events, std::int64_t timeout_us) {
  const auto deadline_us = host::steady_us() + std::max<std::int64_t>(0, timeout_us);
  for (;;) {
    background();
    const auto now = host::steady_us();
    const auto until = std::min({deadline_us, next_due_us(true), now + REST_US});
    const auto us = std::max<std::int64_t>(0, until - now);
    const timespec pause{us / 1'000'000, us % 1'000'000 * 1000};
    pollfd waiting{descriptor, events, 0};
    {
      const host::Sleep sleep(us);
      if (ppoll(&waiting, 1, &pause, nullptr) > 0)
        return true;
    }
    if (host::steady_us() >= deadline_us || stopping())
      return false;
  }
}

Terminal::Terminal(const host::Script& script, int commands)
    : m_odd(Oddities::of(script)), m_feed(script), m_commands(commands) {
  the_terminal = this;
  for (const auto* statement : script.all("at"))
    m_actions.push_back({statement});
  m_started_us = m_active_us = host::steady_us();
}

Terminal::~Terminal() {
  the_terminal = nullptr;
}

}  // namespace mql::terminal
