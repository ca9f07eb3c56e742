"""The results of each event as one row: whole numbers in texts, a text for each column.

Databases that give rows one by one take longer for that than to find them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import aggregate_order_by

from cep.database.dialects.base import Element
from cep.database.expressions import Lowering
from cep.database.lower.combinations import Arm, Combinations
from cep.database.packed import ONE, PAIR
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
        combined.tables.dialect.forms in ("sqlite", "postgresql")
        and combined.parameters is not None
        and len(combined.streams) == 2
        and query.having is None
        and all(value.type in (Type.INT, Type.LONG) for _, value in query.projection)
        and all(_is_equality(one) for one in combined.found.conditions)
        and not any(one.window_filters for one in query.inputs)
        and not any(one is not None and one.keys for one in combined.lifetimes)
    )


def may_be_paired(combined: Combinations, arms: Sequence[Arm]) -> bool:
    """Whether SQLite may give a result's query and the one value that the new row has not as one.

    It does what it does with a text for each column, so that one column less is a gain.
    """
    nodes = [node for _, node in combined.family.query.projection]
    foreign = [[node for node in nodes if not _is_own(node, arm)] for arm in arms]
    return (
        combined.tables.dialect.forms == "sqlite"
        and all(_is_never_null(node, combined) for node in nodes)
        and all(len(found) == 1 and found[0].type is Type.INT for found in foreign)
    )


def grouped(combined: Combinations, arm: Arm, is_paired: bool) -> sa.Select[Any]:
    """For each new row that completes combinations: how many, for which queries, and their values.

    Columns `seq`, `ts`, `o_0`, `number`, `member`, `v_0`, ..
    """
    newest, member = arm.newest.c, _member(arm)
    values = [node for _, node in combined.family.query.projection]
    if is_paired:
        lowering = Lowering(combined.tables.dialect, arm.find)
        (foreign,) = (node for node in values if not _is_own(node, arm))
        member = member * sa.literal_column(str(PAIR)) + lowering.value(foreign)
        own = [sa.null() if node is foreign else lowering.value(node) for node in values]
    else:
        own = [_value(node, combined, arm) for node in values]
    texts = [_text(member, combined, arm).label("member")]
    texts += [one.label(f"v_{place}") for place, one in enumerate(own)]
    head = [newest.seq.label("seq"), newest.ts.label("ts"), arm.order[0].label("o_0")]
    keys = [newest.pos]
    # SQLite needs none but the number, and loops by it
    if combined.tables.dialect.forms != "sqlite":
        keys += [newest.seq, newest.ts]
    number = sa.func.count().label("number")
    select = sa.select(*head, number, *texts).select_from(arm.source)
    return select.where(*arm.conditions).group_by(*keys)


def _member(arm: Arm) -> Element:
    return arm.rows[PARAMETER].c.member


def _value(node: Expression, combined: Combinations, arm: Arm) -> Element:
    """The values of all results; SQLite gives what is of the new row alone once."""
    value = Lowering(combined.tables.dialect, arm.find).value(node)
    if not _is_never_null(node, combined):
        value = sa.func.coalesce(sa.cast(value, sa.Text()), "null")
    if _is_own(node, arm) and combined.tables.dialect.forms == "sqlite":
        return sa.literal_column(f"'{ONE}'", sa.Text()).concat(sa.cast(value, sa.Text()))
    return _text(value, combined, arm)


def _is_never_null(node: Expression, combined: Combinations) -> bool:
    """Whether it is compared in a condition, which is false of null."""
    return any(node in walk(one) for one in combined.found.conditions)


def _is_own(node: Expression, arm: Arm) -> bool:
    """Whether the new row alone tells a value."""
    columns = [one for one in walk(node) if isinstance(one, Column)]
    return bool(columns) and all(one.slot == arm.arrived for one in columns)


def _is_equality(condition: Expression) -> bool:
    """One that is false of null, for all its operations give null of null."""
    simple = all(
        isinstance(node, Column | Constant | Arithmetic | Comparison) for node in walk(condition)
    )
    return isinstance(condition, Comparison) and condition.op == "==" and simple


def _text(value: Element, combined: Combinations, arm: Arm) -> Element:
    """All values of a group, with commas, in order."""
    if combined.tables.dialect.forms == "sqlite":
        return sa.func.group_concat(value)
    comma: Element = sa.literal_column("','")
    ordered = aggregate_order_by(comma, *arm.order[1:])
    return sa.func.string_agg(sa.cast(value, sa.Text()), ordered)
