"""Wilder's indicators of what arrives, RSI and ATR; null until `n` values have come.

Source: J. W. Wilder, "New Concepts in Technical Trading Systems" (1978).
"""

from __future__ import annotations

import math
from typing import Any

from cep.plan.functions.base import Aggregator, constant
from cep.plan.functions.exact_sums import ExactSum
from cep.plan.functions.native import CELLS, Cells, Floats, Ints
from cep.plan.functions.pairs import add_pair, divide_pair
from cep.plan.functions.parameters import PERIOD, X
from cep.plan.functions.running import Following
from cep.plan.functions.smoothing import ExponentialMean, smoothed
from cep.plan.signatures import NUMBER, Parameter, Signature
from cep.plan.types import Type


class Rsi(Following):
    """100 - 100 / (1 + rises / falls), each an exponential mean with the share 1 / n.

    The first value counts as a step of nothing; without falls it is 100.
    """

    def __init__(self, n: int) -> None:
        self._last: float | None = None
        self._rise = ExponentialMean(1.0 / n, n)
        self._fall = ExponentialMean(1.0 / n, n)

    @property
    def value(self) -> float | None:
        rise, fall = self._rise.value, self._fall.value
        if rise is None or fall is None:
            return None
        return 100.0 if fall == 0.0 else 100.0 - 100.0 / (1.0 + rise / fall)

    def add(self, value: float) -> None:
        step = 0.0 if self._last is None else value - self._last
        self._rise.add(max(step, 0.0))
        self._fall.add(max(-step, 0.0))
        self._last = value

    def clear(self) -> None:
        self._last = None
        self._rise.clear()
        self._fall.clear()

    def state(self) -> Any:
        return [self._last, self._rise.state(), self._fall.state()]

    def restore(self, state: Any) -> None:
        self._last = state[0]
        self._rise.restore(state[1])
        self._fall.restore(state[2])


class Atr(Following):
    """The mean of the first `n` true ranges; from then each range moves it by 1 / n."""

    def __init__(self, n: int) -> None:
        self._n = n
        self.clear()

    def clear(self) -> None:
        self._close: float | None = None
        self._count = 0
        self._mean = 0.0
        self._first = ExactSum()

    @property
    def value(self) -> float | None:
        return self._mean if self._count >= self._n else None

    def add(self, high: float, low: float, close: float) -> None:
        self._move(self._true_range(high, low))
        self._close = close

    def _true_range(self, high: float, low: float) -> float:
        if self._close is None:
            return high - low
        return max(high - low, abs(high - self._close), abs(low - self._close))

    def _move(self, true_range: float) -> None:
        self._count += 1
        if self._count > self._n:
            self._mean = (self._mean * (self._n - 1) + true_range) / self._n
            return
        self._first.add(true_range)
        self._mean = self._first.over(self._n) or 0.0

    def state(self) -> Any:
        return [self._close, self._count, self._mean, self._first.state()]

    def restore(self, state: Any) -> None:
        self._close, self._count, self._mean = state[:3]
        self._first.restore(state[3])


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


def rsi_value(i: Ints, f: Floats, row: int, ci: int, cf: int, n: int) -> float:
    if i[row, ci] < n:
        return math.nan
    if f[row, cf + 2] == 0.0:
        return 100.0
    return 100.0 - 100.0 / (1.0 + f[row, cf + 1] / f[row, cf + 2])


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


def atr_value(i: Ints, f: Floats, row: int, ci: int, cf: int, n: int) -> float:
    return f[row, cf + 1] if i[row, ci] >= n else math.nan


BAR = (Parameter("high", NUMBER), Parameter("low", NUMBER), Parameter("close", NUMBER))

RSI = Aggregator(
    Signature("rsi", (X, PERIOD), "relative strength index of Wilder, 0 to 100", Type.DOUBLE),
    lambda aggregate: Rsi(constant(aggregate)),
    "rsi(x, 9)",
    Cells(1, 3, f"rsi_enter({CELLS}, {{0}}, {{n}})", f"rsi_value({CELLS}, {{n}})"),
    (rsi_enter, rsi_value),
    remembers="arrivals",
)
ATR = Aggregator(
    Signature("atr", (*BAR, PERIOD), "average true range of Wilder", Type.DOUBLE),
    lambda aggregate: Atr(constant(aggregate)),
    "atr(x, x, y, 9)",
    Cells(1, 4, f"atr_enter({CELLS}, {{0}}, {{1}}, {{2}}, {{n}})", f"atr_value({CELLS}, {{n}})"),
    (atr_enter, atr_value),
    remembers="arrivals",
)
