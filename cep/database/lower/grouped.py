"""The results of each event as one row: whole numbers in texts, a text for each column.

Databases that give rows one by one take longer for that than to find them.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import aggregate_order_by

from cep.database.dialects.base import Element
from cep.database.expressions import Lowering
from cep.database.lower.combinations import Arm, Combinations
from cep.database.packed import ONE
from cep.plan.expressions import Arithmetic, Column, Comparison, Constant, Expression, walk
from cep.plan.families import PARAMETER
from cep.plan.types import Type


def may_be_grouped(combined: Combinations) -> bool:
    """Whether results are whole numbers, and a loop over the rows finds those of a query in order.

    SQLite puts together what it finds as it finds it: by an index on a column which for one query
    has one value, or by time or number. An inequality might make it choose another index.
    """
    query = combined.family.query
    return (
        combined.tables.dialect.name in ("sqlite", "postgresql")
        and combined.parameters is not None
        and len(combined.streams) == 2
        and query.having is None
        and all(value.type in (Type.INT, Type.LONG) for _, value in query.projection)
        and all(_is_equality(one) for one in combined.found.conditions)
        and not any(one.window_filters for one in query.inputs)
        and not any(one is not None and one.keys for one in combined.lives)
    )


def grouped(combined: Combinations, arm: Arm) -> sa.Select[Any]:
    """For each new row that completes combinations: how many, for which queries, and their values.

    Columns `seq`, `ts`, `o_0`, `number`, `member`, `v_0`, ..
    """
    newest = arm.newest.c
    texts = [_text(arm.rows[PARAMETER].c.member, combined, arm).label("member")]
    for place, (_, node) in enumerate(combined.family.query.projection):
        texts.append(_value(node, combined, arm).label(f"v_{place}"))
    head = [newest.seq.label("seq"), newest.ts.label("ts"), arm.order[0].label("o_0")]
    keys = [newest.pos]
    if combined.tables.dialect.name != "sqlite":  # which needs none but the number, and loops by it
        keys += [newest.seq, newest.ts]
    number = sa.func.count().label("number")
    select = sa.select(*head, number, *texts).select_from(arm.source)
    return select.where(*arm.conditions).group_by(*keys)


def _value(node: Expression, combined: Combinations, arm: Arm) -> Element:
    """The values of all results; SQLite gives what is of the new row alone once."""
    value = Lowering(combined.tables.dialect, arm.find).value(node)
    conditions = combined.found.conditions
    if not any(node in walk(one) for one in conditions):  # it may be null
        value = sa.func.coalesce(sa.cast(value, sa.Text()), "null")
    columns = [one for one in walk(node) if isinstance(one, Column)]
    is_one = bool(columns) and all(one.slot == arm.arrived for one in columns)
    if is_one and combined.tables.dialect.name == "sqlite":
        return sa.literal_column(f"'{ONE}'", sa.Text()).concat(sa.cast(value, sa.Text()))
    return _text(value, combined, arm)


def _is_equality(condition: Expression) -> bool:
    """One that is false of null, for all its operations give null of null."""
    simple = all(
        isinstance(node, Column | Constant | Arithmetic | Comparison) for node in walk(condition)
    )
    return isinstance(condition, Comparison) and condition.op == "==" and simple


def _text(value: Element, combined: Combinations, arm: Arm) -> Element:
    """All values of a group, with commas, in order."""
    if combined.tables.dialect.name == "sqlite":
        return sa.func.group_concat(value)
    comma: Element = sa.literal_column("','")
    ordered = aggregate_order_by(comma, *arm.order[1:])
    return sa.func.string_agg(sa.cast(value, sa.Text()), ordered)
