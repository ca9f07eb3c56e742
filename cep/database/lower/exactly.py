"""Batches end by name where a number cannot be summed up without error."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from cep.database.exact import exact
from cep.database.expressions import Lowering
from cep.database.tables import NUMBER, ColumnType, Tables, told_apart
from cep.plan.expressions import Column, Expression

COMPLAINT = "_is_too_fine_or_large_to_sum_up"
NAME_MAX = 60 - len(COMPLAINT)
"""PostgreSQL cuts names of more than 63 bytes."""


def complaint(argument: Expression, place: int) -> str:
    """What the database says: the name of a column that must not be true."""
    plain = told_apart(argument.name) if isinstance(argument, Column) else f"argument_{place + 1}"
    return f"{plain[-NAME_MAX:]}{COMPLAINT}"


def forbid(table: sa.Table, name: str) -> None:
    """A check that a column is never true."""
    known = {str(one.name) for one in table.constraints if isinstance(one, sa.CheckConstraint)}
    if name not in known:
        check = sa.CheckConstraint(~sa.column(name, sa.Boolean()), name=name)
        table.append_constraint(check)


def held(stream: str, argument: Column, tables: Tables) -> None:
    """Looks at an attribute of a stream's new rows."""
    name = complaint(argument, 0)

    def fill(table: sa.Table) -> sa.Select[Any]:
        rows, is_new = tables.fresh(stream, "e")
        value = Lowering(tables.dialect, tables.find({argument.slot: rows})).value(argument)
        of = exact(tables.dialect, "sum", argument.type)
        return sa.select(rows.c.pos, ~of.held(value)).where(is_new, ~of.held(value))

    columns: dict[str, ColumnType] = {"pos": NUMBER, name: sa.Boolean()}
    forbid(tables.following(stream, f"held {argument.position}", columns, ("pos",), fill), name)
