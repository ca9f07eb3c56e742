"""Constant folding: what can be computed once is not computed per row.

Follows the arithmetic of rows exactly: whole numbers wrap, division by zero is null, floats have
single precision; see `docs/rule-language.md`. What would become null or infinite is left alone,
and so is the smallest whole number, which stands for null in columns.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable
from functools import reduce
from typing import Any

from cep.plan.expressions import (
    Arithmetic,
    Comparison,
    Constant,
    Expression,
    IsNull,
    Logical,
    Not,
)
from cep.plan.rewrite.expressions import map_children
from cep.plan.types import Type

Number = int | float
BITS = {Type.INT: 32, Type.LONG: 64}
COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def folded(expression: Expression) -> Expression:
    """The expression with its constant parts computed."""
    expression = map_children(expression, folded)
    match expression:
        case Arithmetic(_, Constant(), Constant()):
            return _arithmetic(expression)
        case Comparison(_, Constant(), Constant()):
            return _truth(_compare(expression))
        case Logical():
            return _logical(expression)
        case Not(Constant(value)):
            return _truth(value is not True)
        case IsNull(Constant(value)):
            return _truth(value is None)
        case _:
            return expression


def _truth(value: bool) -> Constant:
    return Constant(value, Type.BOOL)


def _logical(expression: Logical) -> Expression:
    """`false and x` is false, `true and x and y` is `x and y`; null counts as false.

    Beside a single `x` the `true` stays: it makes a null x false.
    """
    parts = _parts(expression, expression.op)
    decides = expression.op == "or"
    constants = [part.value is True for part in parts if isinstance(part, Constant)]
    rest = [part for part in parts if not isinstance(part, Constant)]
    if decides in constants:
        return _truth(decides)
    if not rest:
        return _truth(not decides)
    kept = rest if len(rest) > 1 or not constants else [_truth(not decides), *rest]
    return reduce(lambda left, right: Logical(expression.op, left, right), kept)


def _parts(expression: Expression, op: str) -> list[Expression]:
    """The operands of a chain of one operator, left to right."""
    if isinstance(expression, Logical) and expression.op == op:
        return _parts(expression.left, op) + _parts(expression.right, op)
    return [expression]


def _compare(expression: Comparison) -> bool:
    left, right = _value(expression.left), _value(expression.right)
    if left is None or right is None:
        return expression.op == "!="
    if Type.DOUBLE in (expression.left.type, expression.right.type) or Type.FLOAT in (
        expression.left.type,
        expression.right.type,
    ):
        assert not isinstance(left, str) and not isinstance(right, str)
        left, right = float(left), float(right)
    return bool(COMPARE[expression.op](left, right))


def _value(expression: Expression) -> str | Number | bool | None:
    assert isinstance(expression, Constant)
    return expression.value


def _arithmetic(expression: Arithmetic) -> Expression:
    left, right = _value(expression.left), _value(expression.right)
    type_ = expression.type
    if left is None or right is None or (expression.op in "/%" and not right):
        return expression
    assert not isinstance(left, str) and not isinstance(right, str)
    if type_.is_integer:
        whole = _wrapped(_whole(expression.op, int(left), int(right)), BITS[type_])
        return expression if whole == -1 << BITS[type_] - 1 else Constant(whole, type_)
    value = _real(expression.op, float(left), float(right))
    value = _single(value) if type_ is Type.FLOAT else value
    return Constant(value, type_) if math.isfinite(value) else expression


def _whole(op: str, left: int, right: int) -> int:
    """Division is cut toward zero; the remainder has the dividend's sign."""
    match op:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
    quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
    return quotient if op == "/" else left - right * quotient


def _wrapped(value: int, bits: int) -> int:
    half = 1 << (bits - 1)
    return (value + half) % (1 << bits) - half


def _real(op: str, left: float, right: float) -> float:
    match op:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/":
            return left / right
    return math.fmod(left, right)


def _single(value: float) -> float:
    """The nearest value of single precision; too large ones are infinite."""
    try:
        (single,) = struct.unpack("f", struct.pack("f", value))
    except OverflowError:
        return math.copysign(math.inf, value)
    return float(single)
