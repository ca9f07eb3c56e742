"""Rewrites keep the meaning of expressions."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.lang import parse_expression
from cep.lang.errors import Source
from cep.plan import compile_rules
from cep.plan.check import Checker
from cep.plan.expressions import Arithmetic, Constant, Expression, walk
from cep.plan.functions import register, unregister
from cep.plan.problems import Problems
from cep.plan.rewrite import rewrite
from cep.plan.rewrite.conjunctions import chance, conjuncts, cost, ordered, rank
from cep.plan.rewrite.folding import folded
from cep.plan.scope import one_row
from cep.plan.text import expression_text
from cep.plan.types import Schema, Type
from tests.campaign import examples
from tests.plan.rules import query
from tests.reference.expressions import Context, Value, evaluate

SCHEMA = Schema.of(i=Type.INT, j=Type.LONG, f=Type.FLOAT, d=Type.DOUBLE, s=Type.STRING, b=Type.BOOL)
ROWS: tuple[tuple[Value, ...], ...] = (
    (3, 2**40, 0.5, 2.25, "x", True),
    (-7, -1, -1.25, 0.1, "y", False),
    (0, 0, 0.0, 0.0, "", False),
    (None, None, None, None, None, None),
)


def checked(text: str) -> Expression:
    """An expression as it is written."""
    scope = one_row(Problems(Source(text)), "S", SCHEMA)
    return Checker(scope).check(parse_expression(text))


def shown(text: str) -> str:
    return expression_text(ordered(folded(checked(text))))


def numbers() -> st.SearchStrategy[str]:
    leaves = ["0", "1", "7", "2147483647", "3L", "9223372036854775807L", "0.5f", "0.1", "i", "d"]
    return st.recursive(
        st.sampled_from([*leaves, *leaves[:-2], "j", "f", "coalesce(i, 1)"]),
        lambda inner: st.one_of(
            st.tuples(inner, st.sampled_from("+-*/%"), inner).map(lambda p: f"({' '.join(p)})"),
            inner.map(lambda text: f"(-1 * {text})"),
        ),
        max_leaves=6,
    )


def truths() -> st.SearchStrategy[str]:
    comparison = st.tuples(
        numbers(), st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), numbers()
    ).map(lambda parts: f"({' '.join(parts)})")
    leaves = st.one_of(comparison, st.sampled_from(["true", "false", "b", "s == 'x'", "i is null"]))
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(
                lambda parts: f"({' '.join(parts)})"
            ),
            inner.map(lambda text: f"not ({text})"),
            inner.map(lambda text: f"({text}) is null"),
        ),
        max_leaves=6,
    )


@given(st.one_of(numbers(), truths()))
@settings(max_examples=examples(500))
def test_rewritten_expressions_have_the_same_values(text: str) -> None:
    before = checked(text)
    after = ordered(folded(before))
    assert after.type is before.type
    for row in ROWS:
        context = Context(row, 0)
        assert repr(evaluate(after, context)) == repr(evaluate(before, context))


@given(truths())
@settings(max_examples=examples(100))
def test_rewriting_again_changes_nothing(text: str) -> None:
    once = ordered(folded(checked(text)))
    assert ordered(folded(once)) == once


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("2 * 3 + i", "6 + i"),
        ("2147483647 + 2", "-2147483647"),
        ("-7 / 2", "-3"),
        ("-7 % 2", "-1"),
        ("0.1f + 0.2f == 0.3", "false"),
        ("1 < 2 and b", "true and b"),
        ("1 > 2 and b", "false"),
        ("b and (1 < 2 and 3 < 4)", "true and b"),
        ("b and 1 < 2 and i > 3", "b and i > 3"),
        ("b or 1 > 2", "false or b"),
        ("b or 'a' == 'a'", "true"),
        ("not (1 > 2)", "true"),
        ("1 / 0", "1 / 0"),
        ("5 is null", "false"),
        ("9007199254740993L == 9007199254740992.0", "true"),
    ],
)
def test_folding(text: str, result: str) -> None:
    assert shown(text) == result


def test_what_would_be_infinite_is_left_to_the_row() -> None:
    big = "1" + "0" * 200 + ".0"
    assert isinstance(folded(checked(f"{big} * {big}")), Arithmetic)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("s == 'x' and i > 3", "s == 'x' and i > 3"),
        ("math:sqrt(d) > 2.0 and i == 3", "i == 3 and math:sqrt(d) > 2.0"),
        ("i != 3 and i > 3 and i == 3", "i == 3 and i > 3 and i != 3"),
        ("(d * d + d > 1.0 and b) and j == 4L", "b and j == 4L and d * d + d > 1.0"),
        ("b or (math:sqrt(d) > 2.0 and i == 3)", "b or i == 3 and math:sqrt(d) > 2.0"),
    ],
)
def test_order(text: str, result: str) -> None:
    assert shown(text) == result


def test_conditions_come_in_the_order_of_their_rank() -> None:
    parts = conjuncts(ordered(checked("b and s != 'x' and i == 1 and d > 2.0 and j % 2L == 0L")))
    assert [rank(part) for part in parts] == sorted(rank(part) for part in parts)
    assert all(0 < chance(part) < 1 for part in parts)


def test_functions_of_the_user_come_late() -> None:
    register("slow", [Type.INT], Type.BOOL, lambda number: True)
    try:
        assert shown("slow(i) and math:sqrt(d) > 2.0") == "math:sqrt(d) > 2.0 and slow(i)"
    finally:
        unregister("slow")


def test_tables_are_asked_last() -> None:
    condition = query("from S[(symbol == T.symbol) in T and n > 5] insert into Out;")
    (found,) = condition.stream_input.filters
    assert expression_text(found) == "n > 5 and symbol == T.symbol in T"
    assert cost(conjuncts(found)[1]) > 100


def test_every_expression_of_a_plan_is_rewritten() -> None:
    """Filters of all inputs, what is selected, conditions on tables, keys, aggregations."""
    plan = compile_rules("""
    define stream S (a int, b int); define table T (a int, b int);
    from S[a > 1 + 1]#window.length(2)[a > 1 + 1] select a, b + (1 + 1) as c having c > 1 + 1
    insert into A;
    from S#window.length(2) as x join T as t on x.a + (1 + 1) == t.a select x.a, sum(t.b + (1 + 1))
    as n insert into B;
    from every e1=S[a > 1 + 1] -> e2=S[a > 1 + 1]<2> -> not S[a > 1 + 1] and e3=S[a > 1 + 1]
    select e1.a insert into C;
    from S update T set T.b = a + (1 + 1) on T.a == 1 + 1;
    from S delete T on T.a == 1 + 1;
    partition with (a + (1 + 1) of S) begin from S insert into D; end;
    define aggregation G from S[a > 1 + 1] select sum(a + (1 + 1)) as n aggregate every day;
    define event E as S[a > 1 + 1];
    """)
    text = repr(plan).replace(repr(plan.text), "")
    assert "Constant(value=1, type" not in text
    assert text.count("Constant(value=2, type=<Type.INT: 'int'>)") > 16
    assert rewrite(plan) == plan


def test_constants_are_constants() -> None:
    assert walk(folded(checked("1 + 2"))) == [Constant(3, Type.INT)]
