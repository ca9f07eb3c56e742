// The terminal's connection to its trade server, the emulated broker.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "market.hpp"

namespace mql::trade_server {

void start();  // symbols are known; the broker reads what earlier runs have left
void stop();

// Every tick that reaches the trade server, in order; also while the terminal was shut.
void on_tick(const market::Symbol& symbol, const MqlTick& tick);

// Let the broker do what is due; the moment, in steady microseconds, of what comes next.
std::int64_t poll();
bool idle();  // nothing is under way

// The terminal logs in to another account, with its own orders, deals and positions. The words of a
// script's `at ... account="login=5002 server=Other"`; what they leave out is as in `account`.
void change_account(const std::string& words);

// The words of a script's `at ... broker="..."`.
void command(const std::string& words);

// A program is gone, and what it had selected.
void forget(const Program* program);

}  // namespace mql::trade_server
