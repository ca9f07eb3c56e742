"""Which part of a condition an index can answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cep.interpreter.tables.index import MIRRORED
from cep.plan.expressions import (
    Arithmetic,
    Collected,
    Column,
    Comparison,
    Constant,
    EventTime,
    Expression,
    InTable,
    Logical,
    Missing,
    walk,
)
from cep.plan.types import Type


@dataclass(frozen=True, slots=True)
class Lookup:
    """`key op value`: the key depends on the held row only, the value not at all."""

    key: Expression
    op: str
    value: Expression


def conjuncts(condition: Expression | None) -> Iterator[Expression]:
    """The parts of a condition that must all be true."""
    if isinstance(condition, Logical) and condition.op == "and":
        yield from conjuncts(condition.left)
        yield from conjuncts(condition.right)
    elif condition is not None:
        yield condition


def lookups(condition: Expression | None, slot: int) -> list[Lookup]:
    """Every lookup that a condition on rows held in `slot` allows, equalities first."""
    found = [
        lookup
        for part in conjuncts(condition)
        if isinstance(part, Comparison)
        for lookup in _sides(part, slot)
    ]
    return sorted(found, key=lambda lookup: lookup.op != "==")


def _sides(comparison: Comparison, slot: int) -> Iterator[Lookup]:
    left, right = comparison.left, comparison.right
    if comparison.op not in MIRRORED or not _comparable(left.type, right.type):
        return
    if _is_key(left, slot) and not _depends(right, slot):
        yield Lookup(left, comparison.op, right)
    if _is_key(right, slot) and not _depends(left, slot):
        yield Lookup(right, MIRRORED[comparison.op], left)


def _is_key(expression: Expression, slot: int) -> bool:
    """Whether an expression is made of attributes of the row in `slot` and of constants."""
    nodes = walk(expression)
    return any(isinstance(node, Column) for node in nodes) and all(
        isinstance(node, Constant | Arithmetic) or (isinstance(node, Column) and node.slot == slot)
        for node in nodes
    )


def _depends(expression: Expression, slot: int) -> bool:
    """Whether an expression may see the row in `slot`; in doubt it does."""
    for node in walk(expression):
        if isinstance(node, Column | Collected | Missing) and node.slot == slot:
            return True
        if isinstance(node, InTable) or (isinstance(node, EventTime) and node.slot in (None, slot)):
            return True
    return False


def _comparable(left: Type, right: Type) -> bool:
    """Whether an index compares the two as the language does (long with double it does not)."""
    if left is right:
        return left is not Type.OBJECT
    if Type.LONG in (left, right):
        return left.is_integer and right.is_integer
    return left.is_numeric and right.is_numeric
