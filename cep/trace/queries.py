"""Compiled queries over one stream: which filter or `having` kept a row back, or what came out."""

from __future__ import annotations

from cep.interpreter.context import Context
from cep.interpreter.expressions import evaluator
from cep.interpreter.rows import Row
from cep.plan.expressions import Expression
from cep.plan.query import Query
from cep.plan.text import Speech
from cep.trace.conditions import Condition
from cep.trace.notes import Notes
from cep.trace.probes import Split
from cep.trace.scope import Scope
from cep.trace.texts import pairs_text


class QueryWatch:
    """One query that the engine has compiled; `split` says where its selected rows are seen."""

    def __init__(
        self, query: Query, split: Split | None, scope: Scope, context: Context, notes: Notes
    ) -> None:
        self.query = query
        self.split = split
        self._scope, self._notes = scope, notes
        source = query.stream_input
        self._filters = [
            *_conditions("filter", source.filters, query, context),
            *_conditions("filter behind the window", source.window_filters, query, context),
        ]
        self._project = [evaluator(value, context) for _, value in query.projection]
        self._having: Condition | None = None
        if split is not None and query.having is not None:
            speech = Speech(query.aggregates)
            self._having = Condition(query.having, context, speech, split.moved)

    @property
    def source(self) -> str:
        return self.query.source

    def see(self, row: Row, selected: list[Row]) -> bool:
        """Say what becomes of a row; `selected` are the split's rows still to be told.

        Whether the row came out.
        """
        if self._scope.is_nobodys(self.query):
            return False
        failed = next((part for part in self._filters if not part[1].holds(row)), None)
        held = None if failed or self.split is None else selected.pop(0)
        if not self._scope.holds(self.query, self.source, row):
            return False
        name = self.query.name
        if failed:
            self._notes.add(name, f"{failed[0]} false: {failed[1].why_not(row)}")
            return False
        if held is not None and self._having is not None and not self._having.holds(held):
            self._notes.add(name, f"having false: {self._having.why_not(held)}")
            return False
        values = [one(row) for one in self._project] if held is None else held.values
        names = [name for name, _ in self.query.projection]
        self._notes.add(name, f"PUT OUT {pairs_text(names, values[: len(names)])}")
        return True


def _conditions(
    name: str, conditions: tuple[Expression, ...], query: Query, context: Context
) -> list[tuple[str, Condition]]:
    speech = Speech(query.aggregates)
    return [(name, Condition(condition, context, speech)) for condition in conditions]
