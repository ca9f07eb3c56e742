"""Smallest and largest value: of what is in the window, or of all that ever came."""

from __future__ import annotations

import heapq
from collections import Counter
from typing import Any

from cep.interpreter.aggregators.base import OfOne
from cep.interpreter.rows import Evaluator, Row


class Extreme(OfOne):
    """The smallest value, or with `sign` -1 the largest; rows may leave in any order.

    A heap that forgets values when they come to its top: O(log n) a row.
    """

    def __init__(self, argument: Evaluator, sign: int) -> None:
        super().__init__(argument)
        self._sign = sign
        self._heap: list[Any] = []
        self._counts: Counter[Any] = Counter()

    @property
    def value(self) -> Any:
        heap, counts = self._heap, self._counts
        while heap and self._sign * heap[0] not in counts:
            heapq.heappop(heap)
        return self._sign * heap[0] if heap else None

    @property
    def is_empty(self) -> bool:
        return not self._counts

    def add(self, value: Any) -> None:
        if value not in self._counts:
            heapq.heappush(self._heap, self._sign * value)
        self._counts[value] += 1

    def remove(self, value: Any) -> None:
        self._counts[value] -= 1
        if self._counts[value] <= 0:
            del self._counts[value]
            self._tidy()

    def clear(self) -> None:
        self._heap.clear()
        self._counts.clear()

    def state(self) -> Any:
        return [[value, count] for value, count in self._counts.items()]

    def restore(self, state: Any) -> None:
        self._counts = Counter(dict(state))
        self._rebuild()

    def _tidy(self) -> None:
        """Throw out what has gone, when it is more than half of the heap."""
        if len(self._heap) > 2 * len(self._counts) + 16:
            self._rebuild()

    def _rebuild(self) -> None:
        self._heap = [self._sign * value for value in self._counts]
        heapq.heapify(self._heap)


class ExtremeForever(OfOne):
    """The smallest value ever, or with `sign` -1 the largest; nothing makes it forget."""

    def __init__(self, argument: Evaluator, sign: int) -> None:
        super().__init__(argument)
        self._sign = sign
        self._value: Any = None

    @property
    def value(self) -> Any:
        return self._value

    def add(self, value: Any) -> None:
        if self._value is None or self._sign * value < self._sign * self._value:
            self._value = value

    def leave(self, row: Row) -> Any:
        """A row that leaves counts as well: in Siddhi too, where it may not have come before."""
        return self.enter(row)

    def remove(self, value: Any) -> None:
        """Nothing goes."""

    def clear(self) -> None:
        """Nothing is forgotten."""

    def state(self) -> Any:
        return self._value

    def restore(self, state: Any) -> None:
        self._value = state
