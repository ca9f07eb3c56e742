"""Instants of a stream: the distinct times of its rows, which a matching goes through in turn."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from cep.database.dialects.base import Element
from cep.database.steps import batch_number
from cep.database.tables import NUMBER, Tables

COLUMNS = {"pos": NUMBER, "first_pos": NUMBER, "before_pos": NUMBER}

_HERE, _BEFORE = (0, 0), (-1, -1)
"""Rows of the same instant, and of the one before."""


def instants(stream: str, tables: Tables) -> sa.Table:
    """A table of the first row of each row's instant (`first_pos`), and of the instant before it.

    `before_pos` is 0 where there is none before.
    """
    return tables.following(
        stream, "instants", COLUMNS, ("pos",), lambda table: _fill(stream, tables, table)
    )


def instants_by_before(stream: str, tables: Tables) -> sa.Table:
    """The same with the rows of the next instant at hand."""
    known = instants(stream, tables)
    if tables.dialect.forms == "duckdb":
        return known
    copied = sa.select(*known.c).where(known.c.pos > batch_number("base", stream))
    return tables.following(
        stream, "next_instants", COLUMNS, ("before_pos", "pos"), lambda table: copied
    )


def precedes(row: sa.FromClause, instant: sa.FromClause) -> Element:
    """Whether a row is of the instant before another one: such rows lie side by side."""
    return sa.and_(row.c.pos >= instant.c.before_pos, row.c.pos < instant.c.first_pos)


def _fill(stream: str, tables: Tables, table: sa.Table) -> sa.Select[Any]:
    """The new rows; the instant of the last row before them may still be going on."""
    rows, base, known = tables.stream(stream), batch_number("base", stream), table.alias("k")
    begun = sa.func.coalesce(known.c.first_pos, rows.c.pos)
    first = sa.func.min(begun)
    before = sa.func.coalesce(
        sa.func.max(known.c.before_pos).over(order_by=rows.c.ts, groups=_HERE),
        first.over(order_by=rows.c.ts, groups=_BEFORE),
        0,
    )
    found = sa.select(
        rows.c.pos,
        first.over(order_by=rows.c.ts, groups=_HERE).label("first_pos"),
        before.label("before_pos"),
    )
    joined = rows.outerjoin(known, known.c.pos == rows.c.pos)
    whole = found.select_from(joined).where(rows.c.pos >= base).subquery("n")
    return sa.select(*whole.c).where(whole.c.pos > base)
