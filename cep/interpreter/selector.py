"""The selector: aggregates, projection, `having`, order and limits, chunk by chunk as in Siddhi.

Rows that leave carry the selected values, and in `output` what they are ordered by. Without
aggregates each row of a chunk comes out, with aggregates its last row, with `group by` the last
row of each group. Snapshot rates need every row: they turn this off with `every_row`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cep.interpreter.aggregators import RowAggregator, make_aggregator
from cep.interpreter.context import Context, Step
from cep.interpreter.expressions import evaluator
from cep.interpreter.rows import Chunk, Emit, Evaluator, Kind, Row
from cep.plan.functions import aggregator_of
from cep.plan.groups import Group, group_of
from cep.plan.query import Kinds, Order, Query

WANTED: dict[Kinds, frozenset[Kind]] = {
    "current": frozenset({Kind.CURRENT}),
    "expired": frozenset({Kind.EXPIRED}),
    "all": frozenset({Kind.CURRENT, Kind.EXPIRED}),
}


class GroupState:
    """The aggregators of a group and how many rows they hold."""

    __slots__ = ("aggregators", "rows")

    def __init__(self, aggregators: list[RowAggregator], rows: int = 0) -> None:
        self.aggregators = aggregators
        self.rows = rows

    def update(self, row: Row) -> list[Any]:
        """The aggregates after the row has come or gone."""
        if row.kind is Kind.CURRENT:
            self.rows += 1
            return [aggregator.enter(row) for aggregator in self.aggregators]
        self.rows -= 1
        return [aggregator.leave(row) for aggregator in self.aggregators]

    @property
    def is_empty(self) -> bool:
        """Whether the aggregators are as they were at first."""
        return all(aggregator.is_empty for aggregator in self.aggregators)

    def reset(self) -> None:
        self.rows = 0
        for aggregator in self.aggregators:
            aggregator.reset()


class Selector:
    """Selects rows; its state is the aggregators, per group. An emptied group is forgotten."""

    def __init__(self, query: Query, context: Context, every_row: bool, emit: Emit) -> None:
        self._query = query
        self._context = context
        self._emit = emit
        self._wanted = WANTED[query.output.events]
        self._project = [
            evaluator(expression, context.owned_by(f"{context.owner}.{name}"))
            for name, expression in query.projection
        ]
        self._keys = [evaluator(column, context) for column in query.group_by]
        self._having = None if query.having is None else evaluator(query.having, context)
        self._order = [_order_key(order, context) for order in query.order_by]
        self._groups: dict[Group, GroupState] = {}
        self._forgets = all(
            aggregator_of(item.function).remembers == "window" for item in query.aggregates
        )
        self._select = self._choose(every_row)
        context.keep(self, "selector")

    def process(self, chunk: Chunk) -> None:
        """Select a chunk; nothing is emitted when no row has been selected."""
        selected = self._select(chunk)
        if selected is not None:
            self._context.tell(Step.SELECTED, selected)
            self._emit(selected)

    def process_all(self, chunks: list[Chunk]) -> None:
        """Select chunks one by one; what is selected goes on as one chunk."""
        selected = [found for chunk in chunks if (found := self._select(chunk)) is not None]
        if selected:
            rows = [row for found in selected for row in found]
            self._context.tell(Step.SELECTED, rows)
            self._emit(rows)

    def _choose(self, every_row: bool) -> Callable[[Chunk], Chunk | None]:
        if self._keys:
            return self._each_of_groups if every_row else self._last_of_groups
        return self._last if self._query.aggregates and not every_row else self._each

    def _each(self, chunk: Chunk) -> Chunk | None:
        selected = [row for row in map(self._row_or_reset, chunk) if row is not None]
        return self._cut(self._ordered(selected)) or None

    def _row_or_reset(self, row: Row) -> Row | None:
        return self._reset(row) if row.kind is Kind.RESET else self._row(row)

    def _each_of_groups(self, chunk: Chunk) -> Chunk | None:
        """Every row with its group; order and offset have no effect here, as in Siddhi."""
        selected = self._rows(chunk)
        return selected[: self._query.limit] or None

    def _last(self, chunk: Chunk) -> Chunk | None:
        selected = self._rows(chunk)
        if not selected:
            return None
        cut = bool(self._query.offset) or self._query.limit == 0
        return [] if cut else selected[-1:]

    def _last_of_groups(self, chunk: Chunk) -> Chunk | None:
        groups = {row.group: row for row in self._rows(chunk)}
        return self._cut(self._ordered(list(groups.values()))) if groups else None

    def _rows(self, chunk: Chunk) -> Chunk:
        selected = map(self._row_or_reset, chunk)
        return [row for row in selected if row is not None and row.kind is not Kind.RESET]

    def _row(self, row: Row) -> Row | None:
        """The selected row; None when it is of no wanted kind or `having` is not true on it."""
        if row.kind is Kind.TIMER:
            return None
        group = group_of([key(row) for key in self._keys]) if self._keys else ()
        if self._query.aggregates:
            self._aggregate(row, group)
        if row.kind not in self._wanted:
            return None
        row.output = output = [project(row) for project in self._project]
        if self._having is not None and self._having(row) is not True:
            self._context.tell(Step.HAVING, [row])
            return None
        selected = Row(row.time, output, row.kind)
        selected.group = group
        selected.output = [key(row) for key in self._order]
        return selected

    def _aggregate(self, row: Row, group: Group) -> None:
        state = self._groups.get(group)
        if state is None:
            state = self._groups[group] = GroupState(self._make_aggregators())
        row.aggregates = state.update(row)
        if state.rows == 0 and self._forgets and state.is_empty:
            del self._groups[group]

    def _make_aggregators(self) -> list[RowAggregator]:
        return [make_aggregator(item, self._context) for item in self._query.aggregates]

    def _reset(self, row: Row) -> Row:
        if self._forgets:
            self._groups.clear()
        for state in self._groups.values():
            state.reset()
        return row

    def _ordered(self, rows: Chunk) -> Chunk:
        """Each run of rows of one kind sorted on its own."""
        if not self._query.order_by:
            return rows
        ordered: Chunk = []
        start = 0
        for end in range(1, len(rows) + 1):
            if end == len(rows) or rows[end].kind is not rows[start].kind:
                run = rows[start:end]
                is_reset = run[0].kind is Kind.RESET
                ordered += run if is_reset else sort_rows(run, self._query.order_by)
                start = end
        return ordered

    def _cut(self, rows: Chunk) -> Chunk:
        """`offset` and `limit`; a limit counts expired rows but lets all of them pass."""
        offset, limit = self._query.offset, self._query.limit
        if offset:
            rows = _without_first(rows, offset)
        if limit is None:
            return rows
        kept: Chunk = []
        count = 0
        for row in rows:
            if row.kind is Kind.RESET:
                kept.append(row)
            elif row.kind is Kind.EXPIRED or count < limit:
                kept.append(row)
                count += 1
        return kept

    def state(self) -> Any:
        return [
            [list(group), state.rows, [item.state() for item in state.aggregators]]
            for group, state in self._groups.items()
        ]

    def restore(self, state: Any) -> None:
        self._groups = {}
        for group, rows, states in state:
            aggregators = self._make_aggregators()
            for aggregator, saved in zip(aggregators, states, strict=True):
                aggregator.restore(saved)
            self._groups[group_of(group)] = GroupState(aggregators, rows)


def sort_rows(rows: Chunk, order_by: tuple[Order, ...]) -> Chunk:
    """Selected rows by the keys in their `output`, stable; null comes last in either direction."""
    for position, order in reversed(list(enumerate(order_by))):
        rows = sorted(rows, key=_comparable(position, order.descending), reverse=order.descending)
    return rows


def _comparable(position: int, null_first: bool) -> Evaluator:
    def key(row: Row) -> tuple[bool, Any]:
        value = row.output[position]
        return (not null_first, 0) if value is None else (null_first, value)

    return key


def _order_key(order: Order, context: Context) -> Evaluator:
    """What a row that has been projected is ordered by."""
    if order.value is not None:
        return evaluator(order.value, context)
    return lambda row: row.output[order.position]


def _without_first(rows: Chunk, count: int) -> Chunk:
    kept: Chunk = []
    for row in rows:
        if count and row.kind is not Kind.RESET:
            count -= 1
        else:
            kept.append(row)
    return kept
