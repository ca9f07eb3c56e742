// Bars made of the ticks in a symbol's tick base, and the series that indicators make of them.
#pragma once

#include <cstdint>
#include <vector>

#include "bars_api.hpp"
#include "market.hpp"

namespace mql::bars {

using Series = std::vector<MqlRates>;

// All bars that the symbol's tick base makes, the oldest first. Prices are bids, or what was last
// dealt where there is no bid; the spread is that of the bar's last tick.
const Series& of(const market::Symbol& symbol, ENUM_TIMEFRAMES period);

// The positions, from the oldest, of a stretch that a Copy function asks for.
struct Stretch {
  std::size_t from = 0, to = 0;  // the first, and the one behind the last
};
Stretch by_position(const Series& bars, int start, int count);
Stretch by_time(const Series& bars, std::int64_t start, int count);
Stretch by_times(const Series& bars, std::int64_t start, std::int64_t stop);

// One of the indicators built into the terminal: what it is made of, and its one buffer.
struct Study {
  enum class Kind { average, rsi, atr } kind;
  const market::Symbol* symbol;
  ENUM_TIMEFRAMES period;
  int length;
  int shift = 0;
  ENUM_MA_METHOD method = MODE_SMA;
  ENUM_APPLIED_PRICE price = PRICE_CLOSE;
};

// A value for each bar, the oldest first; EMPTY_VALUE where there are too few bars before it.
std::vector<double> computed(const Study& study);

}  // namespace mql::bars
