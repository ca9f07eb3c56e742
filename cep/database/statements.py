"""What a lowering gives back as statements: rows into a stream, or rows for the caller."""

from __future__ import annotations

from typing import Any, TypeAlias

import sqlalchemy as sa
from sqlalchemy.sql.base import ColumnCollection

from cep.database.dialects.base import Element
from cep.database.steps import Fetch, Rows, Statement, batch_number
from cep.database.tables import Tables
from cep.plan.families import Family
from cep.plan.types import Schema

Columns: TypeAlias = ColumnCollection[str, Any]


def insert(target: str, rows: Rows, tables: Tables) -> Statement:
    """Numbers the rows in the order of the events behind them and puts them on a stream."""
    table = tables.stream(target)
    if rows.order and isinstance(rows.select, sa.Select):
        known: Columns = rows.select.selected_columns
        select, order = rows.select, rows.order
    else:
        known = rows.select.subquery("made").c
        select = sa.select(*known)
        order = (known.seq, *(known[f"o_{place}"] for place in range(rows.orders)))
    position = batch_number("base", target) + sa.func.row_number().over(order_by=order)
    numbered = select.with_only_columns(position, known.seq, known.ts, *_values(known))
    into = sa.insert(table).from_select(list(table.c.keys()), numbered)
    return Statement.of(tables.dialect, into)


def fetch(family: Family, rows: Rows, tables: Tables) -> Fetch:
    """Reads what a family makes, without putting it anywhere."""
    schemas = tuple(query.schema for query in family.members)
    has_member = len(family) > 1 and not rows.is_wide
    head = [*(["seq", "number"] if rows.is_grouped else ["seq"]), *(["member"] * has_member)]
    return Fetch(
        Statement.of(tables.dialect, _read(rows, head)),
        family.targets,
        tuple(schema.names for schema in schemas),
        tuple(attribute.type for attribute in schemas[0].attributes),
        has_member=has_member,
        is_wide=rows.is_wide,
        is_packed=rows.is_packed,
        is_grouped=rows.is_grouped,
        is_paired=rows.is_paired,
    )


def _read(rows: Rows, head: list[str]) -> sa.Select[Any]:
    """The columns that are asked for, in order of `head` and what the lowering says."""
    if (rows.is_ordered or rows.order) and isinstance(rows.select, sa.Select):
        known: Columns = rows.select.selected_columns
        select = rows.select.with_only_columns(*(known[name] for name in head), *_values(known))
        return select.order_by(*rows.order)
    made = rows.select.subquery("made").c
    order = ["seq", *(f"o_{place}" for place in range(rows.orders))]
    select = sa.select(*(made[name] for name in head), *_values(made))
    return select.order_by(*(made[name] for name in order))


def _values(known: Columns) -> list[Element]:
    return [column for name, column in known.items() if name.startswith("v_")]


def fetch_stream(target: str, schema: Schema, tables: Tables) -> Fetch:
    """Reads the new rows of a stream."""
    table = tables.stream(target)
    values = [column for column in table.c if column.key.startswith("a_")]
    select = sa.select(table.c.seq, *values).where(table.c.pos > batch_number("base", target))
    types = tuple(attribute.type for attribute in schema.attributes)
    statement = Statement.of(tables.dialect, select.order_by(table.c.pos))
    return Fetch(statement, (target,), (schema.names,), types)
