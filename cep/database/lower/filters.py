"""Filters and projections: the new rows on which the conditions are true.

Queries of one shape are one statement: the new rows beside a table of constants, where an index
leads a row to the queries it is for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from cep.database.dialects.base import Element
from cep.database.errors import Refusal
from cep.database.expressions import Lowering
from cep.database.lower.lookup import Lookup, lookup
from cep.database.lower.numbered import numbered
from cep.database.steps import Rows, batch_number
from cep.database.tables import NUMBER, Tables
from cep.database.windows import is_timed, is_written
from cep.plan.expressions import Column, Expression, Output
from cep.plan.families import PARAMETER, Family
from cep.plan.query import Query
from cep.plan.rewrite.expressions import map_children
from cep.plan.windows import kind_of

Slots = Mapping[int, sa.FromClause]


def lower_filter(family: Family, tables: Tables) -> Rows:
    """The new rows of the stream that a member lets pass, in their order."""
    source = family.query.stream_input
    found = lookup(family, (*source.filters, *source.window_filters, *_having(family.query)))
    jumps = _jumps(family, tables)
    rows = (tables.stream(source.stream) if jumps is None else jumps.rows(tables)).alias("e")
    slots: dict[int, sa.FromClause] = {0: rows}
    head: list[Element] = []
    if len(family) > 1:
        slots[PARAMETER] = _parameters(found, jumps, tables)
        head.append(slots[PARAMETER].c.member.label("member"))
    head += [rows.c.seq.label("seq"), rows.c.ts.label("ts")]
    lowering = Lowering(tables.dialect, tables.find(slots))
    values = [
        lowering.value(value).label(f"v_{place}")
        for place, (_, value) in enumerate(family.query.projection)
    ]
    conditions = [rows.c.pos > batch_number("base", source.stream)]
    begun = tables.born(family, 0)
    if begun:
        conditions.append(rows.c.pos > begun)
    if jumps is not None:
        conditions.append(jumps.is_ever_in(slots))
    conditions += [lowering.truth(one) for one in found.conditions]
    select = sa.select(*head, *values).where(*conditions)
    return Rows(select, _strategy(found), order=(rows.c.pos,))


def _having(query: Query) -> list[Expression]:
    """A condition on what is selected is one on the row."""

    def selected(node: Expression) -> Expression:
        if isinstance(node, Output):
            return query.projection[node.position][1]
        return map_children(node, selected)

    return [] if query.having is None else [selected(query.having)]


def _parameters(found: Lookup, jumps: _Jumps | None, tables: Tables) -> sa.FromClause:
    more = {} if jumps is None else {name: (NUMBER, n) for name, n in jumps.sizes.items()}
    indexes = [(*found.columns, "member")] if found.columns else []
    return tables.parameters(found.family, more, indexes).alias("p")


def _strategy(found: Lookup) -> str:
    if len(found.family) == 1:
        return "scan of new rows"
    how = "by an index on their constants" if found.columns else "one by one"
    return f"scan of new rows, against a table of {len(found.family)} queries, {how}"


@dataclass(frozen=True, slots=True)
class _Jumps:
    """A window with a jump above its size: some rows it never holds, which pass no filter.

    A row of time or number n is there from floor(n / jump) * jump until
    floor((n + size) / jump) * jump, which may be no time at all. `sizes`: `size` and `jump` of each
    member's window. `keys`: rows are numbered by them.
    """

    stream: str
    is_timed: bool
    sizes: Mapping[str, Sequence[int]]
    keys: tuple[Column, ...]
    begun: int

    def rows(self, tables: Tables) -> sa.Table:
        """The stream's rows; those that are numbered by key with their numbers."""
        if self.keys:
            return numbered(self.stream, self.keys, 1, self.begun, tables)
        return tables.stream(self.stream)

    def is_ever_in(self, slots: Slots) -> Element:
        """Whether the window ever holds a row."""
        size, jump = (
            slots[PARAMETER].c[name] if PARAMETER in slots else sa.literal(values[0], NUMBER)
            for name, values in self.sizes.items()
        )
        return self._number(slots[0]) % jump + size >= jump

    def _number(self, row: sa.FromClause) -> Element:
        if self.is_timed:
            return row.c.ts
        return row.c.num if self.keys else row.c.pos - (1 + self.begun)


def _jumps(family: Family, tables: Tables) -> _Jumps | None:
    """The window in front of a filter; None if there is none (or none that keeps rows out)."""
    windows = [window for (window,) in family.windows if window is not None]
    if not windows:
        return None
    first = windows[0]
    if not (is_written(first) and kind_of(first).jumps):
        raise Refusal("notimpl", f"#window.{first.name} in front of a filter")
    keys = {window.arguments[2:] for window in windows}
    if len(keys) > 1:
        raise Refusal("notimpl", "one statement for windows by different keys")
    sizes = {
        "size": [window.constant(0) for window in windows],
        "jump": [window.constant(1) for window in windows],
    }
    columns = tuple(one for one in keys.pop() if isinstance(one, Column))
    stream, begun = family.query.source, tables.born(family, 0)
    return _Jumps(stream, is_timed(first), sizes, columns, begun)
