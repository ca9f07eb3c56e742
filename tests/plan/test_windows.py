"""Windows: every form, what is filled in, and what is refused."""

from __future__ import annotations

import pkgutil
from importlib import import_module

import pytest

from cep.lang import RuleError
from cep.plan import compile_rules
from cep.plan.explain_queries import window_text
from cep.plan.expressions import Column, Comparison, Constant, EventTime
from cep.plan.functions import EXAMPLE
from cep.plan.types import Attribute, Schema, Type
from cep.plan.window_conditions import window_condition
from cep.plan.windows import WINDOWS, WindowKind, kinds
from tests.plan.rules import refused, source, window

SYMBOL = Column(0, "symbol", Type.STRING)
PRICE = Column(1, "price", Type.DOUBLE)
TIME = Column(5, "t", Type.LONG)
NOT = False


def values(text: str) -> list[object]:
    """Constants as values, columns as they are."""
    found = window(text).arguments
    return [one.value if isinstance(one, Constant) else one for one in found]


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("length(3)", [3]),
        ("lengthBatch(3)", [3, NOT]),
        ("LENGTHBATCH(3, true)", [3, True]),
        ("time(1 min)", [60_000]),
        ("timeBatch(1 sec)", [1000, None, NOT]),
        ("timeBatch(1 sec, 5)", [1000, 5, NOT]),
        ("timeBatch(1 sec, true)", [1000, None, True]),
        ("timeBatch(1 sec, 5, true)", [1000, 5, True]),
        ("timeLength(1 sec, 4)", [1000, 4]),
        ("externalTime(t, 1 sec)", [TIME, 1000]),
        ("externalTimeBatch(t, 1 sec)", [TIME, 1000, None, None, NOT]),
        ("externalTimeBatch(t, 1 sec, t, 5 sec, true)", [TIME, 1000, TIME, 5000, True]),
        ("sort(2, price)", [2, PRICE, "asc"]),
        ("sort(2, price, 'DESC', symbol)", [2, PRICE, "desc", SYMBOL, "asc"]),
        ("frequent(2)", [2]),
        ("frequent(2, symbol, n)", [2, SYMBOL, Column(3, "n", Type.INT)]),
        ("lossyFrequent(0.1)", [0.1, 0.01]),
        ("lossyFrequent(0.1, 0.02, symbol)", [0.1, 0.02, SYMBOL]),
        ("cron('0 * * * * ?')", ["0 * * * * ?"]),
        ("batch()", [0]),
        ("batch(4)", [4]),
        ("session(5 sec)", [5000, None, 0]),
        ("session(5 sec, symbol, 2 sec)", [5000, SYMBOL, 2000]),
        ("delay(1 sec)", [1000]),
        ("expression('count() <= 2')", ["count() <= 2"]),
        ("expression(symbol)", [SYMBOL]),
        ("expressionBatch('ok', ok, true)", ["ok", Column(4, "ok", Type.BOOL), True]),
        ("hopping(1 min, 10 sec)", [60_000, 10_000]),
        ("timeJump(1 min, 10 sec)", [60_000, 10_000]),
        ("lengthJump(5, 2)", [5, 2]),
        ("lengthJump(5, 2, symbol)", [5, 2, SYMBOL]),
    ],
)
def test_arguments(text: str, arguments: list[object]) -> None:
    assert values(text) == arguments


@pytest.mark.parametrize("kind", WINDOWS, ids=lambda kind: kind.name)
def test_times_are_explained_as_times(kind: WindowKind) -> None:
    schema = EXAMPLE.removeprefix("define stream S ").removesuffix(";")
    plan = compile_rules(f"define window W {schema} {kind.example};")
    told = window_text(plan.windows[0].window)
    assert (
        told.count(" sec")
        == kind.example.count(" sec")
        == len([place for place in kind.times if kind.signature.parameters[place].default is None])
    )


def test_every_module_of_windows_defines_some() -> None:
    for one in pkgutil.iter_modules(kinds.__path__, f"{kinds.__name__}."):
        found = vars(import_module(one.name)).values()
        assert any(isinstance(value, WindowKind) for value in found), one.name


def test_every_window_is_tried_above() -> None:
    marks = test_arguments.pytestmark  # type: ignore[attr-defined]
    tried = {case[0].split("(")[0].lower() for case in marks[0].args[1]}
    assert tried == {one.name.lower() for one in WINDOWS}


@pytest.mark.parametrize(
    "text",
    [
        "length(0.5)", "length(n)", "length(-1)", "length()", "length(1, 2)", "time(0 sec)",
        "timeBatch('2 sec')", "timeBatch(1/2, 0)", "externalTime(n, 1 sec)", "sort(2)",
        "sort(2, 8)", "sort(2, 'asc', price)", "sort(2, price, 'up')", "session(1 sec, n)",
        "session(1 sec, symbol, 2 sec)", "batch(-3)", "cron('never')", "expression('price')",
        "expression('last.nothing > 1')", "expression(n)", "nothing(3)", "bollinger(price, 3)",
        "hopping(1 min)", "lossyFrequent(1)", "timeJump(1 min)", "lengthJump(5, 0)",
    ],
)  # fmt: skip
def test_refused(text: str) -> None:
    error = refused(f"from S#window.{text} insert into Out;")
    assert (error.line, error.column >= 7) == (4, True)


def test_the_error_of_a_condition_stands_at_the_window() -> None:
    error = refused("from S#window.expression('prize > 1') insert into Out;")
    assert "in this condition" in error.message
    assert "price" in error.hint
    assert error.line_text[error.column - 1 :].startswith("'prize > 1'")


def test_a_window_sees_what_functions_add() -> None:
    found = source("#bollinger(price, 5)#window.sort(2, upper)").window
    assert found is not None
    assert found.arguments[1] == Column(6, "upper", Type.DOUBLE)


def test_conditions_of_windows() -> None:
    schema = Schema((Attribute("v", Type.INT),))
    found = window_condition("last.v - first.v < v and sum(v) < 3", schema)
    assert [aggregate.function for aggregate in found.aggregates] == ["sum"]
    spans = window_condition("eventTimestamp(last) - eventTimestamp(first) < 2", schema).condition
    assert isinstance(spans, Comparison)
    assert spans.left.left == EventTime(2)  # type: ignore[union-attr]
    with pytest.raises(RuleError):
        window_condition("v +", schema)
