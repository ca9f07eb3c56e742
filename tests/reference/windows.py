"""Queries, row by row: filters, window, aggregates recomputed from the window's contents."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from cep.plan.query import Query
from tests.reference.aggregates import aggregate
from tests.reference.expressions import Context, Value, evaluate, holds


@dataclass(frozen=True)
class Held:
    """A row in the window: its group (None: it failed the filter after the window)."""

    time_msc: int
    group: list[Value] | None
    arguments: list[Value]


@dataclass
class Window:
    """Rows oldest first, and the latest time that arrived."""

    rows: list[Held] = field(default_factory=list)
    clock_msc: float = -math.inf


class RunningQuery:
    """A query and its window (`key_position`: one per value of that column)."""

    def __init__(self, query: Query, key_position: int | None) -> None:
        self.query = query
        self.key_position = key_position
        self.windows: dict[Value, Window] = {}

    def arrive(
        self, row: tuple[Value, ...], time_msc: int, clock_msc: float = -math.inf
    ) -> tuple[Value, ...] | None:
        """The row emitted for this one, if any; the clock shows `clock_msc`."""
        arriving = Context(row, time_msc)
        if not all(holds(condition, arriving) for condition in self.query.stream_input.filters):
            return None
        aggregates: tuple[Value, ...] = ()
        if self.query.aggregates:
            key = None if self.key_position is None else row[self.key_position]
            window = self.windows.setdefault(key, Window())
            window.clock_msc = max(window.clock_msc, clock_msc)
            self._enter(window, self._held(arriving))
            aggregates = self._aggregates(window)
        if not self._is_selected(arriving):
            return None
        return self._select(Context(row, time_msc, aggregates))

    def _is_selected(self, row: Context) -> bool:
        return all(holds(condition, row) for condition in self.query.stream_input.window_filters)

    def _held(self, row: Context) -> Held:
        group = [evaluate(column, row) for column in self.query.group_by]
        arguments = [
            evaluate(one.argument, row) if one.argument is not None else None
            for one in self.query.aggregates
        ]
        return Held(row.time_msc, group if self._is_selected(row) else None, arguments)

    def _enter(self, window: Window, arriving: Held) -> None:
        window.clock_msc = max(arriving.time_msc, window.clock_msc)
        kind = self.query.stream_input.window
        if kind is not None and kind.name == "time":
            oldest_msc = window.clock_msc - kind.constant(0)
            window.rows = [one for one in window.rows if one.time_msc > oldest_msc]
        elif kind is not None:
            del window.rows[: max(0, len(window.rows) + 1 - kind.constant(0))]
        window.rows.append(arriving)

    def _aggregates(self, window: Window) -> tuple[Value, ...]:
        """Over the rows of the newest row's group."""
        group = [row for row in window.rows if row.group == window.rows[-1].group]
        return tuple(
            aggregate(one.function, one.type, [row.arguments[index] for row in group])
            for index, one in enumerate(self.query.aggregates)
        )

    def _select(self, row: Context) -> tuple[Value, ...] | None:
        outputs = tuple(evaluate(expression, row) for _, expression in self.query.projection)
        selected = Context(row.row, row.time_msc, row.aggregates, outputs)
        having = self.query.having
        return outputs if having is None or holds(having, selected) else None
