"""Joins and correlations: new rows of each input with the live earlier rows of the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa

from cep.database.dialects.base import Element
from cep.database.errors import Refusal
from cep.database.expressions import Lowering
from cep.database.lower.combinations import Arm, Combinations, combinations
from cep.database.lower.grouped import grouped, may_be_grouped, may_be_paired
from cep.database.lower.probes import probed
from cep.database.steps import Rows
from cep.database.tables import Tables
from cep.plan.expressions import Aggregated, Column, EventTime, Output
from cep.plan.families import PARAMETER, Family
from cep.plan.query import Join

SIDES = ("left", "right")


def lower_join(family: Family, tables: Tables) -> Rows:
    """One statement for all members: a part for each input whose rows cause results."""
    join = family.query.input
    if isinstance(join, Join) and join.kind != "inner" and len(family) > 1:
        raise Refusal("notimpl", "outer joins as a family")
    combined = combinations(family, tables)
    arms = [arm for slot in _triggers(family) for arm in _arms(combined, slot)]
    is_grouped = may_be_grouped(combined)
    is_paired = is_grouped and may_be_paired(combined, arms)
    selects = [
        grouped(combined, arm, is_paired) if is_grouped else _select(combined, arm) for arm in arms
    ]
    made = selects[0] if len(selects) == 1 else sa.union_all(*selects)
    strategy = "; ".join(dict.fromkeys(arm.strategy for arm in arms))
    orders = 1 if is_grouped else len(_order(combined, arms[0]))
    return Rows(made, strategy, orders=orders, is_grouped=is_grouped, is_paired=is_paired)


def _triggers(family: Family) -> list[int]:
    """The inputs whose rows cause results."""
    join = family.query.input
    slots = range(len(family.query.inputs))
    if isinstance(join, Join):
        return [slot for slot in slots if join.trigger in ("both", SIDES[slot])]
    return list(slots)


def _arms(combined: Combinations, slot: int) -> Iterator[Arm]:
    arm = probed(combined, slot) or combined.arm(slot)
    yield arm
    join = combined.family.query.input
    if isinstance(join, Join) and join.kind in ("full", SIDES[slot]):
        yield _alone(combined, arm)


def _alone(combined: Combinations, arm: Arm) -> Arm:
    """New rows that meet nothing: the other side is null."""
    newest = arm.newest
    meets = sa.select(sa.literal(1)).select_from(
        *(arm.rows[slot] for slot in combined.others(arm.arrived))
    )
    nothing = ~sa.exists(meets.where(*arm.conditions).correlate(newest))
    conditions = (*combined.begins(arm.rows, arm.arrived), nothing)
    order = (arm.order[0], *(sa.literal(0) for _ in arm.order[1:]))

    def find(node: Column | EventTime) -> Element:
        if node.slot in (arm.arrived, None):
            return arm.find(node)
        return sa.cast(sa.null(), combined.tables.dialect.column_types[node.type])

    strategy = f"new {combined.streams[arm.arrived]} that meet nothing"
    return Arm(arm.arrived, arm.rows, newest, conditions, order, find, strategy)


def _order(combined: Combinations, arm: Arm) -> tuple[Element, ...]:
    """What puts the results of one event in order; where it is one new row, the others do."""
    return arm.order[1:] if combined.tables.is_alone(combined.family) else arm.order


def _select(combined: Combinations, arm: Arm) -> sa.Select[Any]:
    query = combined.family.query
    lowering = Lowering(combined.tables.dialect, arm.find)
    values = [lowering.value(value) for _, value in query.projection]
    head: list[Element] = []
    if PARAMETER in arm.rows:
        head.append(arm.rows[PARAMETER].c.member.label("member"))
    head += [arm.newest.c.seq.label("seq"), arm.newest.c.ts.label("ts")]
    head += [one.label(f"o_{place}") for place, one in enumerate(_order(combined, arm))]
    head += [value.label(f"v_{place}") for place, value in enumerate(values)]
    select = sa.select(*head).select_from(arm.source).where(*arm.conditions)
    if query.having is None:
        return select

    def result(node: Aggregated | Output) -> Element:
        return values[node.position]

    having = Lowering(combined.tables.dialect, arm.find, result)
    return select.where(having.truth(query.having))
