// The script's `at` statements: what happens once, at a tick or a moment of this run.
#include <unistd.h>

#include "runtime.hpp"

namespace mql::terminal {
namespace {

constexpr int EXIT_CODE_CRASH = 137;

}  // namespace

void Terminal::run_actions() {
  const auto ms = static_cast<std::uint64_t>((host::steady_us() - m_started_us) / 1000);
  for (auto& action : m_actions) {
    const auto& statement = *action.statement;
    const bool by_tick = statement.has("tick");
    const auto when = static_cast<std::uint64_t>(statement.integer(by_tick ? "tick" : "ms"));
    if (action.done || (by_tick ? m_feed.released() : ms) < when)
      continue;
    action.done = true;
    for (const auto& [key, value] : statement.settings)
      if (key != "tick" && key != "ms")
        act(key, statement);
  }
}

void Terminal::act(const std::string& key, const host::Statement& statement) {
  host::journal("", "script: " + key + " " + statement.text(key));
  if (key == "restart") {
    restart(statement.text(key));
  } else if (key == "detach") {
    for (const auto& attached : m_programs)
      if (attached->program->info().name == statement.text(key))
        leave(*attached, REASON_REMOVE);
  } else if (key == "offline_ticks") {
    release_unseen(static_cast<std::uint64_t>(statement.integer(key)));
    settle(true);
  } else if (key == "offset_ms") {
    host::set_server_offset_ms(statement.integer(key));
  } else if (key == "disconnect") {
    m_connected = false;
    m_reconnect_at = m_feed.released() + static_cast<std::uint64_t>(statement.integer(key));
  } else if (key == "trade_allowed") {
    m_trade_allowed = statement.flag(key);
  } else if (key == "drop_sockets") {
    for (const auto& attached : m_programs)
      attached->sockets.drop_all();
  } else if (key == "broker") {
    trade_server::command(statement.text(key));
  } else if (key == "crash") {
    _exit(EXIT_CODE_CRASH);
  }
}

void Terminal::restart(const std::string& name) {
  if (name == "terminal") {
    m_restart = true;
    return;
  }
  for (const auto& attached : m_programs) {
    if (attached->program->info().name != name)
      continue;
    leave(*attached, REASON_PARAMETERS);
    m_again.push_back(attached->what);
  }
}

// Ticks that the trade server has seen and this terminal finds in its history later.
void Terminal::release_unseen(std::uint64_t count) {
  for (; count > 0 && !m_feed.finished(); --count) {
    const auto& arrival = m_feed.release();
    host::advance_clock(arrival.tick.time_msc);
    market::arrive(*arrival.symbol, arrival.tick);
    if (!arrival.late)
      trade_server::on_tick(*arrival.symbol, arrival.tick);
  }
}

}  // namespace mql::terminal
