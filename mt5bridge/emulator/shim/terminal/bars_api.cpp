// What programs ask about bars, and the indicators they make of them.
#include <algorithm>

#include "attached.hpp"
#include "bars.hpp"
#include "runtime.hpp"

namespace mql {
namespace {

using bars::Series;
using bars::Stretch;

ENUM_TIMEFRAMES period_of(ENUM_TIMEFRAMES period) {
  return period == PERIOD_CURRENT ? Period() : period;
}

// NULL and "" are the chart's symbol.
const market::Symbol* symbol_of(const string& name) {
  auto& self = terminal::self();
  const auto* symbol = market::find(name.size() == 0 ? self.what.symbol : name.utf8());
  if (symbol == nullptr)
    fail(ERR_MARKET_UNKNOWN_SYMBOL);
  return symbol;
}

// The bars of a symbol; none, and the error is set, if it is unknown.
const Series& series(const string& name, ENUM_TIMEFRAMES period) {
  static const Series none;
  const auto* symbol = symbol_of(name);
  return symbol == nullptr ? none : bars::of(*symbol, period_of(period));
}

// Copies what `of` makes of each bar of a stretch; the oldest comes first, however the array counts.
template <class Value, class Of>
int copied(const Series& all, Stretch stretch, array_ref<Value> values, Of of) {
  if (stretch.from >= stretch.to) {
    fail(ERR_HISTORY_NOT_FOUND);
    return -1;
  }
  std::vector<Value> found;
  for (auto at = stretch.from; at < stretch.to; ++at)
    found.push_back(of(all[at]));
  if (!values.assign(found.data(), static_cast<long>(found.size()))) {
    fail(ERR_HISTORY_SMALL_BUFFER);
    return -1;
  }
  return static_cast<int>(found.size());
}

// The bar so many before the newest; nullptr, and the error is set, if there is none.
const MqlRates* bar(const string& name, ENUM_TIMEFRAMES period, int shift) {
  const auto& all = series(name, period);
  const auto stretch = bars::by_position(all, shift, 1);
  if (stretch.from < stretch.to)
    return &all[stretch.from];
  fail(ERR_HISTORY_NOT_FOUND);
  return nullptr;
}

double value_of(const MqlRates& bar, ENUM_SERIESMODE type) {
  switch (type) {
    case MODE_OPEN:
      return bar.open;
    case MODE_LOW:
      return bar.low;
    case MODE_HIGH:
      return bar.high;
    case MODE_CLOSE:
      return bar.close;
    case MODE_VOLUME:
      return static_cast<double>(bar.tick_volume);
    case MODE_REAL_VOLUME:
      return static_cast<double>(bar.real_volume);
    default:
      return bar.spread;
  }
}

// The shift of the bar for which no other one is `better`; the newest of equals.
template <class Better>
int best_of(const Series& all, ENUM_SERIESMODE type, int count, int start, Better better) {
  const auto most = count == WHOLE_ARRAY ? static_cast<int>(all.size()) : count;
  const auto stretch = bars::by_position(all, start, most);
  if (stretch.from >= stretch.to) {
    fail(ERR_HISTORY_NOT_FOUND);
    return -1;
  }
  auto best = stretch.to - 1;
  for (auto at = best; at-- > stretch.from;)
    if (better(value_of(all[at], type), value_of(all[best], type)))
      best = at;
  return static_cast<int>(all.size() - 1 - best);
}

int add_study(const string& name, bars::Study study) {
  study.symbol = symbol_of(name);
  study.period = period_of(study.period);
  if (study.symbol == nullptr || study.length <= 0) {
    fail(study.symbol == nullptr ? ERR_INDICATOR_UNKNOWN_SYMBOL : ERR_INDICATOR_WRONG_PARAMETERS);
    return INVALID_HANDLE;
  }
  auto& self = terminal::self();
  self.studies.emplace(self.next_indicator, study);
  return self.next_indicator++;
}

// A stretch of an indicator's only buffer.
template <class Asked>
int copied_buffer(int handle, int buffer, array_ref<double> values, Asked asked) {
  const auto& studies = terminal::self().studies;
  const auto found = studies.find(handle);
  if (found == studies.end() || buffer != 0) {
    fail(found == studies.end() ? ERR_INDICATOR_WRONG_HANDLE : ERR_INDICATOR_DATA_NOT_FOUND);
    return -1;
  }
  const auto& all = bars::of(*found->second.symbol, found->second.period);
  const auto made = bars::computed(found->second);
  return copied(all, asked(all), values,
                [&](const MqlRates& bar) { return made[static_cast<std::size_t>(&bar - &all[0])]; });
}

}  // namespace

#define MQL_COPY(name, type, member)                                                     \
  int name(const string& symbol, ENUM_TIMEFRAMES period, int start, int count,           \
           array_ref<type> values) {                                                     \
    const auto& all = series(symbol, period);                                            \
    return copied(all, bars::by_position(all, start, count), values,                     \
                  [](const MqlRates& bar) -> type { return member; });                   \
  }                                                                                      \
  int name(const string& symbol, ENUM_TIMEFRAMES period, datetime start, int count,      \
           array_ref<type> values) {                                                     \
    const auto& all = series(symbol, period);                                            \
    return copied(all, bars::by_time(all, start, count), values,                         \
                  [](const MqlRates& bar) -> type { return member; });                   \
  }                                                                                      \
  int name(const string& symbol, ENUM_TIMEFRAMES period, datetime start, datetime stop,  \
           array_ref<type> values) {                                                     \
    const auto& all = series(symbol, period);                                            \
    return copied(all, bars::by_times(all, start, stop), values,                         \
                  [](const MqlRates& bar) -> type { return member; });                   \
  }
MQL_COPY(CopyRates, MqlRates, bar)
MQL_COPY(CopyTime, datetime, bar.time)
MQL_COPY(CopyOpen, double, bar.open)
MQL_COPY(CopyHigh, double, bar.high)
MQL_COPY(CopyLow, double, bar.low)
MQL_COPY(CopyClose, double, bar.close)
MQL_COPY(CopyTickVolume, long, bar.tick_volume)
MQL_COPY(CopyRealVolume, long, bar.real_volume)
MQL_COPY(CopySpread, int, bar.spread)
#undef MQL_COPY

#define MQL_BAR(name, type, member)                                            \
  type name(const string& symbol, ENUM_TIMEFRAMES period, int shift) {         \
    const auto* found = bar(symbol, period, shift);                            \
    return found == nullptr ? type(0) : type(found->member);                   \
  }
MQL_BAR(iTime, datetime, time)
MQL_BAR(iOpen, double, open)
MQL_BAR(iHigh, double, high)
MQL_BAR(iLow, double, low)
MQL_BAR(iClose, double, close)
MQL_BAR(iVolume, long, tick_volume)
MQL_BAR(iTickVolume, long, tick_volume)
MQL_BAR(iRealVolume, long, real_volume)
MQL_BAR(iSpread, int, spread)
#undef MQL_BAR

int iBars(const string& symbol, ENUM_TIMEFRAMES period) {
  return static_cast<int>(series(symbol, period).size());
}

// The bar that a time lies in, or the one before if it need not be that one; -1: there is none.
int iBarShift(const string& symbol, ENUM_TIMEFRAMES period, datetime time, bool exact) {
  const auto& all = series(symbol, period);
  const auto stretch = bars::by_time(all, time, 1);
  const bool found = stretch.from < stretch.to;
  if (!found || (exact && time >= all[stretch.from].time + PeriodSeconds(period))) {
    fail(ERR_HISTORY_NOT_FOUND);
    return -1;
  }
  return static_cast<int>(all.size()) - 1 - static_cast<int>(stretch.from);
}

int iHighest(const string& symbol, ENUM_TIMEFRAMES period, ENUM_SERIESMODE type, int count,
             int start) {
  return best_of(series(symbol, period), type, count, start,
                 [](double one, double other) { return one > other; });
}

int iLowest(const string& symbol, ENUM_TIMEFRAMES period, ENUM_SERIESMODE type, int count,
            int start) {
  return best_of(series(symbol, period), type, count, start,
                 [](double one, double other) { return one < other; });
}

int Bars(const string& symbol, ENUM_TIMEFRAMES period) {
  return iBars(symbol, period);
}

int Bars(const string& symbol, ENUM_TIMEFRAMES period, datetime start, datetime stop) {
  const auto stretch = bars::by_times(series(symbol, period), start, stop);
  return static_cast<int>(stretch.to - stretch.from);
}

long SeriesInfoInteger(const string& symbol, ENUM_TIMEFRAMES period,
                       ENUM_SERIES_INFO_INTEGER property) {
  const auto& all = series(symbol, period);
  if (property == SERIES_BARS_COUNT)
    return static_cast<long>(all.size());
  if (all.empty())
    return 0;
  if (property == SERIES_SYNCHRONIZED)
    return 1;
  return property == SERIES_LASTBAR_DATE ? all.back().time : all.front().time;
}

int iMA(const string& symbol, ENUM_TIMEFRAMES period, int length, int shift,
        ENUM_MA_METHOD method, ENUM_APPLIED_PRICE price) {
  return add_study(symbol, {bars::Study::Kind::average, nullptr, period, length, shift, method,
                            price});
}

int iRSI(const string& symbol, ENUM_TIMEFRAMES period, int length, ENUM_APPLIED_PRICE price) {
  return add_study(symbol, {bars::Study::Kind::rsi, nullptr, period, length, 0, MODE_SMMA, price});
}

int iATR(const string& symbol, ENUM_TIMEFRAMES period, int length) {
  return add_study(symbol, {bars::Study::Kind::atr, nullptr, period, length});
}

int CopyBuffer(int handle, int buffer, int start, int count, array_ref<double> values) {
  return copied_buffer(handle, buffer, values,
                       [=](const Series& all) { return bars::by_position(all, start, count); });
}

int CopyBuffer(int handle, int buffer, datetime start, int count, array_ref<double> values) {
  return copied_buffer(handle, buffer, values,
                       [=](const Series& all) { return bars::by_time(all, start, count); });
}

int CopyBuffer(int handle, int buffer, datetime start, datetime stop, array_ref<double> values) {
  return copied_buffer(handle, buffer, values,
                       [=](const Series& all) { return bars::by_times(all, start, stop); });
}

}  // namespace mql
