"""Median and percentiles: values kept in order."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from typing import Any

from cep.plan.functions.base import Aggregator, constant
from cep.plan.functions.native import Kept
from cep.plan.functions.parameters import X
from cep.plan.functions.running import Running
from cep.plan.signatures import NUMBER, Parameter, Signature
from cep.plan.types import Type

MIDDLE = 50.0


class Percentile(Running):
    """The value below which `percent` of the values lie, linear between neighbours.

    Null of nothing. O(log n) comparisons a row.
    """

    def __init__(self, percent: float) -> None:
        self._share = min(percent, 100.0) / 100.0
        self._ordered: list[float] = []

    @property
    def value(self) -> float | None:
        if not self._ordered:
            return None
        place = self._share * (len(self._ordered) - 1)
        below = math.floor(place)
        low, high = self._ordered[below], self._ordered[math.ceil(place)]
        return float(low) if low == high else low + (high - low) * (place - below)

    @property
    def is_empty(self) -> bool:
        return not self._ordered

    def add(self, value: float) -> None:
        insort(self._ordered, value)

    def remove(self, value: float) -> None:
        position = bisect_left(self._ordered, value)
        if position < len(self._ordered) and self._ordered[position] == value:
            del self._ordered[position]

    def clear(self) -> None:
        self._ordered.clear()

    def state(self) -> Any:
        return self._ordered

    def restore(self, state: Any) -> None:
        self._ordered = list(state)


PERCENT = Parameter("p", NUMBER, "constant", least=0)

MEDIAN = Aggregator(
    Signature("median", (X,), "the middle value; the mean of the middle two", Type.DOUBLE),
    lambda aggregate: Percentile(MIDDLE),
    "median(x)",
    Kept(is_ranked=True, percent=MIDDLE),
)
PERCENTILE = Aggregator(
    Signature(
        "percentile",
        (X, PERCENT),
        "the value below which `p` percent lie, interpolated linearly",
        Type.DOUBLE,
    ),
    lambda aggregate: Percentile(constant(aggregate)),
    "percentile(x, 90)",
    lambda aggregate: Kept(is_ranked=True, percent=float(constant(aggregate))),
)
