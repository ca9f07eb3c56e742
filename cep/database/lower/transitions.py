"""One step of a pattern's automaton: a partial match goes on with a row that emits a symbol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from cep.database.dialects.base import Dialect, Element
from cep.database.errors import Refusal
from cep.database.expressions import Lowering
from cep.database.invisible_gaps import VARIABLES
from cep.database.tables import ColumnType
from cep.plan.expressions import Column, EventTime
from cep.plan.query import Matching
from cep.plan.words import Step, Steps

Columns = Mapping[str, Element]
"""Variables, `z_0`, .. by their place."""
FIRST_SYMBOL = 10_000
"""Symbols from there on have five digits, so that they stand in order as text."""


@dataclass(frozen=True, slots=True)
class Partial:
    """What a partial match is: `state` of the automaton, time of its first row, variables.

    `path`, then `symbols` put the partial matches that stand at one row in order.
    """

    state: Element
    first_ts: Element
    variables: Columns
    path: Element
    symbols: Element


@dataclass(frozen=True, slots=True)
class Transitions:
    """The steps that rows make possible."""

    matching: Matching
    steps: Steps
    dialect: Dialect

    def variables(self) -> dict[str, ColumnType]:
        """The columns of variables; Refusal where a type cannot be stored."""
        types = self.dialect.column_types
        found = {}
        for place, variable in enumerate(self.matching.variables.attributes):
            if variable.type not in types:
                raise Refusal("never", f"{variable.name}: {variable.type} cannot be stored")
            found[f"z_{place}"] = types[variable.type]
        return found

    def lowering(self, row: sa.FromClause, variables: Columns) -> Lowering:
        """Writes expressions of a row and variables."""

        def find(node: Column | EventTime) -> Element:
            if isinstance(node, EventTime):
                return row.c.ts
            if node.slot == VARIABLES:
                return variables[f"z_{node.position}"]
            return row.c[f"a_{node.position}"]

        return Lowering(self.dialect, find)

    def step(self, partial: Partial, row: sa.FromClause, first_pos: Element) -> sa.Select[Any]:
        """Partial matches after a step with a row, whose instant begins at `first_pos`."""
        steps = self._table()
        symbols = sorted({one.symbol for one in self.steps.steps})
        emitted = [
            sa.and_(steps.c.symbol == symbol, self._emitted(symbol, partial, row))
            for symbol in symbols
        ]
        after = {symbol: self._assigned(symbol, row, partial.variables) for symbol in symbols}
        code = sa.cast(steps.c.symbol + FIRST_SYMBOL, sa.Text())
        columns: list[Element] = [
            row.c.pos.label("pos"),
            first_pos.label("first_pos"),
            row.c.ts.label("ts"),
            steps.c.target.label("state"),
            partial.first_ts.label("first_ts"),
            partial.path.label("path"),
            partial.symbols.concat(code).label("symbols"),
        ]
        for name, type_ in self.variables().items():
            value = _chosen(steps.c.symbol, {at: after[at][name] for at in symbols})
            columns.append(sa.cast(value, type_).label(name))
        return sa.select(*columns).where(steps.c.state == partial.state, sa.or_(*emitted))

    def is_heard(self, partial: Partial, row: sa.FromClause) -> Element:
        """Whether a row emits any symbol for a partial match, if it leads on or not."""
        symbols = range(len(self.matching.symbols))
        return sa.or_(*(self._emitted(symbol, partial, row) for symbol in symbols))

    def _emitted(self, symbol: int, partial: Partial, row: sa.FromClause) -> Element:
        definition = self.matching.symbols[symbol]
        return self.lowering(row, partial.variables).truth(definition.condition)

    def _assigned(self, symbol: int, row: sa.FromClause, before: Columns) -> dict[str, Element]:
        """The variables after a symbol; assignments see those made before them."""
        after = dict(before)
        for position, value in self.matching.symbols[symbol].sets:
            after[f"z_{position}"] = self.lowering(row, after).value(value)
        return after

    def _table(self) -> sa.FromClause:
        """The automaton as a table."""
        rows = list(map(_step_row, self.steps.steps))
        return (rows[0] if len(rows) == 1 else sa.union_all(*rows)).subquery("t")


def _step_row(step: Step) -> sa.Select[Any]:
    numbers = {"state": step.state, "symbol": step.symbol, "target": step.target}
    columns: list[Element] = [
        sa.cast(sa.literal_column(str(number)), sa.BigInteger()).label(name)
        for name, number in numbers.items()
    ]
    return sa.select(*columns)


def _chosen(symbol: Element, values: Mapping[int, Element]) -> Element:
    """The value that belongs to a symbol."""
    if len(values) == 1:
        return next(iter(values.values()))
    return sa.case(*((symbol == at, value) for at, value in values.items()))
