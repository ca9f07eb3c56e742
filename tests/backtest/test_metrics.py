"""Metrics, worked by hand and against plain loops."""

from __future__ import annotations

import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.backtest.book import Trade
from cep.backtest.metrics import by_signal, drawdown, metrics
from cep.backtest.points import digits_of, point_of


def trade(points: float, opened: int = 0, closed: int = 10, name: str = "Go") -> Trade:
    return Trade(
        name, "X", "buy", 0.1, opened, 1.0, closed, 1.0, "stop", points, round(points * 1e-4, 10)
    )


def test_worked_by_hand() -> None:
    found = metrics(
        [trade(10, 0, 10), trade(-5, 10, 20), trade(-10, 15, 40), trade(25, 60, 70)], 100
    )
    assert (found.trades, found.wins, found.points) == (4, 2, 20.0)
    assert (found.win_rate, found.profit_factor) == (0.5, pytest.approx(35 / 15))
    assert (found.expectancy_points, found.drawdown_points) == (5.0, 15.0)
    assert found.sharpe == pytest.approx(5 / statistics.stdev([10, -5, -10, 25]))
    assert found.exposure == 0.5
    assert (found.profit, found.drawdown) == (pytest.approx(0.002), pytest.approx(0.0015))


def test_nothing_is_divided_by_nothing() -> None:
    none = metrics([], 100)
    assert (none.win_rate, none.profit_factor, none.expectancy_points, none.sharpe) == (None,) * 4
    assert (none.points, none.drawdown, none.exposure) == (0.0, 0.0, 0.0)
    one = metrics([trade(3)], 0)
    assert (one.win_rate, one.profit_factor, one.sharpe, one.exposure) == (1.0, None, None, 0.0)


def test_groups() -> None:
    other = Trade("Go", "Y", "buy", 0.1, 0, 1.0, 9, 1.0, "stop", 2.0, 0.0)
    found = by_signal([trade(1), other, trade(5, name="Also")], 100)
    assert list(found) == ["Also", "Go", "Go X", "Go Y", "all"]
    assert [group.points for group in found.values()] == [5, 3, 1, 2, 8]
    assert list(by_signal([], 1)) == ["all"]


@given(st.lists(st.integers(-50, 50), max_size=30))
def test_drawdown_is_the_deepest_fall(gains: list[int]) -> None:
    totals = [0]
    for gain in gains:
        totals.append(totals[-1] + gain)
    falls = [high - low for i, high in enumerate(totals) for low in totals[i:]]
    assert drawdown(np.array(gains, float)) == max(falls)


@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20)), max_size=10), st.integers(60, 100)
)
def test_exposure_counts_each_moment_once(spans: list[tuple[int, int]], span_ms: int) -> None:
    trades = [trade(1, start, start + length) for start, length in spans]
    moments = {ms for start, length in spans for ms in range(start, start + length)}
    assert metrics(trades, span_ms).exposure == len(moments) / span_ms


@given(st.integers(0, 7), st.integers(1, 10**6), st.data())
def test_points_are_found_from_decimals(digits: int, scale: int, data: st.DataObject) -> None:
    steps = data.draw(st.lists(st.integers(1, 10 * scale), min_size=1, max_size=20))
    prices = [round(step / 10**digits, digits) for step in [*steps, 10 * scale + 1]]
    assert digits_of(np.array(prices)) == digits
    assert point_of([np.array(prices), np.array([1.0, np.nan])]) == pytest.approx(10.0**-digits)


def test_prices_of_no_known_step() -> None:
    assert digits_of(np.array([1 / 3])) == 8
    assert point_of([]) == 1.0
