"""Signals: the query that each is, and what its stop and target are taken for."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.lang import RuleError, ast, parse_expression
from cep.lang.errors import Source, Span
from cep.plan import Plan, compile_rules
from cep.plan.levels import level_kind
from cep.plan.problems import Problems
from cep.plan.signals import ATTRIBUTES, FURTHER
from tests.campaign import examples

HEAD = """
define stream Bar (symbol string, high double, low double, atr double, n int);
define event Up for each symbol as Bar[high > low];
define complex Turn for each symbol as Up within 1 min;
"""


def schema(clauses: str, source: str = "Bar") -> tuple[str, ...]:
    """The attributes of a signal beyond what each has."""
    plan = compile_rules(f"{HEAD}define signal X on {source} buy {clauses};")
    return plan.stream("X").schema.names[len(ATTRIBUTES) :]


def order(plan: Plan) -> list[str]:
    return [operator.name for operator in plan.operators]


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("high", "at"),
        ("high + 0.5", "at"),
        ("low - 0.5 * atr", "at"),
        ("low - (high - low) / 2", "at"),
        ("2 * atr", "by"),
        ("atr / 2.0", "by"),
        ("high - low", "by"),
        ("n * atr", "by"),
        ("(high - low) * 1.5 + 2 * atr", "by"),
        ("high + low", None),
        ("(high + low) / 2", None),
        ("math:max(high, low)", None),
        ("1.0950", None),
        ("2 * 0.005", None),
        ("high / low", None),
        ("-high", None),
    ],
)
def test_a_stop_is_a_price_or_a_distance(written: str, kind: str | None) -> None:
    level = ast.Level(node := parse_expression(written), "", span=node.span)
    problems = Problems(Source(written, "x"), {})
    if kind is not None:
        assert level_kind(problems, "stop", level) == kind
        return
    with pytest.raises(RuleError, match="may be a price or a distance"):
        level_kind(problems, "stop", level)


Row = dict[str, float]
Written = tuple[str, Callable[[Row], float]]
PRICES: list[Written] = [("high", lambda row: row["high"]), ("low", lambda row: row["low"])]
DISTANCES: list[Written] = [
    ("2 * atr", lambda row: 2 * row["atr"]),
    ("atr / 3", lambda row: row["atr"] / 3),
    ("high - low", lambda row: row["high"] - row["low"]),
]


def row(moved: float) -> Row:
    return {"high": 12.0 + moved, "low": 9.0 + moved, "atr": 0.75}


@st.composite
def levels(draw: st.DrawFn) -> Written:
    """A price or a distance, with distances added and taken off, and what it is on a row."""
    text, value = draw(st.sampled_from(PRICES + DISTANCES))
    terms = draw(
        st.lists(st.tuples(st.sampled_from((1, -1)), st.sampled_from(DISTANCES)), max_size=3)
    )
    for sign, (other, _) in terms:
        text = f"{text} {'+' if sign > 0 else '-'} ({other})"
    return text, lambda row: value(row) + sum(sign * of(row) for sign, (_, of) in terms)


@settings(max_examples=examples(100))
@given(levels(), st.floats(-5, 5))
def test_a_price_moves_with_prices_and_a_distance_stays(level: Written, shift: float) -> None:
    """The reference: all prices are moved by the same, and what moves with them is a price."""
    written, value = level
    node = ast.Level(parse_expression(written), "", span=Span(0, len(written)))
    kind = level_kind(Problems(Source(written, "x"), {}), "stop", node)
    expected = shift if kind == "at" else 0.0
    assert value(row(shift)) - value(row(0.0)) == pytest.approx(expected, abs=1e-9)


def test_a_signal_has_what_it_says() -> None:
    assert schema("1 lots stop 20 points target 40 points for 1 min") == ()
    assert schema("1 lots stop low target 2 * atr") == ("stop", "target_distance")
    assert schema("risk 1 percent at limit low stop by atr target at high") == (
        "risk_percent", "order", "price", "target", "stop_distance",
    )  # fmt: skip
    assert set(schema("risk 1 percent at stop low stop low target high")) < FURTHER.keys()


def test_the_symbol_is_the_one_named_else_the_key_or_the_attribute() -> None:
    text = "define signal A on Turn buy 1 lots; define signal B on Bar buy 1 lots;"
    plan = compile_rules(HEAD + text + "define signal C on Bar buy 'XAUUSD' 1 lots;")
    assert [one.symbol for one in plan.signals] == [None, None, "XAUUSD"]
    symbols = [dict(query.projection)["symbol"] for query in plan.queries]
    assert [getattr(one, "name", "") for one in symbols] == ["key", "symbol", ""]


def test_a_signal_stands_at_its_place_in_the_text() -> None:
    text = "define signal A on Turn buy 1 lots; from Turn select key insert into Seen;"
    assert order(compile_rules(HEAD + text)) == ["Up", "Turn", "A", "query1"]
    later = "define signal A on Late buy 1 lots; from Bar select symbol insert into Late;"
    assert order(compile_rules(HEAD + later)) == ["Up", "Turn", "query1", "A"]


def test_signals_can_be_made_of_signals() -> None:
    text = "define signal A on Bar buy 1 lots; define signal B on A sell lots * 2 lots;"
    assert order(compile_rules(HEAD + text))[-2:] == ["A", "B"]


def test_a_circle_of_signals_is_refused() -> None:
    with pytest.raises(RuleError, match="circle"):
        compile_rules("define signal A on B buy 'X' 1 lots; define signal B on A sell 'X' 1 lots;")


def test_the_parameters_of_a_rule_can_be_parts_of_expressions() -> None:
    text = "define parameter Wide double = 1.5; define signal A on Bar buy 1 lots stop Wide * atr;"
    assert (
        schema("1 lots stop 1.5 * atr")
        == compile_rules(HEAD + text).stream("A").schema.names[len(ATTRIBUTES) :]
    )
