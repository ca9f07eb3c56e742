"""Aggregates that are neither sums nor extremes of a window: indicators, weighted prices, truths.

Cells lie in an int array from column `ci` and in a float array from `cf` of one row. Indicators
follow what arrives; the formulas and the order of operations are those of the interpreter, so that
both give the same numbers. RSI and ATR: J. W. Wilder, "New Concepts in Technical Trading Systems"
(1978).
"""

from __future__ import annotations

import math

from cep.engine.jit import inline
from cep.engine.kernels.exact import add_pair, divide_pair, two_product
from cep.engine.kernels.scalar import NULL
from cep.engine.kernels.state import Floats, Ints


@inline
def smoothed(mean: float, value: float, alpha: float, count: int) -> float:
    """The exponential mean of `count` values after one more."""
    return mean + alpha * (value - mean) if count > 0 else value


@inline
def ema_enter(i: Ints, f: Floats, row: int, ci: int, cf: int, value: float, n: int) -> None:
    if math.isnan(value):
        return
    f[row, cf] = smoothed(f[row, cf], value, 2.0 / (n + 1), i[row, ci])
    i[row, ci] += 1


@inline
def ema_value(i: Ints, f: Floats, row: int, ci: int, cf: int, n: int) -> float:
    return f[row, cf] if i[row, ci] >= n else math.nan


@inline
def rsi_enter(i: Ints, f: Floats, row: int, ci: int, cf: int, value: float, n: int) -> None:
    """Cells: the last value, the means of rises and of falls."""
    if math.isnan(value):
        return
    count = i[row, ci]
    step = value - f[row, cf] if count > 0 else 0.0
    f[row, cf + 1] = smoothed(f[row, cf + 1], max(step, 0.0), 1.0 / n, count)
    f[row, cf + 2] = smoothed(f[row, cf + 2], max(-step, 0.0), 1.0 / n, count)
    f[row, cf] = value
    i[row, ci] = count + 1


@inline
def rsi_value(i: Ints, f: Floats, row: int, ci: int, cf: int, n: int) -> float:
    if i[row, ci] < n:
        return math.nan
    if f[row, cf + 2] == 0.0:
        return 100.0
    return 100.0 - 100.0 / (1.0 + f[row, cf + 1] / f[row, cf + 2])


@inline
def atr_enter(
    i: Ints, f: Floats, row: int, ci: int, cf: int, high: float, low: float, close: float, n: int
) -> None:
    """Cells: the last close, the mean, the sum of the first n ranges as a pair."""
    if math.isnan(high) or math.isnan(low) or math.isnan(close):
        return
    span = high - low
    if i[row, ci] > 0:
        span = max(span, abs(high - f[row, cf]), abs(low - f[row, cf]))
    f[row, cf] = close
    i[row, ci] += 1
    if i[row, ci] > n:
        f[row, cf + 1] = (f[row, cf + 1] * (n - 1) + span) / n
        return
    f[row, cf + 2], f[row, cf + 3] = add_pair(f[row, cf + 2], f[row, cf + 3], span, 0.0)
    whole, rest = divide_pair(f[row, cf + 2], f[row, cf + 3], float(n))
    f[row, cf + 1] = whole + rest


@inline
def atr_value(i: Ints, f: Floats, row: int, ci: int, cf: int, n: int) -> float:
    return f[row, cf + 1] if i[row, ci] >= n else math.nan


@inline
def lag_enter(i: Ints, f: Floats, row: int, ci: int, cf: int, value: int, n: int) -> None:
    """Cells: how many rows have come, the value n rows earlier, the last n values in turn."""
    count = i[row, ci]
    place = ci + 2 + count % n
    i[row, ci + 1] = i[row, place] if count >= n else NULL
    i[row, place] = value
    i[row, ci] = count + 1


@inline
def lag_value(i: Ints, f: Floats, row: int, ci: int, cf: int, n: int) -> int:
    return i[row, ci + 1]


@inline
def lag_enter_float(i: Ints, f: Floats, row: int, ci: int, cf: int, value: float, n: int) -> None:
    count = i[row, ci]
    place = cf + 1 + count % n
    f[row, cf] = f[row, place] if count >= n else math.nan
    f[row, place] = value
    i[row, ci] = count + 1


@inline
def lag_value_float(i: Ints, f: Floats, row: int, ci: int, cf: int, n: int) -> float:
    return f[row, cf]


@inline
def vwap_enter(
    i: Ints, f: Floats, row: int, ci: int, cf: int, price: float, volume: float, sign: float
) -> None:
    """A trade comes (sign 1) or goes (-1); cells: the sums of turnover and of volume as pairs."""
    if math.isnan(price) or math.isnan(volume):
        return
    i[row, ci] += int(sign)
    if i[row, ci] == 0 or (i[row, ci] == 1 and sign > 0.0):
        f[row, cf] = f[row, cf + 1] = f[row, cf + 2] = f[row, cf + 3] = 0.0
    if i[row, ci] == 0:
        return
    p, e = two_product(sign * price, volume)
    f[row, cf], f[row, cf + 1] = add_pair(f[row, cf], f[row, cf + 1], p, e)
    f[row, cf + 2], f[row, cf + 3] = add_pair(f[row, cf + 2], f[row, cf + 3], sign * volume, 0.0)


@inline
def vwap_value(i: Ints, f: Floats, row: int, ci: int, cf: int) -> float:
    """Turnover by volume, rounded once; null of nothing and of no volume."""
    volume = f[row, cf + 2]
    if i[row, ci] == 0 or volume == 0.0:
        return math.nan
    q = f[row, cf] / volume
    p, e = two_product(q, volume)
    rest = ((f[row, cf] - p) - e) + f[row, cf + 1] - q * f[row, cf + 3]
    return q + rest / volume


@inline
def truth_enter(i: Ints, row: int, ci: int, value: int, sign: int) -> None:
    """A flag comes or goes; cells: how many are false, how many true."""
    if value != NULL:
        i[row, ci + value] += sign


@inline
def all_true(i: Ints, row: int, ci: int) -> int:
    return int(i[row, ci + 1] > 0 and i[row, ci] == 0)


@inline
def one_true(i: Ints, row: int, ci: int) -> int:
    return int(i[row, ci + 1] > 0)


@inline
def record_enter(i: Ints, f: Floats, row: int, ci: int, cf: int, value: float, sign: float) -> None:
    """The largest value ever, or with sign -1 the smallest."""
    if not math.isnan(value) and (i[row, ci] == 0 or sign * value > sign * f[row, cf]):
        f[row, cf] = value
        i[row, ci] = 1


@inline
def record_value(i: Ints, f: Floats, row: int, ci: int, cf: int) -> float:
    return f[row, cf] if i[row, ci] > 0 else math.nan


@inline
def record_enter_int(i: Ints, row: int, ci: int, value: int, sign: int) -> None:
    if value != NULL and (i[row, ci] == 0 or sign * value > sign * i[row, ci + 1]):
        i[row, ci + 1] = value
        i[row, ci] = 1


@inline
def record_value_int(i: Ints, row: int, ci: int) -> int:
    return i[row, ci + 1] if i[row, ci] > 0 else NULL
