"""Aggregators as Siddhi has them, with their defects, for `@app:compat('siddhi')`."""

from __future__ import annotations

import math
from collections import deque
from typing import Any

from cep.interpreter.aggregators.base import OfOne
from cep.interpreter.aggregators.counts import DistinctCount
from cep.interpreter.aggregators.extremes import ExtremeForever
from cep.interpreter.aggregators.truths import All, One, Truth
from cep.interpreter.groups import group_of
from cep.interpreter.rows import Evaluator, Row


class SiddhiExtreme(OfOne):
    """`min`, or with `sign` -1 `max`, of a queue that forgets what a newer value surpasses.

    So it is wrong where rows do not leave in the order they came (`sort`), and where equal values
    come twice: the first to leave takes the other with it.
    """

    def __init__(self, argument: Evaluator, sign: int) -> None:
        super().__init__(argument)
        self._sign = sign
        self._queue: deque[Any] = deque()
        self._value: Any = None

    @property
    def value(self) -> Any:
        return self._value

    @property
    def is_empty(self) -> bool:
        return not self._queue and self._value is None

    def add(self, value: Any) -> None:
        while self._queue and self._sign * self._queue[-1] > self._sign * value:
            self._queue.pop()
        self._queue.append(value)
        if self._value is None or self._sign * self._value > self._sign * value:
            self._value = value

    def remove(self, value: Any) -> None:
        if value in self._queue:
            self._queue.remove(value)
        self._value = self._queue[0] if self._queue else None

    def clear(self) -> None:
        self._queue.clear()
        self._value = None

    def state(self) -> Any:
        return [list(self._queue), self._value]

    def restore(self, state: Any) -> None:
        queue, self._value = state
        self._queue = deque(queue)


class SiddhiForever(ExtremeForever):
    """`minForever`, `maxForever`: a batch window's reset makes them begin again."""

    def clear(self) -> None:
        self._value = None


class SiddhiDeviation(OfOne):
    """`stdDev` from running sums that drift, so that it may be NaN of equal values."""

    def __init__(self, argument: Evaluator) -> None:
        super().__init__(argument)
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


class NeedsFlags(Truth):
    """A flag that is null fails: its row is lost, with what came with it."""

    def enter(self, row: Row) -> bool:
        self._check(row)
        return super().enter(row)  # type: ignore[no-any-return]

    def leave(self, row: Row) -> bool:
        self._check(row)
        return super().leave(row)  # type: ignore[no-any-return]

    def _check(self, row: Row) -> None:
        if self._argument(row) is None:
            raise ValueError("`and` and `or` take no null in Siddhi")


class SiddhiAll(NeedsFlags, All):
    """`and`."""


class SiddhiOne(NeedsFlags, One):
    """`or`."""


class SiddhiDistinctCount(DistinctCount):
    """`distinctCount`: a value that goes without having come fails, and its row is lost."""

    def leave(self, row: Row) -> int:
        if group_of([self._argument(row)]) not in self._counts:
            raise ValueError("`distinctCount` lets nothing go in Siddhi that has not come")
        return super().leave(row)
