"""Running values of groups: what rows that come and leave change."""

from __future__ import annotations

from typing import Any

from cep.interpreter.aggregators import RowAggregator, make_aggregator
from cep.interpreter.context import Context
from cep.interpreter.expressions import evaluator
from cep.interpreter.rows import Row, RowKind
from cep.plan.functions import aggregator_of
from cep.plan.groups import Group, group_of
from cep.plan.steps import GroupBy


class GroupState:
    """The aggregators of a group and how many rows they hold."""

    __slots__ = ("aggregators", "rows")

    def __init__(self, aggregators: list[RowAggregator], rows: int = 0) -> None:
        self.aggregators = aggregators
        self.rows = rows

    def update(self, row: Row) -> list[Any]:
        """The aggregates after the row has come or gone."""
        if row.kind is RowKind.CURRENT:
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


class Groups:
    """`GroupBy` while it runs. An emptied group is forgotten."""

    def __init__(self, step: GroupBy, context: Context) -> None:
        self._step = step
        self._context = context
        self._columns = [evaluator(column, context) for column in step.columns]
        self._groups: dict[Group, GroupState] = {}
        self._forgets = all(
            aggregator_of(item.function).remembers == "window" for item in step.aggregates
        )
        context.keep(self, "groups")

    def enter(self, row: Row) -> None:
        """Give a row its group and the aggregates as they are with it, or without it if it left."""
        group = row.group = group_of([column(row) for column in self._columns])
        if not self._step.aggregates:
            return
        state = self._groups.get(group)
        if state is None:
            state = self._groups[group] = GroupState(self._aggregators())
        row.aggregates = state.update(row)
        if state.rows == 0 and self._forgets and state.is_empty:
            del self._groups[group]

    def reset(self) -> None:
        """Begin again; what is kept for ever stays."""
        if self._forgets:
            self._groups.clear()
        for state in self._groups.values():
            state.reset()

    def _aggregators(self) -> list[RowAggregator]:
        return [make_aggregator(item, self._context) for item in self._step.aggregates]

    def state(self) -> Any:
        return [
            [list(group), state.rows, [item.state() for item in state.aggregators]]
            for group, state in self._groups.items()
        ]

    def restore(self, state: Any) -> None:
        self._groups = {}
        for group, rows, states in state:
            aggregators = self._aggregators()
            for aggregator, saved in zip(aggregators, states, strict=True):
                aggregator.restore(saved)
            self._groups[group_of(group)] = GroupState(aggregators, rows)
