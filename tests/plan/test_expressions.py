"""Types of expressions, and their text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.lang import RuleError
from cep.plan import compile_rules
from cep.plan.expressions import Arithmetic, Column, Constant, Expression, walk
from cep.plan.text import duration_text, expression_text
from cep.plan.types import Type
from tests.campaign import examples

ATTRIBUTES = "s string, t string, i int, l long, f float, d double, b bool"


def selected(text: str) -> Expression:
    rules = f"define stream S ({ATTRIBUTES}); from S select {text} as x insert into T;"
    return compile_rules(rules).queries[0].projection[0][1]


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("i + i", Type.INT),
        ("i / i", Type.INT),
        ("i + l", Type.LONG),
        ("l % i", Type.LONG),
        ("l * f", Type.FLOAT),
        ("f - d", Type.DOUBLE),
        ("i + 1L", Type.LONG),
        ("i + 1.0", Type.DOUBLE),
        ("i + 1 sec", Type.LONG),
        ("-f", Type.FLOAT),
        ("i > d", Type.BOOL),
        ("s == t", Type.BOOL),
        ("b != true", Type.BOOL),
        ("not b", Type.BOOL),
        ("s is null", Type.BOOL),
        ("b and i > 1 or b", Type.BOOL),
        ("coalesce(s, t)", Type.STRING),
        ("coalesce(f, 1.0f)", Type.FLOAT),
        ("ifThenElse(b, i, 2)", Type.INT),
        ("IFTHENELSE(b, s, 'x')", Type.STRING),
        ("maximum(l, 2L, 3L)", Type.LONG),
        ("minimum(d)", Type.DOUBLE),
        ("eventTimestamp()", Type.LONG),
        ("avg(i)", Type.DOUBLE),
        ("stddev(f)", Type.DOUBLE),
        ("sum(i)", Type.LONG),
        ("sum(l)", Type.LONG),
        ("sum(f)", Type.DOUBLE),
        ("count()", Type.LONG),
        ("count(s)", Type.LONG),
        ("min(f)", Type.FLOAT),
        ("max(i)", Type.INT),
        ("S.i", Type.INT),
    ],
)
def test_result_type(text: str, type_: Type) -> None:
    assert selected(text).type is type_


def test_float_constants_have_single_precision() -> None:
    assert selected("0.1f") == Constant(0.10000000149011612, Type.FLOAT)
    assert selected("0.1") == Constant(0.1, Type.DOUBLE)


def test_a_sign_before_a_number_is_part_of_it() -> None:
    assert selected("-2147483647") == Constant(-(2**31) + 1, Type.INT)


def test_negation_is_multiplication() -> None:
    """Not subtraction from 0, which would lose the sign of zero."""
    one = Constant(-1, Type.INT)
    assert selected("-d") == Arithmetic("*", one, Column(5, "d", Type.DOUBLE), Type.DOUBLE)


def test_having_sees_outputs_before_attributes() -> None:
    rules = f"define stream S ({ATTRIBUTES}); from S select d as i having i > 1.5 and l > 1"
    (query,) = compile_rules(rules + " insert into T;").queries
    assert query.having is not None
    kinds = [type(node).__name__ for node in walk(query.having)]
    assert kinds == [
        "Output",
        "Constant",
        "Comparison",
        "Column",
        "Constant",
        "Comparison",
        "Logical",
    ]


def numeric() -> st.SearchStrategy[str]:
    leaves = st.sampled_from(["i", "l", "f", "d", "1", "2L", "2.5", "0.5f", "1 min"])
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(inner, st.sampled_from("+-*/%"), inner).map(" ".join),
            inner.map(lambda text: f"({text})"),
            inner.map(lambda text: f"coalesce({text})"),
            inner.map(lambda text: f"sum(d) + {text}"),
        ),
        max_leaves=8,
    )


def boolean() -> st.SearchStrategy[str]:
    comparison = st.tuples(numeric(), st.sampled_from(["<", ">=", "==", "!="]), numeric())
    leaves = st.one_of(
        st.sampled_from(["b", "true", "s == t", "s != 'x'", "s is null", "not b is null"]),
        comparison.map(" ".join).map(lambda text: f"({text})"),
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(" ".join),
            inner.map(lambda text: f"not ({text})"),
            inner.map(lambda text: f"({text}) is null"),
        ),
        max_leaves=6,
    )


@given(st.one_of(numeric(), boolean()))
@settings(max_examples=examples(150))
def test_the_text_of_an_expression_means_the_expression(text: str) -> None:
    rules = f"define stream S ({ATTRIBUTES}); from S select {text} as x insert into T;"
    (query,) = compile_rules(rules).queries
    expression = query.projection[0][1]
    shown = expression_text(expression, query.aggregates)
    assert selected(shown) == expression


@pytest.mark.parametrize(
    "text", ["i + s", "s > t", "not i", "b + b", "i and b", "s == i", "avg(s)", "nothing(i)", "u"]
)
def test_refused(text: str) -> None:
    with pytest.raises(RuleError):
        selected(text)


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "0 ms"),
        (1, "1 ms"),
        (90_000, "1 min 30 sec"),
        (90_061_001, "1 day 1 hour 1 min 1 sec 1 ms"),
    ],
)
def test_duration_text(ms: int, text: str) -> None:
    assert duration_text(ms) == text
