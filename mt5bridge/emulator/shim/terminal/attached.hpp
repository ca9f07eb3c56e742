// A program on a chart of the terminal, with all that the terminal keeps for it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bars.hpp"
#include "events.hpp"
#include "market.hpp"
#include "sockets.hpp"

namespace mql::terminal {

// How often a handler ran, its own CPU time, and its longest run by the clock on the wall.
struct Usage {
  std::uint64_t calls = 0;
  std::int64_t cpu_ns = 0, longest_us = 0;
};

// Slots of usage behind those of the events.
constexpr std::size_t USAGE_INIT = EVENT_KINDS, USAGE_DEINIT = EVENT_KINDS + 1,
                      USAGE_START = EVENT_KINDS + 2, USAGE_SLOTS = EVENT_KINDS + 3;
const char* usage_name(std::size_t slot);

// What is to run where; kept for starting it again.
struct Attachment {
  std::string program, symbol;
  std::vector<std::pair<std::string, std::string>> inputs{};  // a later one wins
  ENUM_TIMEFRAMES period = PERIOD_M1;
  long chart_id = 0;  // of a chart that is there; 0: a new one
};

// What a user changes at a program or its chart.
struct Change {
  int reason;  // for OnDeinit
  std::string symbol{};  // of the chart; empty: the same as before
  ENUM_TIMEFRAMES period = PERIOD_CURRENT;  // of the chart; CURRENT: the same as before
  std::vector<std::pair<std::string, std::string>> inputs{};
};

struct Attached {
  Attached(Attachment what, QueueSettings queue) : what(std::move(what)), queue(queue) {}

  Attachment what;
  std::unique_ptr<Program> program;
  std::string title;  // "Publisher (EURUSD)"
  market::Symbol* symbol = nullptr;
  long chart_id = 0;
  Attached* owner = nullptr;  // of an indicator: the program that has created it
  EventQueue queue;
  bool running = false;  // OnInit has succeeded
  bool leaving = false;  // to be detached as soon as none of its handlers runs
  bool failed = false;   // stopped by a fatal error
  int depth = 0;         // handlers of it that are running
  int reason = 0;        // for OnDeinit and UninitializeReason, also in the OnInit that follows
  std::int64_t timer_period_us = 0, timer_due_us = 0;
  std::set<std::string> books;
  std::map<int, Attached*> indicators;  // by handle
  std::map<int, bars::Study> studies;   // those built into the terminal, by handle
  int next_indicator = 10;
  std::map<std::string, std::uint64_t> synchronised;  // calls of CopyTicks by symbol
  std::uint64_t copy_calls = 0, copied_ticks = 0;
  int calculated = 0;
  Sockets sockets;
  std::array<Usage, USAGE_SLOTS> usage{};

  bool expert() const { return program->info().kind == ProgramKind::expert; }
  bool indicator() const { return program->info().kind == ProgramKind::indicator; }
  bool script() const { return program->info().kind == ProgramKind::script; }
};

}  // namespace mql::terminal
