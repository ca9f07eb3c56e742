"""Whether all of the flags in the window are true, or one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from cep.plan.functions.base import Aggregator
from cep.plan.functions.native import NULL, Cells, Ints, Kernel
from cep.plan.functions.running import Running
from cep.plan.functions.sql import Element, Sql, Sums
from cep.plan.signatures import TRUTH, Parameter, Signature
from cep.plan.types import Type


class Truth(Running):
    """Counts true and false."""

    def __init__(self) -> None:
        self._counts = [0, 0]

    @property
    @abstractmethod
    def value(self) -> bool: ...

    @property
    def is_empty(self) -> bool:
        return self._counts == [0, 0]

    def add(self, value: bool) -> None:
        self._counts[value] += 1

    def remove(self, value: bool) -> None:
        self._counts[value] -= 1

    def clear(self) -> None:
        self._counts = [0, 0]

    def state(self) -> Any:
        return self._counts

    def restore(self, state: Any) -> None:
        self._counts = list(state)


class All(Truth):
    """`and`: false of nothing."""

    @property
    def value(self) -> bool:
        falses, trues = self._counts
        return trues > 0 and not falses


class One(Truth):
    """`or`: false of nothing."""

    @property
    def value(self) -> bool:
        return self._counts[True] > 0


class NeedsFlags(Truth):
    """A flag that is null fails: its row is lost, with what came with it."""

    takes_nulls = True

    def add(self, value: bool | None) -> None:
        super().add(_checked(value))

    def remove(self, value: bool | None) -> None:
        super().remove(_checked(value))


def _checked(value: bool | None) -> bool:
    if value is None:
        raise ValueError("`and` and `or` take no null in Siddhi")
    return value


class SiddhiAll(NeedsFlags, All):
    """`and`."""


class SiddhiOne(NeedsFlags, One):
    """`or`."""


def truth_enter(i: Ints, row: int, ci: int, value: int, sign: int) -> None:
    """A flag comes or goes; cells: how many are false, how many true."""
    if value != NULL:
        i[row, ci + value] += sign


def all_true(i: Ints, row: int, ci: int) -> int:
    return int(i[row, ci + 1] > 0 and i[row, ci] == 0)


def one_true(i: Ints, row: int, ci: int) -> int:
    return int(i[row, ci + 1] > 0)


def _cells(value: Kernel) -> Cells:
    enter = "truth_enter({i}, {row}, {ci}, {0}, %d)"
    read = f"{value.__name__}({{i}}, {{row}}, {{ci}})"
    return Cells(2, 0, enter % 1, read, enter % -1, as_float=False)


def _sums(result: Callable[[Sql, Sequence[Element]], Element]) -> Sums:
    terms = {
        "true": lambda sql, value: sql.counted(value.is_(True)),
        "false": lambda sql, value: sql.counted(value.is_(False)),
    }
    return Sums(terms, result)


FLAG = Parameter("flag", TRUTH)

AND = Aggregator(
    Signature("and", (FLAG,), "whether all are true", Type.BOOL),
    lambda aggregate: All(),
    "and(f)",
    _cells(all_true),
    (truth_enter, all_true),
    _sums(lambda sql, sums: sql.and_(sums[0] > 0, sums[1] == 0)),
    plain_siddhi=lambda aggregate: SiddhiAll(),
    native_left=_cells(all_true),
)
OR = Aggregator(
    Signature("or", (FLAG,), "whether one is true", Type.BOOL),
    lambda aggregate: One(),
    "or(f)",
    _cells(one_true),
    (truth_enter, one_true),
    _sums(lambda sql, sums: sums[0] > 0),
    plain_siddhi=lambda aggregate: SiddhiOne(),
    native_left=_cells(one_true),
)
