// Bars of ticks; kept by symbol and period, as ticks come to the base.
#include "bars.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "language/calendar.hpp"

namespace mql::bars {
namespace {

constexpr std::int64_t DAY_S = 86'400, WEEK_S = 7 * DAY_S;
constexpr std::int64_t SUNDAY_S = 3 * DAY_S;  // the first Sunday of 1970; weeks begin there

struct Kept {
  Series bars;
  std::size_t ticks = 0;        // of the base that are in the bars
  std::uint64_t inserted = 0;   // late ticks of the base that are in them
};

std::int64_t begin_of(std::int64_t time_s, ENUM_TIMEFRAMES period) {
  if (period == PERIOD_MN1) {
    MqlDateTime parts{};
    TimeToStruct(time_s, parts);
    return time_s - time_s % DAY_S - (parts.day - 1) * DAY_S;
  }
  if (period == PERIOD_W1)
    return time_s - (time_s - SUNDAY_S) % WEEK_S;
  return time_s - time_s % PeriodSeconds(period);
}

double price_of(const MqlTick& tick) {
  return tick.bid > 0 ? tick.bid : tick.last;
}

void add(Series& bars, const MqlTick& tick, ENUM_TIMEFRAMES period, double point) {
  const double price = price_of(tick);
  const std::int64_t begin = begin_of(tick.time_msc / 1000, period);
  if (bars.empty() || bars.back().time < begin)
    bars.push_back({begin, price, price, price, price, 0, 0, 0});
  auto& bar = bars.back();
  bar.high = std::max(+bar.high, price);
  bar.low = std::min(+bar.low, price);
  bar.close = price;
  ++bar.tick_volume;
  bar.real_volume += static_cast<long>(tick.volume);
  bar.spread = static_cast<int>(std::lround((tick.ask - tick.bid) / point));
}

}  // namespace

const Series& of(const market::Symbol& symbol, ENUM_TIMEFRAMES period) {
  static std::map<std::pair<const market::Symbol*, int>, Kept> all;
  auto& kept = all[{&symbol, period}];
  if (kept.inserted != symbol.base.inserted())
    kept = {{}, 0, symbol.base.inserted()};
  for (; kept.ticks < symbol.base.size(); ++kept.ticks)
    add(kept.bars, symbol.base[kept.ticks], period, symbol.facts.point);
  return kept.bars;
}

Stretch by_position(const Series& bars, int start, int count) {
  const auto size = static_cast<std::int64_t>(bars.size());
  if (start < 0 || count <= 0 || start >= size)
    return {};
  const auto to = size - start;
  return {static_cast<std::size_t>(std::max<std::int64_t>(0, to - count)),
          static_cast<std::size_t>(to)};
}

namespace {

// How many bars have begun at or before a time.
std::size_t begun(const Series& bars, std::int64_t time_s) {
  return static_cast<std::size_t>(
      std::partition_point(bars.begin(), bars.end(),
                           [=](const MqlRates& bar) { return bar.time <= time_s; }) -
      bars.begin());
}

}  // namespace

Stretch by_time(const Series& bars, std::int64_t start, int count) {
  const auto to = begun(bars, start);
  const auto wanted = static_cast<std::size_t>(std::max(0, count));
  return {to - std::min(wanted, to), to};
}

Stretch by_times(const Series& bars, std::int64_t start, std::int64_t stop) {
  const auto [first, last] = std::minmax(start, stop);
  return {begun(bars, first - 1), begun(bars, last)};
}

}  // namespace mql::bars
