"""Expressions: against the reference, on generated expressions and rows; slots and nulls."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.interpreter.context import Context, Shared
from cep.interpreter.expressions import evaluator
from cep.interpreter.rows import Row
from cep.plan.expressions import (
    Arithmetic,
    Call,
    Collected,
    Column,
    Comparison,
    Constant,
    EventTime,
    Expression,
    IsNull,
    Logical,
    Missing,
    Not,
)
from cep.plan.types import NUMERIC, Type, widest
from tests.campaign import examples
from tests.reference import expressions as reference

CONTEXT = Context(Shared(compat=False))
LONGS = st.integers(-(2**63) + 1, 2**63 - 1)
INTS = st.integers(-(2**31), 2**31 - 1) | st.integers(-5, 5)
DOUBLES = st.floats(allow_nan=False) | st.sampled_from([0.0, -0.0, 1.5, -2.25])
FLOATS = st.floats(width=32, allow_nan=False) | st.sampled_from([0.0, 1.5, -2.25])
VALUES = {
    Type.INT: INTS,
    Type.LONG: LONGS | st.integers(-5, 5),
    Type.FLOAT: FLOATS,
    Type.DOUBLE: DOUBLES,
}


def constants(type_: Type) -> st.SearchStrategy[Expression]:
    return VALUES[type_].map(lambda value: Constant(value, type_))


def leaves() -> st.SearchStrategy[Expression]:
    columns = [Column(i, f"c{i}", type_) for i, type_ in enumerate(NUMERIC)]
    return st.sampled_from(columns) | st.sampled_from(NUMERIC).flatmap(constants)


def operation(op: str, left: Expression, right: Expression) -> Expression:
    return Arithmetic(op, left, right, widest(left.type, right.type))


def deeper(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    return st.builds(operation, st.sampled_from("+-*/%"), inner, inner)


NUMBERS = st.recursive(leaves(), deeper, max_leaves=6)
CONDITIONS = st.recursive(
    st.builds(Comparison, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), NUMBERS, NUMBERS)
    | st.builds(IsNull, NUMBERS),
    lambda inner: (
        st.builds(Not, inner) | st.builds(Logical, st.sampled_from(["and", "or"]), inner, inner)
    ),
    max_leaves=4,
)
ROWS = st.tuples(*[st.none() | VALUES[type_] for type_ in NUMERIC])


def value(expression: Expression, row: Row) -> Any:
    return evaluator(expression, CONTEXT)(row)


@settings(max_examples=examples(500))
@given(expression=NUMBERS | CONDITIONS, values=ROWS)
def test_agrees_with_the_reference(expression: Expression, values: tuple[Any, ...]) -> None:
    expected = reference.evaluate(expression, reference.Context(values, 7))
    found = value(expression, Row(7, list(values)))
    assert found == expected and type(found) is type(expected)


V, L, F, D, S = (
    Column(0, "v", Type.INT),
    Column(1, "l", Type.LONG),
    Column(2, "f", Type.FLOAT),
    Column(3, "d", Type.DOUBLE),
    Column(4, "s", Type.STRING),
)
POINT_ONE = 0.10000000149011612


def row(*values: Any) -> Row:
    return Row(7, list(values))


def test_float_is_compared_as_a_double() -> None:
    tenth = Comparison("==", F, Constant(0.1, Type.DOUBLE))
    assert value(tenth, row(0, 0, POINT_ONE)) is False
    assert value(Comparison("==", F, Constant(0.1, Type.FLOAT)), row(0, 0, POINT_ONE)) is False
    assert value(Comparison("==", F, Constant(POINT_ONE, Type.FLOAT)), row(0, 0, POINT_ONE)) is True


def test_nan_is_null() -> None:
    assert value(IsNull(D), row(0, 0, 0.0, math.nan)) is True
    assert value(Comparison("==", D, D), row(0, 0, 0.0, math.nan)) is False
    assert value(Arithmetic("-", D, D, Type.DOUBLE), row(0, 0, 0.0, math.inf)) is None


def test_text_is_equal_or_not() -> None:
    assert value(Comparison("!=", S, Constant("x", Type.STRING)), row(0, 0, 0, 0, None)) is True
    assert value(Comparison("==", S, Constant("x", Type.STRING)), row(0, 0, 0, 0, "x")) is True


def test_columns_find_their_slot() -> None:
    first, second = Row(1, [1]), Row(2, [2])
    matched = Row(3, [], slots=[first, [first, second], None, []])
    column = Column(0, "v", Type.INT)
    assert value(column, matched) == 1
    assert value(Column(0, "v", Type.INT, slot=1, index=-1), matched) == 2
    assert value(Column(0, "v", Type.INT, slot=1, index=2), matched) is None
    assert value(Column(0, "v", Type.INT, slot=1, index=-3), matched) is None
    assert value(Column(0, "v", Type.INT, slot=2), matched) is None
    assert value(Collected(0, "v", 1), matched) == [1, 2]
    assert value(Collected(0, "v", 3), matched) == []
    assert value(Missing(2), matched) is True
    assert value(Missing(1, 1), matched) is False
    assert value(EventTime(), matched) == 3
    assert value(EventTime(1), matched) == 2
    assert value(EventTime(2), matched) is None


def test_a_row_without_slots_is_every_slot() -> None:
    assert value(Column(0, "v", Type.INT, slot=1), row(5)) == 5
    assert value(EventTime(1), row(5)) == 7


def test_unknown_function() -> None:
    with pytest.raises(KeyError, match="no:such"):
        value(Call("no:such", (), Type.INT), row())
