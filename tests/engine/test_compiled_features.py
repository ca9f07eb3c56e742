"""Functions, indicators and windows that are compiled, against the interpreter: bit by bit."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from cep.engine.coverage import why_not_generated
from cep.engine.native import Compiled
from cep.plan import compile_rules
from tests.engine.test_against_interpreter import by_stream
from tests.engine.test_against_reference import Row

SOURCE = (
    "@key('s') define stream S (s string, i int, j long, f float, d double, b bool, ts long);\n"
)
FUNCTIONS = (
    "convert(d, 'int')", "convert(d, 'long')", "convert(d, 'float')", "convert(f, 'double')",
    "convert(i, 'long')", "convert(j, 'int')", "convert(i, 'double')", "convert(j, 'float')",
    "convert(d, 'bool')", "convert(i, 'bool')", "convert(b, 'int')", "convert(b, 'double')",
    "cast(d, 'double')", "default(i, 7)", "default(d, 1.5)", "default(s, 'x')",
    "instanceOfString(s)", "instanceOfInteger(i)", "instanceOfLong(i)", "instanceOfDouble(d)",
    "instanceOfFloat(f)", "instanceOfBoolean(b)", "math:abs(i)", "math:abs(d)", "math:ceil(d)",
    "math:floor(d)", "math:ceil(f)", "math:sqrt(d)", "math:round(d)", "math:round(f)",
    "math:round(i)", "math:signum(d)", "math:signum(i)", "math:isNan(d)", "math:isInfinite(d)",
    "math:max(i, j)", "math:max(i, d)", "math:min(d, f)", "math:min(i, j)", "math:pi()",
    "maximum(i, 3)", "coalesce(s, 'q')",
)  # fmt: skip
AGGREGATES = (
    "ema(d, 3)", "rsi(d, 4)", "lag(d, 2)", "lag(s, 1)", "lag(i, 3)", "atr(d, f, d, 3)",
    "vwap(d, i)", "and(b)", "or(b)", "minForever(d)", "maxForever(i)", "avg(d)", "sum(i)",
    "stdDev(d)", "max(d)", "min(i)", "count()",
)  # fmt: skip
WINDOWS = (
    "", "#window.length(4)", "#window.time(9)", "#window.externalTime(ts, 9)",
    "#window.lengthBatch(3)", "#window.lengthBatch(3, true)",
)  # fmt: skip
WHOLE = (0, 1, -1, 5, 2**31 - 1, -(2**31), None)
LONG = (0, 1, -7, 2**40, 2**63 - 1, 1 - 2**63, None)
SINGLE = (0.0, -0.0, 0.5, 1.5, -2.5, 1e30, None, 3.7)
DOUBLE = (0.0, -0.0, -0.5, 0.5, 1.5, 2.5, -2.5, 1e300, 1e18, 0.49999999999999994, 2.0**53, None)


def wild(rng: random.Random) -> Row:
    """Values at the edges of their types."""
    pools = {"i": WHOLE, "j": LONG, "f": SINGLE, "d": DOUBLE, "b": (True, False, None)}
    return {name: rng.choice(pool) for name, pool in pools.items()}


def calm(rng: random.Random) -> Row:
    """Values whose sums need at most 106 bits."""
    pools: dict[str, tuple[Any, ...]] = {
        "i": (1, 2, 0, 7, None),
        "j": (1, 2, None),
        "f": (0.5, 1.25, None),
        "d": (1.1, 2.7, 0.3, 9.99, None),
        "b": (True, False, None),
    }
    return {name: rng.choice(pool) for name, pool in pools.items()}


def rows(make: Callable[[random.Random], Row], count: int = 150) -> list[Row]:
    rng = random.Random(3)
    times = sorted(rng.choices(range(3 * count), k=count))
    return [make(rng) | {"s": rng.choice("AB"), "ts": time} for time in times]


def results(rules: str, made: list[Row], jit: bool, interpret: bool = False) -> dict[Any, Any]:
    """Rows by stream, as text: -0.0 is not 0.0."""
    plan = compile_rules(SOURCE + rules)
    compiled = Compiled(plan, jit=jit)
    assert compiled.is_generated("lived")
    run = (compiled.by_interpreter if interpret else compiled).start()
    found = [out for at, row in enumerate(made) for out in run.push_row("S", at, row).dicts()]
    return {name: list(map(repr, group)) for name, group in by_stream(found).items()}


FUNCTION_RULES = "\n".join(
    f"from S select {call} as c insert into F{number};" for number, call in enumerate(FUNCTIONS)
)


@pytest.mark.parametrize("jit", [False, True])
def test_functions(jit: bool) -> None:
    made = rows(wild)
    found = results(FUNCTION_RULES, made, jit)
    expected = results(FUNCTION_RULES, made, jit, interpret=True)
    for number, call in enumerate(FUNCTIONS):
        assert found[f"F{number}"] == expected[f"F{number}"], call


def aggregate_rules(window: str, group: str) -> str:
    """All aggregates in one query over a window, and in a partition."""
    selected = ", ".join(f"{call} as c{number}" for number, call in enumerate(AGGREGATES))
    plain = f"from S{window} select {selected} {group} insert into Plain;"
    return plain + (
        f"\npartition with (s of S) begin from S{window} select {selected} insert into Keyed; end;"
    )


@pytest.mark.parametrize("window", WINDOWS)
def test_aggregates(window: str) -> None:
    for group in ("", "group by i, b") if "Batch" not in window else ("",):
        rules, made = aggregate_rules(window, group), rows(calm)
        assert results(rules, made, jit=False) == results(rules, made, False, interpret=True)


@pytest.mark.campaign
def test_aggregates_compiled_by_numba() -> None:
    rules, made = "\n".join(map(own_targets, enumerate(WINDOWS))), rows(calm)
    assert results(rules, made, jit=True) == results(rules, made, jit=False)


def own_targets(numbered: tuple[int, str]) -> str:
    number, window = numbered
    rules = aggregate_rules(window, "")
    return rules.replace("Plain", f"Plain{number}").replace("Keyed", f"Keyed{number}")


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("from S#window.sort(2, i) select i insert into T;", "window `sort` is not compiled"),
        ("from S#window.lengthBatch(2) select i insert into T;", "all rows of a batch"),
        ("from S select math:exp(d) as e insert into T;", "function `math:exp` is not compiled"),
        ("from S select convert(i, 'string') as e insert into T;", "`convert` of texts"),
        ("from S select lag(i, 500) as l insert into T;", "`lag` of more than 256 rows"),
        ("from S select median(d) as m insert into T;", "aggregator `median` is not compiled"),
        ("from S#window.length(2) select i insert expired events into T;", "expired events"),
    ],
)
def test_the_rest_is_named(query: str, reason: str) -> None:
    (found,) = why_not_generated(compile_rules(SOURCE + query)).values()
    assert reason in found


def test_a_window_may_hold_nothing_of_its_rows() -> None:
    """An aggregate of all times needs no value of a row that leaves."""
    rules = "from S#window.time(9) select minForever(d) as low insert into T;"
    made = rows(calm, 40)
    assert results(rules, made, jit=False) == results(rules, made, jit=False, interpret=True)
