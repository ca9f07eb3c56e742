"""Aggregates over windows of time and of rows: each new row with the rows that it sees."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sqlalchemy as sa

from cep.database.dialects.base import Element
from cep.database.errors import Refusal
from cep.database.expressions import Lowering
from cep.database.lower.before_window import BeforeWindow, before_window, with_limits
from cep.database.lower.combination_aggregates import lower_combination_aggregates
from cep.database.lower.extremes import Extremes, extremes
from cep.database.lower.sums import Sums
from cep.database.lower.window_bounds import Size, WindowBounds, window_bounds
from cep.database.steps import Rows
from cep.database.tables import NUMBER, Tables
from cep.plan.expressions import Aggregated, Output
from cep.plan.families import PARAMETER, Family
from cep.plan.query import Query, StreamInput
from cep.plan.types import Type

VALUES_MAX = 1_000
"""So many columns a row of PostgreSQL may have, and some more."""


def lower_aggregate(family: Family, tables: Tables) -> Rows:
    """Differences of cumulative sums; the least and the greatest are looked for in the window."""
    query = family.query
    if not isinstance(query.input, StreamInput):
        return lower_combination_aggregates(family, tables)
    limits = window_bounds(family, tables)
    if limits.keys and set(limits.keys) != set(query.group_by):
        return lower_combination_aggregates(family, tables)
    limits.keep(query.source, tables)
    return Aggregation(family, tables, limits).rows_made()


@dataclass(frozen=True, slots=True)
class Basis:
    """`source` has the new rows, beside them their sums `own`, and perhaps `parameters`."""

    source: sa.FromClause
    own: sa.FromClause
    parameters: sa.FromClause | None


@dataclass(frozen=True)
class Aggregation:
    """A family at work."""

    family: Family
    tables: Tables
    bounds: WindowBounds

    @cached_property
    def sums(self) -> Sums:
        """The cumulative sums of all members."""
        return Sums(self.family.query, self.bounds, self.tables)

    @cached_property
    def rows(self) -> sa.FromClause:
        """The stream's new rows."""
        return self.tables.stream(self.sums.stream).alias("e")

    @cached_property
    def extremes(self) -> Extremes:
        """The rows in the window, for aggregates that sums do not tell."""
        return extremes(self.sums)

    @cached_property
    def shape(self) -> str:
        """`wide`: each new row with the results of all members, `packed` in one text, or `long`.

        Refusal where the members are better off alone.
        """
        query, name = self.family.query, self.tables.dialect.forms
        looking = [self.sums.looks(one) for one in query.aggregates]
        if len(self.family) == 1:
            return "long"
        every_row = query.having is None and not self.bounds.may_be_empty
        fits = len(self.family) * len(query.projection) <= VALUES_MAX
        if name == "duckdb" and any(looking):
            if every_row and fits and all(looking):
                return "wide"
            raise Refusal("notimpl", "one statement for several windows that are looked through")
        if (
            name == "sqlite"
            and every_row
            and all(one.type in _WHOLE for _, one in query.projection)
        ):
            return "packed"
        return "wide" if name == "postgresql" and every_row and fits else "long"

    def rows_made(self) -> Rows:
        """The results in the shape that suits the database."""
        return {"long": self._long, "wide": self._wide, "packed": self._packed}[self.shape]()

    def _basis(self, parameters: sa.FromClause | None) -> Basis:
        """The new rows with their sums, and the members beside each."""
        own, rows, sums = self.extremes.own, self.rows, self.sums
        if self.tables.dialect.forms == "duckdb" and not self.bounds.is_whole:
            own = with_limits(sums, own, parameters)
            source = rows.join(own, own.c.pos == rows.c.pos)
            return Basis(source, own, None if parameters is None else own)
        # all of the key, so that its index is used
        lowering = Lowering(self.tables.dialect, self.tables.find({0: rows}))
        met = sums.groups.equal(own, sums.groups.of(lowering))
        source = rows.join(own, sa.and_(*met, own.c.ts == rows.c.ts, own.c.pos == rows.c.pos))
        return Basis(source, own, parameters)

    def _parameters(self) -> sa.FromClause:
        more = {name: (NUMBER, values) for name, values in self.bounds.parameters.items()}
        return self.tables.parameters(self.family, more).alias("p")

    def _long(self) -> Rows:
        """A row for each result."""
        is_family = len(self.family) > 1
        basis = self._basis(self._parameters() if is_family else None)
        source, parameters = basis.source, basis.parameters
        if parameters is not None and parameters is not basis.own:
            source = source.join(parameters, sa.true())
        found = before_window(self.sums, source, basis.own, len(self.family))
        size = self.bounds.arguments(parameters)
        values, having = self._selected(self.family.query, basis, found, size, 0)
        if self.bounds.may_be_empty:
            having.append(basis.own.c[self.bounds.order] > self.bounds.limit(basis.own, size))
        head: list[Element] = [] if parameters is None else [parameters.c.member.label("member")]
        made = self._made(head, values).select_from(found.source).where(*having)
        return self._given(made, found, "long")

    def _wide(self) -> Rows:
        """A row with the results of all members."""
        basis = self._basis(None)
        found = BeforeWindow(basis.source, lambda name, size: sa.null(), "")
        if self.tables.dialect.forms != "duckdb":
            found = before_window(self.sums, basis.source, basis.own, len(self.family))
        values: list[Element] = []
        for member, query in enumerate(self.family.members):
            size = self.bounds.of_member(member)
            values += self._selected(query, basis, found, size, member)[0]
        return self._given(self._made([], values).select_from(found.source), found, "wide")

    def _packed(self) -> Rows:
        """The same, whole numbers as one text: rows are what SQLite takes longest to give."""
        parameters = self._parameters()
        basis = self._basis(parameters)
        found = before_window(self.sums, basis.source, basis.own, len(self.family))
        size = self.bounds.arguments(parameters)
        values = self._selected(self.family.query, basis, found, size, 0)[0]
        texts = [sa.func.coalesce(sa.cast(value, sa.Text()), "null") for value in values]
        text: Element = texts[0]
        for one in texts[1:]:
            text = text + "," + one
        # an aggregate of outer columns alone would be one of the outer rows
        text = sa.case((parameters.c.member >= 0, text))
        packed = (
            sa.select(sa.func.group_concat(text))
            .select_from(parameters)
            .correlate_except(parameters)
            .scalar_subquery()
        )
        made = self._made([], [packed]).select_from(found.source)
        return self._given(made, found, "packed")

    def _made(self, head: list[Element], values: list[Element]) -> sa.Select[Any]:
        """Of the new rows that pass the filters behind the window."""
        columns = [*head, self.rows.c.seq.label("seq"), self.rows.c.ts.label("ts")]
        columns += [value.label(f"v_{place}") for place, value in enumerate(values)]
        lowering = Lowering(self.tables.dialect, self.tables.find({0: self.rows}))
        passes = map(lowering.truth, self.family.query.stream_input.window_filters)
        return sa.select(*columns).where(self.rows.c.pos > self.sums.base, *passes)

    def _given(self, select: sa.Select[Any], found: BeforeWindow, shape: str) -> Rows:
        number = f", for {len(self.family)} queries at once" if len(self.family) > 1 else ""
        how = f"{found.how}{self.extremes.how}{number}"
        is_packed = shape == "packed"
        return Rows(
            select, how, order=(self.rows.c.pos,), is_wide=shape != "long", is_packed=is_packed
        )

    def _selected(
        self, query: Query, basis: Basis, found: BeforeWindow, size: Size, member: int
    ) -> tuple[list[Element], list[Element]]:
        """What a member selects, and what must hold of it."""
        aggregated = [
            self.sums.aggregated(
                one,
                basis.own,
                lambda name: found.before(name, size),
                lambda function, name: self.extremes.value(function, name, basis.own, size, member),
            )
            for one in query.aggregates
        ]
        slots = {0: self.rows}
        if basis.parameters is not None:
            slots[PARAMETER] = basis.parameters

        def result(node: Aggregated | Output) -> Element:
            if isinstance(node, Aggregated):
                return aggregated[node.position]
            return values[node.position]

        lowering = Lowering(self.tables.dialect, self.tables.find(slots), result)
        values = [lowering.value(value) for _, value in query.projection]
        return values, [] if query.having is None else [lowering.truth(query.having)]


_WHOLE = (Type.INT, Type.LONG)
