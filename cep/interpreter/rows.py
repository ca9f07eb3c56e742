"""Rows as the interpreter passes them on: in chunks, each row of one kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any


class RowKind(IntEnum):
    """What a row says: it came, it left the window, a timer is due, aggregates start again."""

    CURRENT = 0
    EXPIRED = 1
    TIMER = 2
    RESET = 3


class Row:
    """One row on its way through a query.

    `time` is in ms UTC: of an expired row when it left, where `came` is when it came. `values` are
    the attributes of a query over one stream. Rows of joins, patterns and sequences have `slots`
    instead: per slot a row, None, or the list of rows that a counted state has collected. The
    selection fills `aggregates` and `output`.
    """

    __slots__ = ("aggregates", "came", "group", "kind", "output", "slots", "time", "values")

    def __init__(
        self,
        time: int,
        values: list[Any],
        kind: RowKind = RowKind.CURRENT,
        slots: list[Row | list[Row] | None] | None = None,
        came: int | None = None,
    ) -> None:
        self.time = time
        self.came = time if came is None else came
        self.kind = kind
        self.values = values
        self.slots = slots
        self.aggregates: Sequence[Any] = ()
        self.output: Sequence[Any] = ()
        self.group: Any = None

    def copy(self, kind: RowKind | None = None, time: int | None = None) -> Row:
        """A row of its own with the same values, of another kind or time where given."""
        kind = self.kind if kind is None else kind
        came = self.came if kind is RowKind.EXPIRED else None
        return Row(self.time if time is None else time, self.values, kind, self.slots, came)

    def with_values(self, values: list[Any]) -> Row:
        """The row with other values."""
        return Row(self.time, values, self.kind, came=self.came)

    def __repr__(self) -> str:
        return f"Row({self.time}, {self.kind.name}, {self.slots or self.values!r})"


Chunk = list[Row]
Emit = Callable[[Chunk], None]
Evaluator = Callable[[Row], Any]
"""An expression made callable: its value on a row."""
