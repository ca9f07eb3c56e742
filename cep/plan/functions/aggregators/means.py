"""Exponential and weighted means of what arrives; null until `n` values have come."""

from __future__ import annotations

import math
from collections import deque
from typing import Any

from cep.plan.expressions import Aggregate
from cep.plan.functions.aggregators.lag import COMPILED_MAX
from cep.plan.functions.base import Aggregator, constant
from cep.plan.functions.exact_sums import ExactSum
from cep.plan.functions.limbs import SUM, limbs_add, limbs_add_sum, limbs_clear, limbs_over
from cep.plan.functions.native import CELLS, CLEARED, Cells, Floats, Ints
from cep.plan.functions.parameters import PERIOD, X
from cep.plan.functions.running import Following
from cep.plan.functions.smoothing import ExponentialMean, smoothed, span
from cep.plan.signatures import Signature
from cep.plan.types import Type


class Ema(Following):
    """The exponential mean with the share 2 / (n + 1)."""

    def __init__(self, n: int) -> None:
        self._mean = ExponentialMean(span(n), n)

    @property
    def value(self) -> float | None:
        return self._mean.value

    def add(self, value: float) -> None:
        self._mean.add(value)

    def clear(self) -> None:
        self._mean.clear()

    def state(self) -> Any:
        return self._mean.state()

    def restore(self, state: Any) -> None:
        self._mean.restore(state)


class Wma(Following):
    """The mean of the last `n` values weighted n for the newest, n - 1, .., 1; exact, O(1)."""

    def __init__(self, n: int) -> None:
        self._n = n
        self._recent: deque[float] = deque()
        self._total = ExactSum()
        self._weighted = ExactSum()

    @property
    def value(self) -> float | None:
        full = len(self._recent) == self._n
        return self._weighted.over(self._n * (self._n + 1) // 2) if full else None

    def add(self, value: float) -> None:
        if len(self._recent) == self._n:
            self._weighted.add_sum(self._total, -1)  # every weight one less
            self._total.add(self._recent.popleft(), -1)
        self._recent.append(value)
        self._total.add(value)
        self._weighted.add_product(value, len(self._recent))

    def clear(self) -> None:
        self._recent.clear()
        self._total.clear()
        self._weighted.clear()

    def state(self) -> Any:
        return list(self._recent)

    def restore(self, state: Any) -> None:
        self.clear()
        for value in state:
            self.add(value)


def ema_enter(i: Ints, f: Floats, row: int, ci: int, cf: int, value: float, n: int) -> None:
    if math.isnan(value):
        return
    f[row, cf] = smoothed(f[row, cf], value, 2.0 / (n + 1), i[row, ci])
    i[row, ci] += 1


def ema_value(i: Ints, f: Floats, row: int, ci: int, cf: int, n: int) -> float:
    return f[row, cf] if i[row, ci] >= n else math.nan


def wma_enter(i: Ints, f: Floats, row: int, ci: int, cf: int, value: float, n: int) -> None:
    """Cells: how many have come, the sums of the last n and of them weighted; the last n."""
    if math.isnan(value):
        return
    count, total, weighted = i[row, ci], ci + CLEARED, ci + CLEARED + SUM
    if count == 0:
        limbs_clear(i, row, total)
        limbs_clear(i, row, weighted)
    place = cf + count % n
    if count >= n:
        limbs_add_sum(i, row, weighted, total, -1)  # every weight one less
        limbs_add(i, row, total, f[row, place], 1, -1)
    f[row, place] = value
    limbs_add(i, row, total, value, 1, 1)
    limbs_add(i, row, weighted, value, min(count + 1, n), 1)
    i[row, ci] = count + 1


def wma_value(i: Ints, f: Floats, row: int, ci: int, cf: int, n: int) -> float:
    if i[row, ci] < n:
        return math.nan
    return limbs_over(i, row, ci + CLEARED + SUM, n * (n + 1) // 2)


def _wma_cells(aggregate: Aggregate) -> Cells | str:
    n = constant(aggregate)
    if n > COMPILED_MAX:
        return f"`wma` of more than {COMPILED_MAX} rows is not compiled"
    enter, value = f"wma_enter({CELLS}, {{0}}, {{n}})", f"wma_value({CELLS}, {{n}})"
    return Cells(CLEARED + 2 * SUM, n, enter, value)


EMA = Aggregator(
    Signature("ema", (X, PERIOD), "exponential mean, alpha 2 / (n + 1)", Type.DOUBLE),
    lambda aggregate: Ema(constant(aggregate)),
    "ema(x, 9)",
    Cells(1, 1, f"ema_enter({CELLS}, {{0}}, {{n}})", f"ema_value({CELLS}, {{n}})"),
    (ema_enter, ema_value),
    remembers="arrivals",
)
WMA = Aggregator(
    Signature("wma", (X, PERIOD), "mean of the last n, weighted n, n - 1, .., 1", Type.DOUBLE),
    lambda aggregate: Wma(constant(aggregate)),
    "wma(x, 9)",
    _wma_cells,
    (wma_enter, wma_value),
    remembers="arrivals",
)
