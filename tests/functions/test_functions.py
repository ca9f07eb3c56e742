"""`@function`: what annotations mean, what comes and goes through them, and names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from cep.app import App
from cep.functions import FunctionError, function
from cep.plan.functions import unregister

RULES = "define stream S (i int, d double, s string, b bool); from S select {} as x insert into T;"
ROW = (7, 0.5, "text", True)


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    yield
    for name in ("own", "own:f", "f"):
        unregister(name)


def given(call: str, row: tuple[Any, ...] = ROW) -> Any:
    """What a call gives for a row."""
    rules = "@OnError(action='stream') " + RULES.format(call)
    rules += " from !S select _error as x insert into Wrong;"
    rows = App(rules, jit=False).send("S", row, 1)
    return next(one["x"] for one in rows if "x" in one)


def test_whole_numbers_become_floats_for_a_float() -> None:
    @function
    def own(x: float) -> str:
        return repr(x)

    assert [given(call) for call in ("own(i)", "own(d)", "own(3)", "own(3L)")] == [
        "7.0", "0.5", "3.0", "3.0",
    ]  # fmt: skip


def test_arguments_with_a_default_may_be_left_out() -> None:
    @function
    def own(x: float, factor: int = 2, unit: str | None = None) -> str:
        return f"{x * factor}{unit}"

    assert given("own(d)") == "1.0None"
    assert given("own(d, 4)") == "2.0None"
    assert given("own(d, 4, s)") == "2.0text"


def test_null_comes_and_goes_as_none() -> None:
    @function
    def own(x: float) -> float | None:
        return 1.5 if x is None else None

    assert given("own(d)") is None
    assert given("own(d)", (7, None, "text", True)) == 1.5


@pytest.mark.parametrize(
    ("annotation", "value", "expected"),
    [
        (float, 3, 3.0),
        (float, np.float64(0.5), 0.5),
        (int, np.int64(3), 3),
        (bool, np.bool_(True), True),
        (str, "a", "a"),
        (object, (1, 2), (1, 2)),
        (
            float,
            "3",
            "TypeError: function `own` gave '3'; by its annotation it gives float",
        ),
        (float, True, "TypeError: function `own` gave True"),
        (int, 2.5, "TypeError: function `own` gave 2.5; by its annotation it gives int or None"),
        (int, 2**63, "TypeError: function `own` gave 9223372036854775808, more than 64 bits hold"),
        (int, False, "TypeError: function `own` gave False"),
        (str, 3, "TypeError: function `own` gave 3; by its annotation it gives str or None"),
        (bool, 1, "TypeError: function `own` gave 1; by its annotation it gives bool or None"),
    ],
)
def test_a_result_is_of_its_type(annotation: type, value: Any, expected: Any) -> None:
    def own(x: float) -> Any:
        return value

    own.__annotations__ = {"x": float, "return": annotation}
    function(own)
    found = given("own(d)")
    if isinstance(expected, str) and ":" in expected:
        assert found.startswith(expected)
    else:
        assert found == expected and type(found) is type(expected)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("avg", "`avg` is an aggregator already"),
        ("Math:Abs", "`Math:Abs` is a function already"),
        ("bollinger", "`bollinger` is a stream function already"),
        ("eventTimestamp", "`eventTimestamp` is a function already"),
        ("a:b:c", "`namespace:name`, not `a:b:c`"),
        ("1x", "`namespace:name`, not `1x`"),
    ],
)
def test_names_that_cannot_be(name: str, message: str) -> None:
    with pytest.raises(FunctionError, match=message):

        @function(name=name)
        def own(x: float) -> float:
            return x


def test_the_same_file_may_define_a_name_again_and_no_other_one() -> None:
    for factor in (2, 3):

        @function
        def own(x: float, factor: float = factor) -> float:
            return x * factor

        assert given("own(d)") == 0.5 * factor
    space: dict[str, Any] = {"function": function}
    text = "@function(name='OWN')\ndef other(x: float) -> float:\n    return x\n"
    with pytest.raises(FunctionError, match=r"`OWN` is defined in .*test_functions.py already"):
        exec(compile(text, "elsewhere.py", "exec", dont_inherit=True), space)


@pytest.mark.parametrize("default", [(1, 2), "text"])
def test_defaults_are_values_of_rules(default: Any) -> None:
    def own(x: float = 0.0) -> float:
        return x

    own.__defaults__ = (default,)
    with pytest.raises(FunctionError, match="the default of `x`; let it be a float"):
        function(own)


def test_what_is_no_function_is_refused() -> None:
    for call in (len, lambda x: x, 3):
        with pytest.raises(FunctionError):
            function(call)  # type: ignore[type-var]
