// The market as the terminal knows it: symbols, their properties and their tick bases.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api.hpp"
#include "broker/surroundings.hpp"
#include "script.hpp"

namespace mql::market {

// The ticks of a symbol in the order of their time; those of one millisecond as they arrived.
class TickBase {
public:
  // A tick older than the newest is put in behind those of its own millisecond.
  void insert(const MqlTick& tick);

  std::size_t size() const { return m_ticks.size(); }
  const MqlTick& operator[](std::size_t index) const { return m_ticks[index]; }
  const MqlTick* data() const { return m_ticks.data(); }

  // Index of the first tick at or after, and of the first one after, a time.
  std::size_t at_or_after(std::int64_t time_msc) const;
  std::size_t after(std::int64_t time_msc) const;

  // How many ticks were put in before others: what was made of the base before holds no more.
  std::uint64_t inserted() const { return m_inserted; }

private:
  std::vector<MqlTick> m_ticks;
  std::uint64_t m_inserted = 0;
};

// Seconds of the week from Sunday's midnight on, within one day.
struct Session {
  int from = 0, to = 0;
};

struct Symbol {
  broker::SymbolFacts facts;
  std::string description, currency_base;
  double tick_value = 1;
  int swap_mode = 0;  // ENUM_SYMBOL_SWAP_MODE
  double swap_long = 0, swap_short = 0;
  int swap_triple_day = 3;
  std::vector<Session> sessions;  // in the order of the week
  bool selected = true;
  MqlTick newest{};             // by time; what SymbolInfoTick gives
  TickBase base;                // what CopyTicks sees
  std::deque<MqlTick> hidden;   // arrived, but not in the base yet
  std::uint64_t arrived = 0;
};

// Make the symbols of the script's `symbol` statements.
void load_symbols(const host::Script& script);

// nullptr if there is no such symbol.
Symbol* find(std::string_view name);
const std::vector<std::unique_ptr<Symbol>>& symbols();

// Swaps, levels and sessions become others: `EURUSD swap_long=-7 stops_level=10`.
void change(const std::string& words);

// A tick arrives; it is in the base after `settle`.
void arrive(Symbol& symbol, const MqlTick& tick);
void settle(Symbol& symbol);

// No symbol has a quote until its next tick arrives, as after a login.
void forget_quotes();

// Write every symbol's tick base as raw records into <folder>/<symbol>.bin.
void dump(const std::filesystem::path& folder);

}  // namespace mql::market
