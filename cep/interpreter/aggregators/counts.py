"""How many rows, how many different values, and which."""

from __future__ import annotations

from collections import Counter
from typing import Any

from cep.interpreter.aggregators.base import Aggregator, OfOne
from cep.interpreter.groups import group_of
from cep.interpreter.rows import Evaluator, Row


class Count(Aggregator):
    """The number of rows, those with nulls too."""

    def __init__(self) -> None:
        self._count = 0

    @property
    def value(self) -> int:
        return self._count

    def enter(self, row: Row) -> int:
        self._count += 1
        return self._count

    def leave(self, row: Row) -> int:
        self._count -= 1
        return self._count

    def reset(self) -> int:
        self._count = 0
        return 0

    def state(self) -> Any:
        return self._count

    def restore(self, state: Any) -> None:
        self._count = state


class DistinctCount(Aggregator):
    """The number of different values; null is one of them, as in Siddhi."""

    def __init__(self, argument: Evaluator) -> None:
        self._argument = argument
        self._counts: Counter[Any] = Counter()

    @property
    def value(self) -> int:
        return len(self._counts)

    @property
    def is_empty(self) -> bool:
        return not self._counts

    def enter(self, row: Row) -> int:
        self._counts[group_of([self._argument(row)])] += 1
        return len(self._counts)

    def leave(self, row: Row) -> int:
        key = group_of([self._argument(row)])
        self._counts[key] -= 1
        if self._counts[key] <= 0:
            del self._counts[key]
        return len(self._counts)

    def reset(self) -> int:
        self._counts.clear()
        return 0

    def state(self) -> Any:
        return [[list(key), count] for key, count in self._counts.items()]

    def restore(self, state: Any) -> None:
        self._counts = Counter({group_of(key): count for key, count in state})


class UnionSet(OfOne):
    """The union of the sets that are in the window."""

    def __init__(self, argument: Evaluator) -> None:
        super().__init__(argument)
        self._counts: Counter[Any] = Counter()

    @property
    def value(self) -> set[Any]:
        return set(self._counts)

    def add(self, value: set[Any]) -> None:
        self._counts.update(value)

    def remove(self, value: set[Any]) -> None:
        self._counts.subtract(value)
        self._counts += Counter()  # drops what has come to nothing

    def clear(self) -> None:
        self._counts.clear()

    def state(self) -> Any:
        return [[value, count] for value, count in self._counts.items()]

    def restore(self, state: Any) -> None:
        self._counts = Counter(dict(state))
