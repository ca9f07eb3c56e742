"""Finding the held rows on which a condition is true, by an index where there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

from cep.interpreter.context import Context
from cep.interpreter.expressions import evaluator
from cep.interpreter.rows import Evaluator, Row
from cep.interpreter.tables.lookup import lookups
from cep.plan.expressions import TABLE_SLOT, Expression

Find = Callable[[str, Any], Iterable[Row]]
"""The rows whose key compares so with a value: (operator, value)."""


class Holder(Protocol):
    """What holds rows that can be searched: a table, a window, an aggregation."""

    def rows(self, asking: Row) -> Iterable[Row]:
        """The rows held now for the asking row, in the order in which they are found."""
        ...

    def index(self, key: Expression) -> Find | None:
        """The index on that expression of a held row; None when there is none."""
        ...


class Filtered:
    """The rows of a holder that pass filters which see the held row alone."""

    def __init__(self, holder: Holder, filters: list[Evaluator]) -> None:
        self._holder = holder
        self._filters = filters

    def rows(self, asking: Row) -> Iterable[Row]:
        return self._passed(self._holder.rows(asking))

    def index(self, key: Expression) -> Find | None:
        find = self._holder.index(key)
        return None if find is None else lambda op, value: self._passed(find(op, value))

    def _passed(self, rows: Iterable[Row]) -> list[Row]:
        return [row for row in rows if all(passes(row) is True for passes in self._filters)]


class Search:
    """A condition on an asking row and rows held in `slot`, made ready for one holder."""

    def __init__(
        self, condition: Expression | None, slot: int, holder: Holder, context: Context
    ) -> None:
        self._pair = PAIRS[slot]
        self._holder = holder
        self._condition = None if condition is None else evaluator(condition, context)
        self._find, self._op, self._value = None, "", None
        for lookup in lookups(condition, slot):
            self._find = holder.index(lookup.key)
            if self._find is not None:
                self._op, self._value = lookup.op, evaluator(lookup.value, context)
                break

    @property
    def indexed(self) -> bool:
        """Whether an index answers a part of the condition."""
        return self._find is not None

    def pairs(self, row: Row) -> Iterator[Row]:
        """Asking row and held row as one row with slots, for each held row that fits."""
        for held in self._candidates(row):
            pair = self._pair(row, held)
            if self._condition is None or self._condition(pair) is True:
                yield pair

    def any(self, row: Row) -> bool:
        """Whether the condition is true on any held row."""
        return next(self.pairs(row), None) is not None

    def _candidates(self, row: Row) -> Iterable[Row]:
        asking = self._pair(row, None)
        if self._find is None or self._value is None:
            return self._holder.rows(asking)
        return self._find(self._op, self._value(asking))


def table_pair(row: Row, held: Row | None) -> Row:
    """The asking row with a table's row in the last slot, where `TABLE_SLOT` finds it."""
    front = [row] if row.slots is None else row.slots
    pair = Row(row.time, row.values, row.kind, [*front, held])
    pair.output, pair.aggregates = row.output, row.aggregates
    return pair


def left_pair(row: Row, held: Row | None) -> Row:
    """A row of a join whose left side triggers."""
    return _pair(row, held, [row, held])


def right_pair(row: Row, held: Row | None) -> Row:
    """A row of a join whose right side triggers."""
    return _pair(row, held, [held, row])


def _pair(row: Row, held: Row | None, slots: list[Row | list[Row] | None]) -> Row:
    """One leaves with either of its rows, and came with the later one."""
    came = row.came if held is None else max(row.came, held.came)
    return Row(row.time, [], row.kind, slots, came)


PAIRS = {TABLE_SLOT: table_pair, 0: right_pair, 1: left_pair}
"""How a pair is made, by the slot of the held row."""
