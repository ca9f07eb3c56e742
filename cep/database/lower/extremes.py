"""Aggregates that sums do not tell: the least and the greatest value of a window, and how many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import sqlalchemy as sa

from cep.database import vocabulary
from cep.database.conversions import whole
from cep.database.dialects.base import Element
from cep.database.dialects.duckdb_sql import RangeOver
from cep.database.lower.sums import Sums
from cep.database.lower.window_bounds import Size
from cep.database.steps import batch_number
from cep.plan.functions import aggregator_of
from cep.plan.functions.sql import Looked

_ROWS = 2**26
"""More rows than a window has, so that time and number of a row are one number."""


@dataclass(frozen=True, slots=True)
class Extremes:
    """`own` are the rows of the sums, with what has been looked for if that was for all at once.

    `value(function, column, own, size, member)`: what it comes to for a row of these.
    """

    own: sa.FromClause
    value: Callable[[str, str, sa.FromClause, Size, int], Element]
    how: str = ""


def extremes(sums: Sums) -> Extremes:
    """How rows are looked at: by the index for each new one, or by DuckDB in one go."""
    if not any(map(sums.looks, sums.query.aggregates)):
        return Extremes(sums.table.alias("o"), _none)
    if sums.tables.dialect.forms == "duckdb" and sums.tables.late is None:
        return _in_frames(sums)
    return _looked_through(sums)


def _none(function: str, name: str, own: sa.FromClause, size: Size, member: int) -> Element:
    raise AssertionError(function)


def _looked_through(sums: Sums) -> Extremes:
    order = sums.bounds.order

    def value(function: str, name: str, own: sa.FromClause, size: Size, member: int) -> Element:
        rows, limit = sums.table.alias("w"), sums.bounds.limit(own, size)
        found = sa.select(_function(function, rows.c[name])).where(
            *sums.groups.same(rows, own),
            rows.c[order] > limit,
            rows.c[order] <= own.c[order],
            rows.c.pos <= own.c.pos,
        )
        if order == "ts" and sums.tables.late is not None:
            found = found.where(sa.or_(rows.c.pos == own.c.pos, ~_is_due(sums, rows, limit)))
        return found.correlate_except(rows).scalar_subquery()

    return Extremes(sums.table.alias("o"), value, "; the rows in the window looked through")


def _is_due(sums: Sums, rows: sa.FromClause, limit: Element) -> Element:
    """Whether a row of the sums is a late one that has gone."""
    late, row = sums.tables.late, sums.tables.stream(sums.stream).alias("ws")
    assert late is not None
    source = row.join(late, late.c.seq == row.c.seq)
    found = sa.select(sa.literal(1)).select_from(source)
    found = found.where(row.c.pos == rows.c.pos, late.c.own <= limit)
    return sa.exists(found.correlate_except(row, late))


def _in_frames(sums: Sums) -> Extremes:
    """Window functions, over all rows that are kept."""
    rows, bounds = sums.table.alias("w"), sums.bounds
    by = [rows.c[name] for name in sums.groups.names]
    order: Element = rows.c[bounds.order]
    unit = 1
    if bounds.order == "ts":
        # rows of one time are seen by later ones only
        order, unit = (
            (order - batch_number("first")) * whole(_ROWS) + (rows.c.pos - sums.base),
            _ROWS,
        )
    made: dict[str, Element] = {}
    for member in range(len(bounds.sizes[0])):
        limit = bounds.limit(rows, bounds.of_member(member))
        back = (rows.c[bounds.order] - limit) * whole(unit) - 1
        if bounds.may_be_empty:
            back = sa.func.greatest(back, 0, type_=sa.BigInteger())
        over = partial(_over, order, back, by)
        for one in filter(sums.looks, sums.query.aggregates):
            name = f"x_{sums.place(one)}"
            made[f"{name}_{one.function}_{member}"] = _function(one.function, rows.c[name], over)
    columns = [value.label(name) for name, value in made.items()]
    framed = sa.select(*rows.c, *columns).subquery("o")

    def value(function: str, name: str, own: sa.FromClause, size: Size, member: int) -> Element:
        return own.c[f"{name}_{function}_{member}"]

    return Extremes(framed, value, "; a window function over the rows in the window")


def _over(order: Element, back: Element, by: Sequence[Element], function: Element) -> Element:
    return RangeOver(function, order, back, *by)


def _function(
    name: str, column: Element, over: Callable[[Element], Element] = lambda found: found
) -> Element:
    """An aggregate of a column in a window of the database, or of all rows."""
    how = aggregator_of(name).sql
    assert isinstance(how, Looked)
    found: Element = how.over(vocabulary, column, over)
    return found
