"""The last row in front of the window of each new row, in cumulative sums: how a database finds it
quickest.

Each way gives what to read from, and from there a column of that row (null where there is none).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import aggregate_order_by

from cep.database.dialects.base import Element
from cep.database.dialects.duckdb_sql import AsofJoin
from cep.database.lower.late_sums import LateSums
from cep.database.lower.sums import Sums
from cep.database.lower.window_bounds import Size


@dataclass(frozen=True, slots=True)
class BeforeWindow:
    """`source` is what was given, and what is needed beside it.

    `before(name, size)`: a cumulative column of the last row in front of the window, for a size of
    window.
    """

    source: sa.FromClause
    before: Callable[[str, Size], Element]
    how: str


def before_window(
    sums: Sums, source: sa.FromClause, own: sa.FromClause, members: int
) -> BeforeWindow:
    """For rows `own` of the sums in `source`."""
    if sums.bounds.is_whole:
        return BeforeWindow(source, lambda name, size: sa.null(), "sums so far")
    found = _in_order(sums, source, own, members)
    is_asked = sums.tables.late is not None and sums.bounds.order == "ts"
    return _with_late(sums, found, own) if is_asked else found


def _in_order(sums: Sums, source: sa.FromClause, own: sa.FromClause, members: int) -> BeforeWindow:
    match sums.tables.dialect.forms:
        case "duckdb":
            return _joined(sums, source, own)
        case "postgresql" if members > 1:
            return _arrays(sums, source, own)
        case "postgresql":
            return _lateral(sums, source, own)
        case _:
            return _looked_up(sums, source, own)


def _looked_up(sums: Sums, source: sa.FromClause, own: sa.FromClause) -> BeforeWindow:
    """SQLite: the key's index for each column; a join is not quicker."""

    def before(name: str, size: Size) -> Element:
        return _last(sums, own, size, name).scalar_subquery()

    return BeforeWindow(source, before, "differences of cumulative sums, a look-up each")


def _lateral(sums: Sums, source: sa.FromClause, own: sa.FromClause) -> BeforeWindow:
    """The key's index once for each row."""
    names = [column.key for column in sums.table.c]
    found = _last(sums, own, sums.bounds.arguments(None), *names).lateral("b")
    joined = source.outerjoin(found, sa.true())
    how = "differences of cumulative sums, a look-up for each row"
    return BeforeWindow(joined, lambda name, size: found.c[name], how)


def _last(sums: Sums, own: sa.FromClause, size: Size, *names: str) -> sa.Select[tuple[object, ...]]:
    """Columns of the last row in front of the window."""
    rows = sums.table.alias("w")
    order = rows.c[sums.bounds.order]
    latest = (order.desc(),) if sums.bounds.order == "pos" else (order.desc(), rows.c.pos.desc())
    return (
        sa.select(*(rows.c[name] for name in names))
        .where(*sums.groups.same(rows, own), order <= sums.bounds.limit(own, size))
        .order_by(*latest)
        .limit(1)
        .correlate_except(rows)
    )


def _arrays(sums: Sums, source: sa.FromClause, own: sa.FromClause) -> BeforeWindow:
    """PostgreSQL, for many members: each column of a group as an array, searched by halves."""
    rows = sums.table.alias("w")
    kept = [sums.bounds.order, "n", *(part.name for part in sums.parts if part.kind == "sum")]
    arrays = (
        sa.select(
            *(rows.c[name] for name in sums.groups.names),
            *(
                sa.func.array_agg(
                    aggregate_order_by(rows.c[name], rows.c.pos),
                    type_=sa.ARRAY(sa.BigInteger()),
                ).label(name)
                for name in dict.fromkeys(kept)
            ),
        )
        .group_by(*(rows.c[name] for name in sums.groups.names))
        .cte("arrays")
        .prefix_with("MATERIALIZED", dialect="postgresql")
    )

    def before(name: str, size: Size) -> Element:
        limit = sums.bounds.limit(own, size)
        place = sa.func.width_bucket(limit, arrays.c[sums.bounds.order], type_=sa.Integer())
        found: Element = arrays.c[name][place]
        return found

    joined = source.join(arrays, sa.and_(sa.true(), *sums.groups.same(arrays, own)))
    return BeforeWindow(joined, before, "differences of cumulative sums, searched in arrays")


def _joined(sums: Sums, source: sa.FromClause, own: sa.FromClause) -> BeforeWindow:
    """DuckDB: all limits, each once, meet the sums side by side in order.

    `own` has them as `limit_`: joins on a value of two tables together are not quick there.
    """
    order, names = sums.bounds.order, sums.groups.names
    asked = (
        sa.select(*(own.c[name] for name in (*names, "limit_")))
        .where(own.c.pos > sums.base)
        .distinct()
        .subquery("limits")
    )
    rows = sums.table.alias("w")
    keys = [rows.c[name] for name in (*names, order)]
    rest = [column for column in rows.c if column.key not in (*names, order)]
    last = (
        sa.select(
            *keys,
            *(sa.func.arg_max(one, rows.c.pos, type_=one.type).label(one.key) for one in rest),
        )
        .group_by(*keys)
        .subquery("last")
    )
    met = sa.and_(*sums.groups.same(asked, last), asked.c.limit_ >= last.c[order])
    known = (
        sa.select(asked, *(last.c[one.key] for one in rest))
        .select_from(AsofJoin(asked, last, met))
        .subquery("b")
    )
    met = sa.and_(*sums.groups.same(known, own), known.c.limit_ == own.c.limit_)
    joined = source.join(known, met)
    how = "differences of cumulative sums, joined by time" if order == "ts" else (
        "differences of cumulative sums, joined by number")  # fmt: skip
    return BeforeWindow(joined, lambda name, size: known.c[name], how)


def _with_late(sums: Sums, found: BeforeWindow, own: sa.FromClause) -> BeforeWindow:
    """With what late rows in the window have added that are due: they count as gone."""
    if sums.tables.dialect.forms == "duckdb":  # it takes long to plan many subqueries
        again = own.element.subquery("m2") if isinstance(own, sa.Subquery) else own.alias("m2")
        gone = LateSums(sums).of_all(again, again.c.limit_).subquery("gone")
        met = sa.and_(gone.c.pos_ == own.c.pos, gone.c.limit_ == own.c.limit_)
        source = found.source.outerjoin(gone, met)
        return BeforeWindow(
            source, lambda name, size: _plus(found.before(name, size), gone.c[name]), found.how
        )

    def before(name: str, size: Size) -> Element:
        gone = LateSums(sums).of_one(own, sums.bounds.limit(own, size), name)
        return _plus(found.before(name, size), gone)

    return BeforeWindow(found.source, before, found.how)


def _plus(one: Element, other: Element) -> Element:
    return sa.func.coalesce(one, 0) + sa.func.coalesce(other, 0)


def with_limits(sums: Sums, own: sa.FromClause, parameters: sa.FromClause | None) -> sa.FromClause:
    """DuckDB: new rows of the sums, each beside each member, and its limit there."""
    limit = sums.bounds.limit(own, sums.bounds.arguments(parameters)).label("limit_")
    if parameters is None:
        return sa.select(*own.c, limit).where(own.c.pos > sums.base).subquery("m")
    both = own.join(parameters, sa.true())
    columns = (*own.c, *parameters.c, limit)
    return sa.select(*columns).select_from(both).where(own.c.pos > sums.base).subquery("m")
