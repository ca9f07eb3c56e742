"""Expressions evaluated on one row of Python values; None is null."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from ctypes import c_float
from dataclasses import dataclass
from typing import Any

import numpy as np

from cep.plan.expressions import (
    Aggregated,
    Arithmetic,
    Call,
    Column,
    Comparison,
    Constant,
    EventTime,
    Expression,
    IsNull,
    Logical,
    Not,
    Output,
)
from cep.plan.types import Type, widest

Value = str | int | float | bool | list[int] | None

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True)
class Context:
    """What an expression can see: the arriving row and, in a select, the row being made."""

    row: tuple[Value, ...]
    time_msc: int
    aggregates: tuple[Value, ...] = ()
    outputs: tuple[Value, ...] = ()


def evaluate(expression: Expression, context: Context) -> Value:
    """The value of a plan expression."""
    match expression:
        case Constant():
            return cast(expression.value, expression.type)
        case Column():
            return context.row[expression.position]
        case Aggregated():
            return context.aggregates[expression.position]
        case Output():
            return context.outputs[expression.position]
        case EventTime():
            return context.time_msc
        case Arithmetic():
            return _arithmetic(expression, context)
        case Comparison():
            return _comparison(expression, context)
        case Logical():
            left, right = holds(expression.left, context), holds(expression.right, context)
            return (left and right) if expression.op == "and" else (left or right)
        case Not():
            return not holds(expression.operand, context)
        case IsNull():
            return evaluate(expression.operand, context) is None
        case Call():
            return _call(expression, context)


def holds(condition: Expression, context: Context) -> bool:
    """A condition; null counts as false."""
    return evaluate(condition, context) is True


def cast(value: Value, type_: Type) -> Value:
    """The value as its type holds it: ints wrap, floats round, NaN is null."""
    if value is None:
        return None
    match type_:
        case Type.INT | Type.LONG:
            wrapped = wrap(as_int(value), 32 if type_ is Type.INT else 64)
            return None if wrapped == NULL_LONG else wrapped
        case Type.FLOAT | Type.DOUBLE:
            rounded = as_float32(value) if type_ is Type.FLOAT else as_double(value)
            return None if math.isnan(rounded) else rounded
        case _:
            return value


NULL_LONG = -(2**63)
"""The one long that is not a value: engines store null as it."""


def wrap(value: int, bits: int) -> int:
    """Two's complement."""
    return (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def as_int(value: Value) -> int:
    assert isinstance(value, int), value
    return int(value)


def as_double(value: Value) -> float:
    assert isinstance(value, int | float), value
    return float(value)


def as_float32(value: Value) -> float:
    if isinstance(value, int):  # not by way of double, which would round twice
        return float(np.int64(value).astype(np.float32))
    return c_float(as_double(value)).value


def _arithmetic(node: Arithmetic, context: Context) -> Value:
    left = cast(evaluate(node.left, context), node.type)
    right = cast(evaluate(node.right, context), node.type)
    if left is None or right is None:
        return None
    if node.type.is_integer:
        return cast(_integer(node.op, as_int(left), as_int(right)), node.type)
    return cast(_floating(node.op, as_double(left), as_double(right)), node.type)


def _integer(op: str, left: int, right: int) -> int | None:
    match op:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
    if right == 0:
        return None
    quotient = abs(left) // abs(right)  # // alone would round down, not toward zero
    quotient = quotient if (left < 0) == (right < 0) else -quotient
    return quotient if op == "/" else left - quotient * right


def _floating(op: str, left: float, right: float) -> float | None:
    match op:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
    if right == 0 or (op == "%" and math.isinf(left)):
        return None
    return left / right if op == "/" else math.fmod(left, right)


def _comparison(node: Comparison, context: Context) -> bool:
    left, right = evaluate(node.left, context), evaluate(node.right, context)
    if left is None or right is None:
        return node.op == "!="
    if node.left.type.is_numeric:
        common = widest(node.left.type, node.right.type)
        left, right = cast(left, common), cast(right, common)
    return COMPARISONS[node.op](left, right)


def _call(node: Call, context: Context) -> Value:
    if node.function == "ifThenElse":
        condition, yes, no = node.arguments
        return cast(evaluate(yes if holds(condition, context) else no, context), node.type)
    if node.function in ("convert", "math:round"):
        value = evaluate(node.arguments[0], context)
        if value is None:
            return None
        assert isinstance(value, int | float)
        # halves go up
        return cast(value if node.function == "convert" else math.floor(value + 0.5), node.type)
    values = [cast(evaluate(argument, context), node.type) for argument in node.arguments]
    known = [value for value in values if value is not None]
    if not known:
        return None
    match node.function:
        case "coalesce":
            return known[0]
        case "maximum":
            return max(known)
        case "minimum":
            return min(known)
        case other:
            raise NotImplementedError(f"function {other}")
