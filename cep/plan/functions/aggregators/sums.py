"""Sum, average and standard deviation, exact: each is the true value, rounded once."""

from __future__ import annotations

import math
from typing import Any

from cep.plan.expressions import Aggregate
from cep.plan.functions import left_sums
from cep.plan.functions.base import Aggregator
from cep.plan.functions.exact_sums import ExactMoments, ExactSum
from cep.plan.functions.native import Moments, WholeTotal
from cep.plan.functions.parameters import X, wide
from cep.plan.functions.running import Running
from cep.plan.functions.sql import ExactSums
from cep.plan.numbers import wrap_long
from cep.plan.signatures import Signature
from cep.plan.types import Type


class WholeSum(Running):
    """The sum of ints or longs; it wraps at 64 bits, and is null of nothing."""

    def __init__(self) -> None:
        self._count = 0
        self._total = 0

    @property
    def value(self) -> int | None:
        return wrap_long(self._total) if self._count else None

    @property
    def is_empty(self) -> bool:
        return not self._count and not self._total

    def add(self, value: int) -> None:
        self._count += 1
        self._total += value

    def remove(self, value: int) -> None:
        self._count -= 1
        self._total -= value

    def clear(self) -> None:
        self._count = self._total = 0

    def state(self) -> Any:
        return [self._count, str(self._total)]

    def restore(self, state: Any) -> None:
        self._count = state[0]
        self._total = int(state[1])


class RealSum(Running):
    """The sum of floats or doubles, null of nothing."""

    def __init__(self) -> None:
        self._count = 0
        self._total = ExactSum()

    @property
    def value(self) -> float | None:
        return self._total.over(1) if self._count else None

    @property
    def is_empty(self) -> bool:
        return not self._count and self._total.is_zero

    def add(self, value: float) -> None:
        self._count += 1
        self._total.add(value)

    def remove(self, value: float) -> None:
        self._count -= 1
        self._total.add(value, -1)

    def clear(self) -> None:
        self._count = 0
        self._total.clear()

    def state(self) -> Any:
        return [self._count, self._total.state()]

    def restore(self, state: Any) -> None:
        self._count = state[0]
        self._total.restore(state[1])


class Average(RealSum):
    """The mean, null of nothing."""

    @property
    def value(self) -> float | None:
        return self._total.over(self._count) if self._count else None


class Deviation(Running):
    """The standard deviation of the population; 0 of one value, null of nothing."""

    def __init__(self) -> None:
        self._moments = ExactMoments()

    @property
    def value(self) -> float | None:
        return self._moments.deviation

    @property
    def is_empty(self) -> bool:
        return self._moments.is_empty

    def add(self, value: float) -> None:
        self._moments.add(value)

    def remove(self, value: float) -> None:
        self._moments.add(value, -1)

    def clear(self) -> None:
        self._moments.clear()

    def state(self) -> Any:
        return self._moments.state()

    def restore(self, state: Any) -> None:
        self._moments.restore(state)


class SiddhiDeviation(Running):
    """`stdDev` from running sums that drift, so that it may be NaN of equal values."""

    def __init__(self) -> None:
        self.clear()

    @property
    def value(self) -> float | None:
        if not self._count:
            return None
        if self._count == 1:
            return 0.0
        variance = self._scatter / self._count
        return math.sqrt(variance) if variance >= 0 else math.nan

    @property
    def is_empty(self) -> bool:
        return not (self._count or self._total or self._mean or self._scatter)

    def add(self, value: float) -> None:
        self._move(value, 1)
        if self._count == 1:
            self._total = self._mean = float(value)
            self._scatter = 0.0

    def remove(self, value: float) -> None:
        self._move(value, -1)

    def _move(self, value: float, sign: int) -> None:
        self._count += sign
        if not self._count:
            if sign < 0:
                self.clear()
            return
        before = self._mean
        self._total += sign * value
        self._mean = self._total / self._count
        self._scatter += sign * (value - before) * (value - self._mean)

    def clear(self) -> None:
        self._count = 0
        self._total = self._mean = self._scatter = 0.0

    def state(self) -> Any:
        return [self._count, self._total, self._mean, self._scatter]

    def restore(self, state: Any) -> None:
        self._count, self._total, self._mean, self._scatter = state


def _is_whole(aggregate: Aggregate) -> bool:
    return aggregate.type is Type.LONG


SUM = Aggregator(
    Signature("sum", (X,), "the sum; long for whole numbers, else double", wide),
    lambda aggregate: WholeSum() if _is_whole(aggregate) else RealSum(),
    "sum(x)",
    lambda aggregate: WholeTotal() if _is_whole(aggregate) else Moments("moments_total"),
    left_sums.KERNELS,
    ExactSums("sum"),
    is_calendar=True,
    native_left=left_sums.LEFT_TOTAL,
)
AVG = Aggregator(
    Signature("avg", (X,), "the mean", Type.DOUBLE),
    lambda aggregate: Average(),
    "avg(x)",
    Moments("moments_mean"),
    sql=ExactSums("avg"),
    is_calendar=True,
    native_left=left_sums.LEFT_MEAN,
)
STD_DEV = Aggregator(
    Signature("stdDev", (X,), "the standard deviation of the population", Type.DOUBLE),
    lambda aggregate: Deviation(),
    "stdDev(x)",
    Moments("moments_deviation", squares=True),
    sql=ExactSums("stdDev"),
    is_calendar=True,
    plain_siddhi=lambda aggregate: SiddhiDeviation(),
    native_left=left_sums.LEFT_DEVIATION,
)
