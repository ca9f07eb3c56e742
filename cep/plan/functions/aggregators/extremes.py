"""Smallest and largest value: of what is in the window, or of all that ever came."""

from __future__ import annotations

import heapq
import math
from collections import Counter, deque
from collections.abc import Callable
from typing import Any, Literal

from cep.plan.expressions import Aggregate
from cep.plan.functions.base import Aggregator
from cep.plan.functions.native import CELLS, NULL, Cells, Extreme, Floats, Ints
from cep.plan.functions.parameters import X, first
from cep.plan.functions.running import Following, Running
from cep.plan.functions.sql import Looked
from cep.plan.functions.sql import Record as SqlRecord
from cep.plan.signatures import Signature


class Smallest(Running):
    """The smallest value, or with `sign` -1 the largest; rows may leave in any order.

    A heap that forgets values when they come to its top: O(log n) a row.
    """

    def __init__(self, sign: int) -> None:
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


class Record(Following):
    """The smallest value ever, or with `sign` -1 the largest; nothing makes it forget."""

    def __init__(self, sign: int) -> None:
        self._sign = sign
        self._value: Any = None

    @property
    def value(self) -> Any:
        return self._value

    def add(self, value: Any) -> None:
        if self._value is None or self._sign * value < self._sign * self._value:
            self._value = value

    def clear(self) -> None:
        """Nothing is forgotten."""

    def state(self) -> Any:
        return self._value

    def restore(self, state: Any) -> None:
        self._value = state


class SiddhiExtreme(Running):
    """`min`, or with `sign` -1 `max`, of a queue that forgets what a newer value surpasses.

    So it is wrong where rows do not leave in the order they came (`sort`), and where equal values
    come twice: the first to leave takes the other with it.
    """

    def __init__(self, sign: int) -> None:
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


class SiddhiForever(Record):
    """`minForever`, `maxForever`: a batch window's reset makes them begin again."""

    def clear(self) -> None:
        self._value = None


def record_enter(i: Ints, f: Floats, row: int, ci: int, cf: int, value: float, sign: float) -> None:
    """The largest value ever, or with sign -1 the smallest."""
    if not math.isnan(value) and (i[row, ci] == 0 or sign * value > sign * f[row, cf]):
        f[row, cf] = value
        i[row, ci] = 1


def record_value(i: Ints, f: Floats, row: int, ci: int, cf: int) -> float:
    return f[row, cf] if i[row, ci] > 0 else math.nan


def record_enter_int(i: Ints, row: int, ci: int, value: int, sign: int) -> None:
    if value != NULL and (i[row, ci] == 0 or sign * value > sign * i[row, ci + 1]):
        i[row, ci + 1] = value
        i[row, ci] = 1


def record_value_int(i: Ints, row: int, ci: int) -> int:
    return i[row, ci + 1] if i[row, ci] > 0 else NULL


def _record(sign: int) -> Callable[[Aggregate], Cells]:
    def cells(aggregate: Aggregate) -> Cells:
        if aggregate.type.is_real:
            enter, value = f"record_enter({CELLS}, {{0}}, {sign})", f"record_value({CELLS})"
            return Cells(1, 1, enter, value)
        at = "{i}, {row}, {ci}"
        enter, value = f"record_enter_int({at}, {{0}}, {sign})", f"record_value_int({at})"
        return Cells(2, 0, enter, value, as_float=False)

    return cells


def _in_window(name: Literal["min", "max"], doc: str, sign: int) -> Aggregator:
    return Aggregator(
        Signature(name, (X,), doc, first),
        lambda aggregate: Smallest(-sign),
        f"{name}(x)",
        Extreme(sign),
        (),
        Looked(lambda sql, value, frame: frame(getattr(sql.func, name)(value)), name),
        is_calendar=True,
        plain_ever=lambda aggregate: Record(-sign),
        plain_siddhi=lambda aggregate: SiddhiExtreme(-sign),
    )


def _ever(name: Literal["min", "max"], doc: str, sign: int) -> Aggregator:
    return Aggregator(
        Signature(f"{name}Forever", (X,), doc, first),
        lambda aggregate: Record(-sign),
        f"{name}Forever(x)",
        _record(sign),
        (record_enter, record_value, record_enter_int, record_value_int),
        SqlRecord(name),
        remembers="ever",
        plain_siddhi=lambda aggregate: SiddhiForever(-sign),
    )


MIN = _in_window("min", "the smallest value", -1)
MAX = _in_window("max", "the largest value", 1)
MIN_FOREVER = _ever("min", "the smallest value ever, whatever leaves", -1)
MAX_FOREVER = _ever("max", "the largest value ever, whatever leaves", 1)
