"""Expressions made callable: one closure a node, composed once when the plan starts."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from cep.interpreter.columns import collected, column, event_time, missing
from cep.interpreter.context import Context
from cep.interpreter.functions import function
from cep.interpreter.rows import Evaluator, Row
from cep.plan.expressions import (
    Aggregated,
    Arithmetic,
    Call,
    Collected,
    Column,
    Comparison,
    Constant,
    EventTime,
    Expression,
    InTable,
    IsNull,
    Logical,
    Missing,
    Not,
    Output,
)
from cep.plan.numbers import Binary, arithmetic, widening
from cep.plan.types import Type, widest

COMPARISONS: dict[str, Binary] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def evaluator(expression: Expression, context: Context) -> Evaluator:
    """The expression as a function of a row; null is None.

    Columns read `row.values`, or in rows that have slots the row in their slot.
    """
    return _MAKERS[type(expression)](expression, context)


def _constant(node: Constant, context: Context) -> Evaluator:
    value = node.value
    widen = widening(Type.LONG if isinstance(value, int) else node.type, node.type)
    if widen is not None and isinstance(value, int):
        value = widen(value)
    return lambda row: value


def _aggregated(node: Aggregated, context: Context) -> Evaluator:
    position = node.position
    return lambda row: row.aggregates[position]


def _output(node: Output, context: Context) -> Evaluator:
    position = node.position
    return lambda row: row.output[position]


def _in_table(node: InTable, context: Context) -> Evaluator:
    search = context.shared.tables[node.table].search(node.condition, context)
    found: Evaluator = search.any
    return found


def _arithmetic(node: Arithmetic, context: Context) -> Evaluator:
    left = _widened(node.left, node.type, context)
    right = _widened(node.right, node.type, context)
    return _of_two(left, right, arithmetic(node.op, node.type))


def _of_two(left: Evaluator, right: Evaluator, apply: Binary) -> Evaluator:
    def evaluate(row: Row) -> Any:
        a = left(row)
        if a is None:
            return None
        b = right(row)
        return None if b is None else apply(a, b)

    return evaluate


def _widened(node: Expression, type_: Type, context: Context) -> Evaluator:
    """The expression as the wider type."""
    evaluate = evaluator(node, context)
    widen = widening(node.type, type_)
    if widen is None:
        return evaluate
    if isinstance(node, Constant):
        value = None if node.value is None else widen(node.value)
        return lambda row: value

    def widened(row: Row) -> Any:
        value = evaluate(row)
        return None if value is None else widen(value)

    return widened


def _comparison(node: Comparison, context: Context) -> Evaluator:
    left, right = _comparable(node, context)
    compare = COMPARISONS[node.op]
    if node.op == "!=":
        return _differs(left, right)
    if isinstance(node.right, Constant) and node.right.value is not None:
        return _compared_with(left, compare, right(Row(0, [])))

    def holds(row: Row) -> bool:
        a = left(row)
        if a is None:
            return False
        b = right(row)
        return b is not None and compare(a, b)

    return holds


def _compared_with(left: Evaluator, compare: Binary, constant: Any) -> Evaluator:
    def holds(row: Row) -> bool:
        value = left(row)
        return value is not None and compare(value, constant)

    return holds


def _differs(left: Evaluator, right: Evaluator) -> Evaluator:
    """A null differs from everything, another null too."""

    def differs(row: Row) -> bool:
        a = left(row)
        b = right(row)
        return a is None or b is None or a != b

    return differs


def _comparable(node: Comparison, context: Context) -> tuple[Evaluator, Evaluator]:
    """Both sides; numbers as the wider type of the two."""
    if node.left.type.is_numeric and node.right.type.is_numeric:
        common = widest(node.left.type, node.right.type)
        return _widened(node.left, common, context), _widened(node.right, common, context)
    return evaluator(node.left, context), evaluator(node.right, context)


def _logical(node: Logical, context: Context) -> Evaluator:
    left, right = evaluator(node.left, context), evaluator(node.right, context)
    if node.op == "and":
        return lambda row: left(row) is True and right(row) is True
    return lambda row: left(row) is True or right(row) is True


def _not(node: Not, context: Context) -> Evaluator:
    operand = evaluator(node.operand, context)
    return lambda row: operand(row) is not True


def _is_null(node: IsNull, context: Context) -> Evaluator:
    operand = evaluator(node.operand, context)

    def is_null(row: Row) -> bool:
        value = operand(row)
        return value is None or value != value

    return is_null


def _call(node: Call, context: Context) -> Evaluator:
    return function(node, [evaluator(argument, context) for argument in node.arguments], context)


_MAKERS: dict[type, Callable[[Any, Context], Evaluator]] = {
    Constant: _constant,
    Column: lambda node, context: column(node),
    Collected: lambda node, context: collected(node),
    Missing: lambda node, context: missing(node),
    EventTime: lambda node, context: event_time(node, context.compat),
    InTable: _in_table,
    Aggregated: _aggregated,
    Output: _output,
    Arithmetic: _arithmetic,
    Comparison: _comparison,
    Logical: _logical,
    Not: _not,
    IsNull: _is_null,
    Call: _call,
}
