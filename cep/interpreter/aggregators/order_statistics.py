"""Median and percentiles: values kept in order."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from typing import Any

from cep.interpreter.aggregators.base import OfOne
from cep.interpreter.rows import Evaluator

MEDIAN = 50.0


class Percentile(OfOne):
    """The value below which `percent` of the values lie, linear between neighbours.

    Null of nothing. O(log n) comparisons a row.
    """

    def __init__(self, argument: Evaluator, percent: float) -> None:
        super().__init__(argument)
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
