"""`output snapshot every t`: at the end of each period, what the query holds comes out again.

A query with a window holds its window's rows; expired rows take them out by their values. Without
a window it holds its last row (of each group). Where everything selected is an aggregate, the
newest values stand for all rows.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from cep.interpreter.context import Context
from cep.interpreter.rates.limiter import Limiter
from cep.interpreter.rates.timed import Periodic
from cep.interpreter.rows import Chunk, Emit, Row, RowKind
from cep.plan.expressions import Aggregated
from cep.plan.groups import Group
from cep.plan.query import Join, Query, StreamInput


class Snapshot(Periodic):
    """Repeats `held()` at the end of each period, as one chunk, also when it is empty.

    A row whose own time lies behind the end of the period ends it before the timer does.
    """

    def process(self, chunk: Chunk) -> None:
        out: Chunk | None = None
        for row in chunk:
            if row.time >= self.due_ms:
                out = (out or []) + self._ended()
            self.take(row)
        if out is not None:
            self.emit(out)

    def fire(self, due_ms: int) -> None:
        if due_ms >= self.due_ms:
            self.emit(self._ended())

    def _ended(self) -> Chunk:
        out = [row.copy() for row in self.held()]
        self.next_period()
        return out

    @abstractmethod
    def take(self, row: Row) -> None:
        """A selected row."""

    @abstractmethod
    def held(self) -> Chunk:
        """What is repeated."""


class LastRow(Snapshot):
    """No window: the last current row of each group."""

    def __init__(self, every_ms: int, context: Context, emit: Emit) -> None:
        super().__init__(every_ms, context, emit)
        self._last: dict[Group, Row] = {}

    def take(self, row: Row) -> None:
        if row.kind is RowKind.CURRENT:
            self._last[row.group] = row

    def held(self) -> Chunk:
        return list(self._last.values())

    def state(self) -> Any:
        return [self.due_ms, self.held()]

    def restore(self, state: Any) -> None:
        self.due_ms, rows = state
        self._last = {row.group: row for row in rows}


class NewestAggregates(Snapshot):
    """A window and only aggregates, no group: the last row until anything expires."""

    def __init__(self, every_ms: int, context: Context, emit: Emit) -> None:
        super().__init__(every_ms, context, emit)
        self._last: Row | None = None

    def take(self, row: Row) -> None:
        self._last = row if row.kind is RowKind.CURRENT else None

    def held(self) -> Chunk:
        return [] if self._last is None else [self._last]

    def state(self) -> Any:
        return [self.due_ms, self._last]

    def restore(self, state: Any) -> None:
        self.due_ms, self._last = state


class NewestOfGroups(Snapshot):
    """A window and only aggregates, by group: each group's newest row while it has rows."""

    def __init__(self, every_ms: int, context: Context, emit: Emit) -> None:
        super().__init__(every_ms, context, emit)
        self._groups: dict[Group, tuple[int, Row]] = {}

    def take(self, row: Row) -> None:
        count = self._groups[row.group][0] if row.group in self._groups else 0
        self._groups[row.group] = (count + (1 if row.kind is RowKind.CURRENT else -1), row)

    def held(self) -> Chunk:
        self._groups = {group: held for group, held in self._groups.items() if held[0] > 0}
        return [row for _, row in self._groups.values()]

    def state(self) -> Any:
        return [self.due_ms, [[count, row] for count, row in self._groups.values()]]

    def restore(self, state: Any) -> None:
        self.due_ms, groups = state
        self._groups = {row.group: (count, row) for count, row in groups}


class WindowRows(Snapshot):
    """A window: its rows, each with the newest aggregates (of its group).

    `aggregates` are the output positions of aggregates. By group, one row of each group comes out.
    """

    def __init__(
        self, every_ms: int, aggregates: list[int], grouped: bool, context: Context, emit: Emit
    ) -> None:
        super().__init__(every_ms, context, emit)
        self._aggregates = aggregates
        self._grouped = grouped and bool(aggregates)
        self._rows: Chunk = []
        self._newest: dict[Group, list[Any]] = {}

    def take(self, row: Row) -> None:
        if row.kind is RowKind.RESET:
            self._rows, self._newest = [], {}
        elif row.kind is RowKind.CURRENT:
            self._rows.append(row)
            self._note(row)
        elif self._removed(row):
            self._note(row)

    def _note(self, row: Row) -> None:
        if self._aggregates:
            self._newest[row.group] = [row.values[position] for position in self._aggregates]

    def _removed(self, row: Row) -> bool:
        plain = self._plain(row)
        for index, held in enumerate(self._rows):
            if self._plain(held) == plain:
                del self._rows[index]
                return True
        return False

    def _plain(self, row: Row) -> list[Any]:
        return [
            value for position, value in enumerate(row.values) if position not in self._aggregates
        ]

    def held(self) -> Chunk:
        rows = self._rows
        if self._grouped:
            first = {row.group: row for row in reversed(rows)}
            rows = [row for row in rows if first[row.group] is row]
        return [self._updated(row) for row in rows] if self._aggregates else rows

    def _updated(self, row: Row) -> Row:
        updated = Row(row.time, list(row.values), row.kind)
        for position, value in zip(self._aggregates, self._newest[row.group], strict=True):
            updated.values[position] = value
        return updated

    def state(self) -> Any:
        newest = [[list(group), values] for group, values in self._newest.items()]
        return [self.due_ms, self._rows, newest]

    def restore(self, state: Any) -> None:
        self.due_ms, self._rows, newest = state
        self._newest = {tuple(group): values for group, values in newest}


def make_snapshot(query: Query, every_ms: int, context: Context, emit: Emit) -> Limiter:
    """The kind of snapshot that suits the query."""
    aggregates = [
        position
        for position, (_, expression) in enumerate(query.projection)
        if isinstance(expression, Aggregated)
    ]
    if not _windowed(query):
        return LastRow(every_ms, context, emit)
    if len(aggregates) < len(query.projection):
        return WindowRows(every_ms, aggregates, bool(query.group_by), context, emit)
    if query.group_by:
        return NewestOfGroups(every_ms, context, emit)
    return NewestAggregates(every_ms, context, emit)


def _windowed(query: Query) -> bool:
    if isinstance(query.input, StreamInput):
        return query.input.window is not None
    return isinstance(query.input, Join)
