"""Conditions between a row and a partial match that an index answers: order and equality."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cep.engine.codegen.match_scope import slots
from cep.engine.kernels.partials import BY_EQUALITY, BY_THRESHOLD
from cep.engine.layout import is_float
from cep.plan.expressions import Arithmetic, Comparison, Expression
from cep.plan.families import PARAMETER
from cep.plan.types import Type

SWAPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True)
class Index:
    """`value` of the row against `limit` of the partial match.

    By threshold: `value > limit` (`equal`: or equal; `negated`: both with the other sign).
    """

    kind: int
    value: Expression
    limit: Expression
    equal: bool = False
    negated: bool = False


def index_of(
    crossing: Sequence[Expression], slot: int
) -> tuple[Index | None, tuple[Expression, ...]]:
    """The index of the state in `slot` for its conditions, and those it does not answer.

    A threshold must be the only condition, for its heap loses what it has found.
    """
    if len(crossing) == 1 and (threshold := _threshold(crossing[0], slot)):
        return threshold, ()
    for place, condition in enumerate(crossing):
        if equality := _equality(condition, slot):
            return equality, (*crossing[:place], *crossing[place + 1 :])
    return None, tuple(crossing)


def _is_own(expression: Expression, slot: int) -> bool:
    return slots(expression) - {PARAMETER} == {slot}


def _threshold(condition: Expression, slot: int) -> Index | None:
    if not isinstance(condition, Comparison) or condition.op not in SWAPPED:
        return None
    value, limit, op = condition.left, condition.right, condition.op
    if slot in slots(limit):
        value, limit, op = limit, value, SWAPPED[op]
    if not _is_own(value, slot) or slot in slots(limit) or not _is_exact(value, limit):
        return None
    return Index(BY_THRESHOLD, value, limit, "=" in op, op.startswith("<"))


def _is_exact(left: Expression, right: Expression) -> bool:
    """Whether both sides compare as doubles: the native comparison of two longs is one of longs."""
    types = {left.type, right.type}
    if not all(type_.is_numeric for type_ in types):
        return False
    return any(map(is_float, types)) or Type.LONG not in types


def _equality(condition: Expression, slot: int) -> Index | None:
    """`value == limit` of whole numbers, strings or bools; `limit - value == constant` of ints."""
    if not isinstance(condition, Comparison) or condition.op != "==":
        return None
    left, right = condition.left, condition.right
    if is_float(left.type) or is_float(right.type):
        return None
    for value, limit in ((left, right), (right, left)):
        if _is_own(value, slot) and slot not in slots(limit):
            return Index(BY_EQUALITY, value, limit)
        if slots(limit) <= {PARAMETER} and (solved := _solved(value, limit, slot)):
            return solved
    return None


def _solved(left: Expression, constant: Expression, slot: int) -> Index | None:
    """`left == constant` solved for the row's operand of a sum or difference.

    Ints wrap, so both forms are true of the same values.
    """
    if not isinstance(left, Arithmetic) or left.op not in ("+", "-"):
        return None
    if not left.type == left.left.type == left.right.type == constant.type == Type.INT:
        return None
    for value, limit in ((left.left, left.right), (left.right, left.left)):
        if _is_own(value, slot) and slot not in slots(limit):
            if left.op == "+":
                solved = Arithmetic("-", constant, limit, Type.INT)
            elif value is left.left:
                solved = Arithmetic("+", constant, limit, Type.INT)
            else:
                solved = Arithmetic("-", limit, constant, Type.INT)
            return Index(BY_EQUALITY, value, solved)
    return None
