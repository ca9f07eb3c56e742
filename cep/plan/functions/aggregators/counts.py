"""How many rows, how many different values, and which."""

from __future__ import annotations

from collections import Counter
from typing import Any

from cep.plan.expressions import Constant
from cep.plan.functions.base import Aggregator
from cep.plan.functions.native import Kept
from cep.plan.functions.running import Running
from cep.plan.functions.sql import Element, Looked, Sql
from cep.plan.groups import group_of
from cep.plan.signatures import ANY, Parameter, Signature
from cep.plan.types import Type


class Rows(Running):
    """The number of rows, those with nulls too."""

    def __init__(self) -> None:
        self._count = 0

    @property
    def value(self) -> int:
        return self._count

    def add(self) -> None:
        self._count += 1

    def remove(self) -> None:
        self._count -= 1

    def clear(self) -> None:
        self._count = 0

    def state(self) -> Any:
        return self._count

    def restore(self, state: Any) -> None:
        self._count = state


class Distinct(Running):
    """The number of different values; null is one of them, as in Siddhi."""

    def __init__(self) -> None:
        self._counts: Counter[Any] = Counter()

    @property
    def value(self) -> int:
        return len(self._counts)

    @property
    def is_empty(self) -> bool:
        return not self._counts

    def add(self, value: Any) -> None:
        self._counts[group_of([value])] += 1

    def remove(self, value: Any) -> None:
        key = group_of([value])
        self._counts[key] -= 1
        if self._counts[key] <= 0:
            del self._counts[key]

    def clear(self) -> None:
        self._counts.clear()

    def state(self) -> Any:
        return [[list(key), count] for key, count in self._counts.items()]

    def restore(self, state: Any) -> None:
        self._counts = Counter({group_of(key): count for key, count in state})


class SiddhiDistinct(Distinct):
    """A value that goes without having come fails, and its row is lost."""

    def remove(self, value: Any) -> None:
        if group_of([value]) not in self._counts:
            raise ValueError("`distinctCount` lets nothing go in Siddhi that has not come")
        super().remove(value)


class Union(Running):
    """The union of the sets that are in the window."""

    def __init__(self) -> None:
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


def _distinct(sql: Sql, value: Element, frame: Any) -> Element:
    """Null is a value."""
    is_null = sql.case((value.is_(None), 1), else_=0)
    return frame(sql.func.count(value.distinct())) + frame(sql.func.max(is_null))


COUNTED = Parameter("x", ANY, default=Constant(None, Type.OBJECT))

COUNT = Aggregator(
    Signature("count", (COUNTED,), "the number of rows, those with nulls too", Type.LONG),
    lambda aggregate: Rows(),
    "count()",
    nulls="values",
    of_rows=True,
    is_calendar=True,
)
DISTINCT_COUNT = Aggregator(
    Signature("distinctCount", (Parameter("x", ANY),), "the number of different values", Type.LONG),
    lambda aggregate: Distinct(),
    "distinctCount(k)",
    Kept(is_ranked=False),
    sql=Looked(_distinct),
    nulls="values",
    is_calendar=True,
    plain_siddhi=lambda aggregate: SiddhiDistinct(),
)
UNION_SET = Aggregator(
    Signature("unionSet", (Parameter("set", (Type.OBJECT,)),), "the union of sets", Type.OBJECT),
    lambda aggregate: Union(),
    "unionSet(createSet(k))",
)
