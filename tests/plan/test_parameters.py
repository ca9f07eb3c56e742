"""Parameters: rules with one mean what they mean with its value in its place, in every engine."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.lang import ParameterError, RuleError, format_rules, parameters_of, with_parameters
from cep.lang.parameters import Parameter
from cep.plan import compile_rules
from cep.plan.explain import explain
from cep.plan.surprises import surprises
from tests.semantics.back_ends import BACK_ENDS

RULES = """
define stream S (symbol string, x double, n int);
from S[LIVE and x > WIDTH * 2.0 - STEP]#window.length(COUNT)
  select symbol, avg(x) * -WIDTH as m, OFFSET + n as k, NAME as name group by symbol insert into O;
from S#window.time(WAIT) select symbol, sum(n) as total group by symbol
  having total > OFFSET limit COUNT insert into T;
from every a=S[x > WIDTH] -> b=S[x < WIDTH]<COUNT> within WAIT
  select a.symbol as symbol, b[last].x as low insert into P;
define engine Main (queue = WAIT);
define event High for each symbol as S[x > WIDTH + STEP];
define event Low for each symbol as S[x < WIDTH - STEP];
define complex Turn for each symbol as High followed by Low within WAIT;
define signal Go on Turn buy NAME LOTS lots stop COUNT points for WAIT;
"""
DEFINED = """
define parameter WIDTH double = 0.0;
define parameter STEP float = 0;
define parameter COUNT int = 1 range 1 to 3;
define parameter OFFSET long = 0;
define parameter LIVE bool = false;
define parameter NAME string = 'x';
define parameter WAIT time = 1 sec;
define parameter LOTS double = 1 range 0.01 to 100;
"""
values = st.fixed_dictionaries(
    {
        "WIDTH": st.integers(-300, 300).map(lambda n: n / 100),
        "STEP": st.integers(0, 8).map(lambda n: n / 4),
        "COUNT": st.integers(1, 3),
        "OFFSET": st.integers(-(2**40), 2**40),
        "LIVE": st.booleans(),
        "NAME": st.sampled_from(["EURUSD", "it's", "a b"]),
        "WAIT": st.integers(1, 3_000),
        "LOTS": st.integers(1, 1_000).map(lambda n: n / 100),
    }
)
inputs = st.lists(
    st.tuples(
        st.integers(0, 900), st.sampled_from("ab"), st.integers(-400, 400), st.integers(-3, 3)
    ),
    max_size=25,
)


def literal(name: str, value: Any) -> str:
    """A value as it is written by hand; of the time in ms."""
    match name:
        case "WAIT":
            return f"{value} ms"
        case "NAME":
            return f'"{value}"'
        case "LIVE":
            return "true" if value else "false"
        case "OFFSET":
            return f"({value}L)"
        case "STEP":
            return f"{value}f"
        case "WIDTH":
            return f"({value})"  # `--2.0` would be a comment
    return str(value)


def given_as(found: dict[str, Any]) -> dict[str, Any]:
    return {**found, "WAIT": f"{found['WAIT']} ms"}


def with_literals(found: dict[str, Any]) -> str:
    text = RULES
    for name, value in found.items():
        text = text.replace(name, literal(name, value))
    return text


@given(values, inputs)
def test_a_parameter_is_its_value(
    found: dict[str, Any], steps: list[tuple[int, str, int, int]]
) -> None:
    plan = compile_rules(DEFINED + RULES, parameters=given_as(found))
    expected = compile_rules(with_literals(found))
    assert plan == expected
    assert {one.name for one in plan.parameters} == found.keys()
    rows, time_msc = [], 0
    for passed, symbol, x, n in steps:
        time_msc += passed
        rows.append(("S", time_msc, {"symbol": symbol, "x": x / 100, "n": n}))
    for name in ("interpreter", "program"):
        run = BACK_ENDS[name]
        assert run(plan, rows) == run(expected, rows), name


@given(values)
def test_what_is_given_stands_in_the_text(found: dict[str, Any]) -> None:
    """So that whoever reads the text later, such as a task on Spark, has the same rules."""
    text = with_parameters(DEFINED + RULES, "rules.cep", given_as(found))
    assert compile_rules(text) == compile_rules(DEFINED + RULES, parameters=given_as(found))
    assert text.count("\n") == (DEFINED + RULES).count("\n")
    assert {one.name: one.value for one in parameters_of(text)} == found


def test_the_formatter_keeps_names() -> None:
    found = format_rules(DEFINED + RULES)
    assert "define parameter COUNT int = 1 range 1 to 3;" in found
    assert "#window.length(COUNT)" in found and "avg(x) * -WIDTH as m" in found
    assert "queue = WAIT" in found and "within WAIT" in found and "S[LIVE and" in found
    assert format_rules(found) == found


RANGED = (
    "define parameter Width double = 2.0 range 1.0 to 3.0 step 0.1;\n"
    "define parameter Wait time = 5 min range 1 min to 9 min step 80 sec;\n"
    "define parameter Kind string = 'a' in ('a', 'b');\n"
    "define stream S (x double); from S[x > Width] select Kind as k, x insert into O;"
)


@pytest.mark.parametrize(
    ("name", "value", "message", "hint"),
    [
        ("Wdith", "2", "the rules have no parameter Wdith", "did you mean `Width`?"),
        ("Width", "3.1", "Width: 3.1 is not within 1.0 and 3.0", "the rules say `Width double"),
        ("Width", 2.55, "Width: 2.55 is no whole number of steps of 0.1 from 1.0", "the rules"),
        ("Width", "wide", "Width: 'wide' is not a double", "the rules say `Width double = 2.0"),
        ("Width", True, "Width: 'true' is not a double", "the rules say"),
        ("Wait", "5", "Wait: '5' is not a time", "the rules say `Wait time = 5 min, range 1 min"),
        ("Wait", "2 min", "Wait: 2 min is no whole number of steps of 80 sec from 1 min", "the"),
        ("Kind", "c", "Kind: c is none of a, b", "the rules say `Kind string = a, in (a, b)`"),
    ],
)
def test_values_that_do_not_fit_are_refused(name: str, value: Any, message: str, hint: str) -> None:
    with pytest.raises(ParameterError) as caught:
        compile_rules(RANGED, parameters={name: value})
    assert str(caught.value) == message
    assert caught.value.hint.startswith(hint)


def test_rules_without_parameters_say_so() -> None:
    with pytest.raises(ParameterError) as caught:
        compile_rules("define stream S (x int);", parameters={"Width": 1})
    assert "the rules define none" in caught.value.hint


def test_explain_lists_parameters_and_names_those_that_are_not_used() -> None:
    plan = compile_rules(RANGED, parameters={"Width": 2.5})
    text = explain(plan)
    assert "parameters\n  Width double = 2.5, range 1.0 to 3.0 step 0.1\n" in text
    assert [(one.name, one.what) for one in surprises(plan)] == [
        ("Wait", "this parameter is used nowhere")
    ]


def test_a_name_in_backticks_and_an_attribute_behind_a_point_are_no_parameters() -> None:
    text = "define parameter Width int = 2;\ndefine stream S (`Width` int);\n"
    with pytest.raises(RuleError, match="`S` has an attribute of that name"):
        compile_rules(text + "from S[S.Width > 1] select 1 as a insert into O;")


@given(st.sampled_from(["int", "long", "double"]), st.integers(1, 40), st.integers(1, 30))
def test_steps_of_a_range_are_values_that_fit(type_: str, count: int, step: int) -> None:
    by = step / 100 if type_ == "double" else step
    high = (count * step / 100) if type_ == "double" else count * step
    text = f"define parameter P {type_} = 0 range 0 to {high} step {by};\ndefine stream S (x int);"
    (one,) = parameters_of(text)
    assert isinstance(one, Parameter)
    for number in range(count + 1):
        value = round(number * by, 2) if type_ == "double" else number * by
        assert not one.misfit(value)
        assert not compile_rules(text, parameters={"P": value}).parameters[0].misfit(value)
