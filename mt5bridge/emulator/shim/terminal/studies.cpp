// Values of the built-in indicators, as the examples that come with the terminal compute them.
#include <algorithm>
#include <cmath>

#include "bars.hpp"

namespace mql::bars {
namespace {

using Values = std::vector<double>;

double applied(const MqlRates& bar, ENUM_APPLIED_PRICE price) {
  switch (price) {
    case PRICE_OPEN:
      return bar.open;
    case PRICE_HIGH:
      return bar.high;
    case PRICE_LOW:
      return bar.low;
    case PRICE_MEDIAN:
      return (bar.high + bar.low) / 2;
    case PRICE_TYPICAL:
      return (bar.high + bar.low + bar.close) / 3;
    case PRICE_WEIGHTED:
      return (bar.high + bar.low + 2 * bar.close) / 4;
    default:
      return bar.close;
  }
}

Values prices_of(const Study& study) {
  Values prices;
  for (const auto& bar : of(*study.symbol, study.period))
    prices.push_back(applied(bar, study.price));
  return prices;
}

// The mean of `length` values up to `at`; the newest counts `length` times where it is `weighted`.
double mean(const Values& values, std::size_t at, std::size_t length, bool weighted) {
  double sum = 0, weights = 0;
  for (std::size_t nth = 1; nth <= length; ++nth) {
    const double weight = weighted ? static_cast<double>(nth) : 1;
    sum += weight * values[at - length + nth];
    weights += weight;
  }
  return sum / weights;
}

// The first value is the mean; then the one before moves towards the newest value by a share.
double smoothed(double before, double value, double share) {
  return before + (value - before) * share;
}

Values average(const Values& prices, std::size_t length, ENUM_MA_METHOD method) {
  Values found(prices.size(), EMPTY_VALUE);
  const double share = method == MODE_EMA ? 2.0 / (static_cast<double>(length) + 1)
                                          : 1.0 / static_cast<double>(length);
  const bool recursive = method == MODE_EMA || method == MODE_SMMA;
  double before = prices.empty() ? 0 : prices[0];
  for (std::size_t at = 0; at < prices.size(); ++at) {
    if (method == MODE_EMA)
      before = smoothed(before, prices[at], share);
    if (at + 1 < length)
      continue;
    if (!recursive || (method == MODE_SMMA && at + 1 == length))
      before = mean(prices, at, length, method == MODE_LWMA);
    else if (method == MODE_SMMA)
      before = smoothed(before, prices[at], share);
    found[at] = before;
  }
  return found;
}

Values strength(const Values& prices, std::size_t length) {
  Values gains, losses;
  for (std::size_t at = 1; at < prices.size(); ++at) {
    gains.push_back(std::max(0.0, prices[at] - prices[at - 1]));
    losses.push_back(std::max(0.0, prices[at - 1] - prices[at]));
  }
  const auto gain = average(gains, length, MODE_SMMA), loss = average(losses, length, MODE_SMMA);
  Values found(prices.size(), EMPTY_VALUE);
  for (std::size_t at = length; at < prices.size(); ++at) {
    const double up = gain[at - 1], down = loss[at - 1];
    found[at] = down != 0 ? 100 - 100 / (1 + up / down) : up != 0 ? 100 : 50;
  }
  return found;
}

// The mean true range: from the close before to high and low, where those do not include it.
Values range(const Series& bars, std::size_t length) {
  Values ranges;
  for (std::size_t at = 1; at < bars.size(); ++at)
    ranges.push_back(std::max(+bars[at].high, +bars[at - 1].close) -
                     std::min(+bars[at].low, +bars[at - 1].close));
  auto found = average(ranges, length, MODE_SMA);
  if (!bars.empty())
    found.insert(found.begin(), EMPTY_VALUE);
  return found;
}

// To the right by so many bars, or to the left.
Values shifted(const Values& values, int shift) {
  const auto size = static_cast<int>(values.size());
  Values found(values.size(), EMPTY_VALUE);
  for (int at = std::max(0, shift); at < std::min(size, size + shift); ++at)
    found[static_cast<std::size_t>(at)] = values[static_cast<std::size_t>(at - shift)];
  return found;
}

}  // namespace

std::vector<double> computed(const Study& study) {
  const auto length = static_cast<std::size_t>(study.length);
  switch (study.kind) {
    case Study::Kind::rsi:
      return strength(prices_of(study), length);
    case Study::Kind::atr:
      return range(of(*study.symbol, study.period), length);
    default:
      return shifted(average(prices_of(study), length, study.method), study.shift);
  }
}

}  // namespace mql::bars
