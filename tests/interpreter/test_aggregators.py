"""Aggregators: sums and extremes against exact arithmetic, indicators against the `ta` package."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ta.momentum import rsi
from ta.trend import ema_indicator, wma_indicator
from ta.volatility import average_true_range

from cep.interpreter.aggregators import RowAggregator, make_aggregator
from cep.interpreter.codec import pack, unpack
from cep.interpreter.context import Context, Shared
from cep.interpreter.rows import Row, RowKind
from cep.plan.expressions import Aggregate, Column, Constant
from cep.plan.functions import aggregator
from cep.plan.types import Type
from tests.campaign import examples
from tests.data.real_ticks import needs_real_ticks, ticks
from tests.reference.aggregates import aggregate

CONTEXT = Context(Shared(compat=False))
CLOSE = 1e-9


def made(
    name: str,
    type_: Type = Type.DOUBLE,
    *constants: Any,
    columns: int = 1,
    context: Context = CONTEXT,
) -> RowAggregator:
    """An aggregator of the first columns of a row, then constants."""
    arguments = [Column(i, f"x{i}", type_) for i in range(columns)]
    arguments += [Constant(value, Type.INT) for value in constants]  # type: ignore[misc]
    signature = aggregator(name)
    assert signature is not None
    plan = Aggregate(signature.name, tuple(arguments), signature.type(arguments))
    return make_aggregator(plan, context)


def row(*values: Any) -> Row:
    return Row(0, list(values))


@pytest.mark.parametrize("name", ["sum", "avg", "stdDev", "min", "max", "distinctCount"])
def test_other_rows_may_go_than_came(name: str) -> None:
    running = made(name)
    assert running.is_empty
    running.enter(row(1.0))
    running.leave(row(4.0))
    assert not running.is_empty
    running.leave(row(1.0))
    running.reset()
    assert running.is_empty


@pytest.mark.parametrize("name", ["sum", "avg", "stdDev"])
def test_a_sum_is_empty_when_what_went_has_come(name: str) -> None:
    running = made(name)
    running.leave(row(4.0))
    running.enter(row(4.0))
    assert running.is_empty


def test_a_deviation_of_what_went_without_having_come_is_null() -> None:
    running = made("stdDev")
    assert running.leave(row(3.0)) is None
    assert running.enter(row(2.0)) is None
    assert running.enter(row(1.0)) is None


@pytest.mark.parametrize("name", ["min", "max", "minForever", "stdDev", "distinctCount"])
def test_siddhis_aggregators_go_on_from_a_snapshot(name: str) -> None:
    siddhi = Context(Shared(compat=True))
    running, restored = made(name, context=siddhi), made(name, context=siddhi)
    for value in (5.0, 3.0, 5.0, 4.0):
        running.enter(row(value))
    restored.restore(unpack(pack(running.state())))
    for value in (5.0, 3.0, 4.0):
        assert restored.leave(row(value)) == running.leave(row(value))
    assert restored.reset() == running.reset()
    assert restored.is_empty


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["enter", "enter", "enter", "leave", "reset", "save"]), st.integers(0, 99)
    ),
    max_size=40,
)
EXACT = ["sum", "avg", "stdDev", "min", "max", "count"]


def check_steps(name: str, type_: Type, steps: list[tuple[str, int]], values: list[Any]) -> None:
    """Rows that enter and leave in any order: at every step the value is that of what is in."""
    running = made(name, type_)
    result = Type.LONG if name == "sum" and type_.is_integer else Type.DOUBLE
    inside: list[Any] = []
    for step, pick in steps:
        if step == "enter" and values:
            inside.append(values[pick % len(values)])
            running.enter(row(inside[-1]))
        elif step == "leave" and inside:
            running.leave(row(inside.pop(pick % len(inside))))
        elif step == "reset":
            inside.clear()
            running.reset()
        elif step == "save":
            again = made(name, type_)
            again.restore(unpack(pack(running.state())))
            running = again
        expected = aggregate(name, result, inside)
        found = running.value
        assert found == expected and type(found) is type(expected), (name, inside)


@pytest.mark.parametrize("name", EXACT)
@settings(max_examples=examples(100))
@given(steps=STEPS, values=st.lists(st.none() | st.floats(-1e12, 1e12), min_size=1, max_size=9))
def test_doubles_are_exact(name: str, steps: list[tuple[str, int]], values: list[Any]) -> None:
    check_steps(name, Type.DOUBLE, steps, values)


@pytest.mark.parametrize("name", EXACT)
@settings(max_examples=examples(60))
@given(steps=STEPS, values=st.lists(st.none() | st.integers(-(2**62), 2**62), min_size=1))
def test_longs_are_exact(name: str, steps: list[tuple[str, int]], values: list[Any]) -> None:
    check_steps(name, Type.LONG, steps, values)


def test_sums_do_not_drift() -> None:
    running = made("stdDev")
    for value in (1e16, 1.0, 2.0, 3.0):
        running.enter(row(value))
    assert running.leave(row(1e16)) == math.sqrt(2 / 3)


def test_infinities() -> None:
    running = made("sum")
    assert running.enter(row(math.inf)) == math.inf
    assert running.enter(row(-math.inf)) is None
    running.leave(row(math.inf))
    assert running.enter(row(1.0)) == -math.inf
    assert running.leave(row(-math.inf)) == 1.0


def test_forever_is_for_ever() -> None:
    least, most = made("minForever"), made("maxForever")
    for aggregator_ in (least, most):
        for value in (3.0, None, 5.0):
            aggregator_.enter(row(value))
        aggregator_.leave(row(3.0))
        aggregator_.leave(row(5.0))
        aggregator_.reset()
    assert (least.value, most.value) == (3.0, 5.0)


def test_counts_and_sets() -> None:
    distinct = made("distinctCount", Type.STRING)
    assert [distinct.enter(row(value)) for value in ("a", "b", "a", None)] == [1, 2, 2, 3]
    assert [distinct.leave(row(value)) for value in ("a", "b", "a")] == [3, 2, 1]
    union = made("unionSet", Type.OBJECT)
    union.enter(row({1, 2}))
    assert union.enter(row({2, 3})) == {1, 2, 3}
    assert union.leave(row({1, 2})) == {2, 3}
    assert union.reset() == set()


def test_and_or() -> None:
    all_, one = made("and", Type.BOOL), made("or", Type.BOOL)
    assert (all_.value, one.value) == (False, False)
    assert [all_.enter(row(value)) for value in (True, None, False)] == [True, True, False]
    assert all_.leave(row(False)) is True
    assert [one.enter(row(value)) for value in (False, True)] == [False, True]
    assert one.leave(row(True)) is False


@settings(max_examples=examples(200))
@given(
    values=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30),
    n=st.integers(1, 30),
    percent=st.integers(0, 100),
)
def test_percentile_of_the_last_rows(values: list[float], n: int, percent: int) -> None:
    median, percentile = made("median"), made("percentile", Type.DOUBLE, percent)
    for i, value in enumerate(values):
        for running in (median, percentile):
            running.enter(row(value))
            if i >= n:
                running.leave(row(values[i - n]))
    inside = values[-n:]
    assert median.value == pytest.approx(np.median(inside), rel=CLOSE, abs=1e-6)
    assert percentile.value == pytest.approx(np.percentile(inside, percent), rel=CLOSE, abs=1e-6)


def test_pairs() -> None:
    random = np.random.default_rng(1)
    prices, volumes = random.normal(100, 1, 200), random.integers(1, 9, 200).astype(float)
    vwap, correlation = made("vwap", columns=2), made("correlation", columns=2)
    for i in range(200):
        for running in (vwap, correlation):
            running.enter(row(prices[i], volumes[i]))
            running.enter(row(None, 1.0))
            if i >= 50:
                running.leave(row(prices[i - 50], volumes[i - 50]))
    x, y = prices[-50:], volumes[-50:]
    assert vwap.value == pytest.approx((x * y).sum() / y.sum(), rel=CLOSE)
    assert correlation.value == pytest.approx(np.corrcoef(x, y)[0, 1], rel=CLOSE)
    assert (made("vwap", columns=2).value, made("correlation", columns=2).value) == (None, None)


def test_lag() -> None:
    lag = made("lag", Type.STRING, 2)
    assert [lag.enter(row(value)) for value in ("a", None, "b", "c")] == [None, None, "a", None]
    assert lag.leave(row("a")) is None
    assert lag.enter(row("d")) == "b"


def follow(running: RowAggregator, rows: Sequence[tuple[float, ...]]) -> list[float | None]:
    """The value after each row, with nulls between them and a snapshot half way."""
    found = []
    for i, values in enumerate(rows):
        running.enter(row(*[None] * len(values)))
        found.append(running.enter(row(*values)))
        assert running.leave(row(*values)) == found[-1]
        if i == len(rows) // 2:
            state = unpack(pack(running.state()))
            running.reset()
            running.restore(state)
    return found


def check_agree(found: list[float | None], expected: pd.Series, n: int) -> None:
    """Null before `n` values have come, from then on as `ta` has it."""
    assert found[: n - 1] == [None] * (n - 1)
    assert found[n - 1 :] == pytest.approx(expected.tolist()[n - 1 :], rel=CLOSE)


INDICATORS: dict[str, Callable[[pd.Series, int], pd.Series]] = {
    "ema": ema_indicator,
    "wma": wma_indicator,
    "rsi": rsi,
}


def walk(seed: int) -> pd.Series:
    return pd.Series(100 + np.random.default_rng(seed).normal(0, 0.1, 500).cumsum())


@pytest.mark.parametrize("name", INDICATORS)
@pytest.mark.parametrize("n", [1, 2, 14, 100])
def test_indicator(name: str, n: int) -> None:
    prices = walk(n)
    found = follow(made(name, Type.DOUBLE, n), [(price,) for price in prices])
    check_agree(found, INDICATORS[name](prices, n), n)


@pytest.mark.parametrize("n", [2, 14])
def test_average_true_range(n: int) -> None:
    close = walk(n)
    high, low = close + walk(8).abs() / 100, close - walk(9).abs() / 100
    rows = list(zip(high, low, close, strict=True))
    found = follow(made("atr", Type.DOUBLE, n, columns=3), rows)
    check_agree(found, average_true_range(high, low, close, n), n)


@needs_real_ticks
@pytest.mark.parametrize("name", INDICATORS)
def test_indicator_on_real_ticks(name: str) -> None:
    prices = pd.Series(ticks("oanda_eurusd", 1)["bid"][:20_000].astype(float))
    running = made(name, Type.DOUBLE, 14)
    found = [running.enter(row(price)) for price in prices]
    check_agree(found, INDICATORS[name](prices, 14), 14)


def test_a_row_that_leaves_does_not_change_kind() -> None:
    gone = row(1.0).copy(RowKind.EXPIRED, 5)
    assert made("count").leave(gone) == -1
