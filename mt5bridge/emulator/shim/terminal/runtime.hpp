// The terminal: one process, one thread, an event loop, and the programs attached to its charts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "attached.hpp"
#include "trade_server.hpp"
#include "feed.hpp"

namespace mql::terminal {

// What the script makes odd about events and ticks; shares are of what could be struck.
struct Oddities {
  double skip = 0;   // OnTick events that are lost
  double busy = 0;   // rounds in which a program has no time for its events
  double book = 1;   // ticks that change the book
  double lag = 0;    // steps whose ticks are not in the tick base at once
  double burst = 0;  // calls into the terminal during which ticks arrive
  std::int64_t timer_us = 16'000;  // the finest timer there is
  QueueSettings queue;

  static Oddities of(const host::Script& script);
};

// An `at` statement: what happens once, when so many ticks were released or so much time passed.
struct Action {
  const host::Statement* statement;
  bool done = false;
};

class Terminal {
public:
  // `commands` is a descriptor from which further `at` statements come during the run, a line
  // each, to be carried out at once; -1: there is none.
  explicit Terminal(const host::Script& script, int commands = -1);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // Until the script's end or a signal; the process's exit code.
  int run();

  // Whether the script wants the terminal to be started again.
  bool restarts() const { return m_restart; }

  // --- for the functions that programs call
  // Ticks may arrive while a handler runs.
  void yield_point();
  // The running program is held up; market, broker and indicators go on.
  void wait_us(std::int64_t us);
  // The same, until a descriptor is ready; false: the time is over.
  bool wait_for(int descriptor, short events, std::int64_t timeout_us);
  Attached* attach_indicator(Attachment what, Attached& owner);
  void leave(Attached& attached, int reason);
  Attached* find_chart(long chart_id);
  void ask(long chart_id, Change change) { m_asked.emplace_back(chart_id, std::move(change)); }
  bool stopping() const;
  std::int64_t timer_resolution_us() const { return m_odd.timer_us; }
  void count_sent(std::size_t bytes);

  // --- for the broker
  void post_transaction(std::shared_ptr<const TradeEvent> event);
  void post_trade();
  bool connected() const { return m_connected; }
  bool logged_in() const { return m_logged_in; }
  bool trade_allowed() const { return m_trade_allowed; }

  // --- for the statistics
  Feed& feed() { return m_feed; }
  const std::vector<std::unique_ptr<Attached>>& programs() const { return m_programs; }
  const std::vector<std::string>& ended() const { return m_ended; }
  const std::vector<std::string>& failed() const { return m_failed; }
  std::int64_t quiet_ms() const;

private:
  class Watch;

  // runtime.cpp: the loop
  void start();
  void catch_up();
  void round();
  void rest();
  bool finished();
  void close_all();

  // market_side.cpp: ticks, timers, what goes on beside the programs
  bool move_market(bool waiting);
  void take(const Arrival& arrival);
  void show(const Arrival& arrival);
  void wake(market::Symbol& symbol);
  void reconnect();
  void settle(bool all);
  bool fire_timers();
  void background();
  std::int64_t next_due_us(bool waiting);

  // charts.cpp: attaching, handling, detaching
  Attached* attach(Attachment what, Attached* owner);
  void furnish(Attached& attached);
  void initialise(Attached& attached);
  void deinitialise(Attached& attached);
  bool dispatch();
  bool events_wait() const;
  bool handle_one(Attached& attached);
  void handle(Attached& attached, const Event& event);
  template <class Call>
  void guarded(Attached& attached, std::size_t slot, Call call);
  void run_indicators();
  void reap();
  void detach(Attached& attached);

  // actions.cpp: the script's `at` statements
  void run_actions();
  void take_command();
  void perform(const host::Statement& statement);
  void act(const std::string& key, const host::Statement& statement);
  void restart(const std::string& name);
  void release_unseen(std::uint64_t count);

  // life.cpp: changes at charts and programs, accounts
  void reinit(const host::Statement& statement);
  void change_charts();
  void change(Attached& attached, const Change& change);
  void adopt(Attachment& what, const Change& change);
  void reinitialise(Attached& attached, const Change& change);
  void reload(Attached& attached, const Change& change);
  void fail_once(Attached& attached, const Change& change);
  void change_account(const std::string& words);
  void log_in();

  Oddities m_odd;
  Feed m_feed;
  std::vector<std::unique_ptr<Attached>> m_programs;
  std::vector<std::pair<long, Change>> m_asked;  // by programs, of charts
  std::vector<Attachment> m_again;  // to be attached when the round is over
  std::vector<std::string> m_ended;   // figures of programs that were detached
  std::vector<std::string> m_failed;  // why programs were stopped
  std::vector<Action> m_actions;
  int m_commands;
  std::vector<Arrival> m_missed;  // arrived while the terminal had no connection
  std::uint64_t m_reconnect_at = 0;
  std::int64_t m_started_us, m_active_us, m_broker_due_us = 0;
  long m_next_chart = 128'000'000'000'000'001;
  std::int64_t m_login_us = 0;  // when the terminal logs in
  bool m_logged_in = true, m_connected = true, m_trade_allowed = true;
  bool m_interlude = false, m_restart = false;
};

// Work inside a handler that is not the program's: its CPU time counts for nobody.
class Interlude {
public:
  Interlude();
  ~Interlude();
  Interlude(const Interlude&) = delete;
  Interlude& operator=(const Interlude&) = delete;

private:
  std::int64_t m_cpu, m_others;
};

// The terminal of this process, and what it keeps for the program that runs.
Terminal& terminal();
bool in_tester();  // whether programs are told that the strategy tester runs them
Attached& self();

// Somebody wants the terminal closed, and not started again.
bool told_to_stop();

void post_transaction(const MqlTradeTransaction& transaction, const MqlTradeRequest& request,
                      const MqlTradeResult& result);
void post_trade();

// The figures of one program as JSON.
std::string program_stats(const Attached& attached);

// <data folder>/stats.json, written as a whole.
void write_stats(Terminal& terminal, bool finished);

}  // namespace mql::terminal
