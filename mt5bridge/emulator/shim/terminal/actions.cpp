// The script's `at` statements: what happens once, at a tick or a moment of this run.
#include <poll.h>
#include <unistd.h>

#include "language/files_faults.hpp"
#include "runtime.hpp"

namespace mql::terminal {
namespace {

constexpr int EXIT_CODE_CRASH = 137;

// When something happens, or the details of what happens; all other settings are actions.
bool is_detail(const std::string& key) {
  return key == "tick" || key == "ms" || key == "reason" || key == "symbol" || key == "period" ||
         key.starts_with("input.");
}

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
    perform(statement);
  }
  take_command();
}

// One at a time, and not a byte of the next: after a restart the terminal finds it still there.
void Terminal::take_command() {
  pollfd waiting{m_commands, POLLIN, 0};
  if (m_restart || m_commands < 0 || poll(&waiting, 1, 0) <= 0)
    return;
  std::string line;
  char letter = 0;
  while (read(m_commands, &letter, 1) == 1 && letter != '\n')
    line += letter;
  if (letter == '\n')
    perform(host::Statement::read(line));
  else
    m_commands = -1;  // whoever gave them has gone
}

void Terminal::perform(const host::Statement& statement) {
  for (const auto& [key, value] : statement.settings)
    if (!is_detail(key))
      act(key, statement);
}

void Terminal::act(const std::string& key, const host::Statement& statement) {
  host::journal("", "script: " + key + " " + statement.text(key));
  if (key == "restart") {
    restart(statement.text(key));
  } else if (key == "reinit") {
    reinit(statement);
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
  } else if (key == "account") {
    change_account(statement.text(key));
  } else if (key == "files") {
    files::set_faults(statement.text(key));
  } else if (key == "specify") {
    market::change(statement.text(key));
  } else if (key == "crash") {
    _exit(EXIT_CODE_CRASH);
  }
}

void Terminal::restart(const std::string& name) {
  if (name == "terminal") {
    m_restart = true;
    return;
  }
  for (const auto& attached : m_programs)
    if (attached->program->info().name == name)
      reload(*attached, {REASON_REMOVE});
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
