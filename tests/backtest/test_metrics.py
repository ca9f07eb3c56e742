"""Metrics, worked by hand and against plain loops."""

from __future__ import annotations

import statistics
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.backtest.errors import BacktestError
from cep.backtest.metrics import by_signal, drawdown, metrics
from cep.backtest.periods import by_hour, by_month
from cep.backtest.points import Evidence, derived_points, digits_of, evidence, known_points
from cep.backtest.trades import Trade


def trade(points: float, opened: int = 0, closed: int = 10, name: str = "Go") -> Trade:
    amounts = [round(one * 1e-4, 10) for one in (points, points - 2.0, points + 3.0)]
    return Trade(
        name, "X", "buy", 0.1, opened, 1.0, closed, 1.0, "stop", points, amounts[0], 0.0, 0.0,
        amounts[0], 0.9, 1.1, points - 2.0, points + 3.0, *amounts[1:],
    )  # fmt: skip


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


def test_costs_come_off_and_deepen_the_drawdown() -> None:
    costly = [replace(trade(10, 0, n), commission=-3.0, swap=-1.0, net=-2.0) for n in range(3)]
    found = metrics([replace(one, profit=2.0) for one in costly], 100)
    assert (found.profit, found.costs, found.net, found.drawdown) == (6.0, -12.0, -6.0, 6.0)
    assert found.drawdown_points == 0.0


HOUR_MS, DAY_MS = 3_600_000, 86_400_000


def test_months_go_by_closing_and_hours_by_opening() -> None:
    april_msc = 19_814 * DAY_MS  # the first of April 2024
    trades = [
        trade(10, april_msc - HOUR_MS, april_msc - 1),
        trade(-4, april_msc - HOUR_MS, april_msc),
        trade(7, april_msc + 9 * HOUR_MS, april_msc + 33 * HOUR_MS),
        trade(1, april_msc + 33 * HOUR_MS - 1, april_msc + 34 * HOUR_MS),
    ]
    months = {name: (one.trades, one.points) for name, one in by_month(trades).items()}
    assert months == {"2024-03": (1, 10.0), "2024-04": (3, 4.0)}
    hours = {name: (one.trades, one.points) for name, one in by_hour(trades).items()}
    assert hours == {"08:00": (1, 1.0), "09:00": (1, 7.0), "23:00": (2, 6.0)}
    assert by_month([]) == by_hour([]) == {}


@given(st.lists(st.tuples(st.integers(0, 400 * DAY_MS), st.integers(-50, 50)), max_size=30))
def test_each_trade_is_in_one_month_and_one_hour(made: list[tuple[int, int]]) -> None:
    trades = [trade(points, at, at + HOUR_MS) for at, points in made]
    for found in (by_month(trades), by_hour(trades)):
        assert sum(one.trades for one in found.values()) == len(trades)
        assert sum(one.points for one in found.values()) == pytest.approx(sum(p for _, p in made))
        assert list(found) == sorted(found)


def test_nothing_is_divided_by_nothing() -> None:
    none = metrics([], 100)
    assert (none.win_rate, none.profit_factor, none.expectancy_points, none.sharpe) == (None,) * 4
    assert (none.points, none.drawdown, none.exposure) == (0.0, 0.0, 0.0)
    for same in (0.1, 0.3, -1.7, 0.0):
        assert metrics([trade(same)] * 3, 100).sharpe is None
    one = metrics([trade(3)], 0)
    assert (one.win_rate, one.profit_factor, one.sharpe, one.exposure) == (1.0, None, None, 0.0)


@given(st.lists(st.tuples(st.sampled_from([-2.5, -0.4, 0.0, 0.3, 7.0]), st.integers(0, 99)),
                min_size=1, max_size=9, unique_by=lambda pair: pair[1]))  # fmt: skip
def test_metrics_are_those_of_plain_loops(closings: list[tuple[float, int]]) -> None:
    found = metrics([trade(gain, 0, closed) for gain, closed in closings], 100)
    gains = [gain for gain, _ in sorted(closings, key=lambda pair: pair[1])]
    won, lost = sum(g for g in gains if g > 0), -sum(g for g in gains if g < 0)
    assert (found.trades, found.wins) == (len(gains), sum(g > 0 for g in gains))
    assert found.win_rate == pytest.approx(found.wins / len(gains))
    assert found.profit_factor == (pytest.approx(won / lost) if lost else None)
    assert found.expectancy_points == pytest.approx(sum(gains) / len(gains))
    totals = [sum(gains[:n]) for n in range(len(gains) + 1)]
    falls = [high - low for i, high in enumerate(totals) for low in totals[i:]]
    assert found.drawdown_points == pytest.approx(max(falls))
    assert found.drawdown == pytest.approx(max(falls) * 1e-4)
    deviation = statistics.stdev(gains) if len(gains) > 1 else 0.0
    assert found.sharpe == (
        pytest.approx(statistics.mean(gains) / deviation) if deviation else None
    )


def test_groups() -> None:
    other = replace(trade(2, 0, 9), symbol="Y")
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


@given(st.integers(0, 8), st.integers(1, 10**6), st.data())
def test_points_are_found_from_decimals(digits: int, scale: int, data: st.DataObject) -> None:
    steps = data.draw(st.sets(st.integers(1000, 10 * scale + 2000), min_size=5, max_size=20))
    prices = [round(step / 10**digits, digits) for step in [*steps, 10 * scale + 2001]]
    assert digits_of(np.array(prices)) == digits
    seen = evidence([np.array(prices), np.array([prices[0], 0.0, -1.0, np.nan, np.inf])])
    assert seen == Evidence(digits, len(steps) + 1, pytest.approx(np.median(prices)))
    assert seen.problem is None and seen.point.size == pytest.approx(10.0**-digits)
    assert seen.point.why == f"from {digits} decimals of {len(steps) + 1} prices"


QUOTED = [1.10002, 1.10011, 1.10005, 1.10008, 1.1001]


@pytest.mark.parametrize(
    ("prices", "problem"),
    [
        ([1.1, 1.11], "2 different prices are too few, 5 are needed"),
        ([1.1, 1.11] * 1000, "2 different prices"),
        (QUOTED[:4], "4 different prices"),
        ([], "0 different prices"),
        ([0.0, float("nan"), -1.0], "0 different prices"),
        ([1.10, 1.11, 1.12, 1.13, 1.14, 1.15], "2 decimals are too coarse at prices about 1.125"),
        ([150.0, 151.0, 152.0, 153.0, 154.0], "0 decimals are too coarse"),
        ([1 / 3, 1 / 7, 1 / 9, 1 / 11, 1 / 13], "no common step"),
    ],
)
def test_prices_that_do_not_show_a_point(prices: list[float], problem: str) -> None:
    seen = evidence([np.array(prices)])
    assert problem in str(seen.problem)
    samples = {"A": [np.array(prices)], "B": [np.array(QUOTED)], "C": [np.array(prices)]}
    with pytest.raises(BacktestError, match=problem) as caught:
        derived_points({"C": 0.5}, samples)
    assert caught.value.hint is not None and caught.value.hint.endswith(": --point A=SIZE")
    with pytest.raises(BacktestError, match=problem):
        known_points({"B": 1e-5, "C": 0.5}, samples)
    found = derived_points({"A": 0.01, "C": 0.5, "Z": 1.0}, samples)
    assert {name: point.size for name, point in found.items()} == {"A": 0.01, "B": 1e-5, "C": 0.5}
    assert found["A"].why == found["C"].why == "given"
    assert found["B"].why == "from 5 decimals of 5 prices"


def test_a_point_is_told_and_not_taken_from_prices() -> None:
    """Who is asked for it sees what prices show, and how to tell it."""
    samples = {f"S{number}": [np.array(QUOTED)] for number in range(7)}
    told = {f"S{number}": 1e-5 for number in range(7)}
    assert {one.why for one in known_points(told, samples).values()} == {"given"}
    with pytest.raises(BacktestError, match="size of a point") as caught:
        known_points({}, samples)
    seen = "perhaps 0.00001, from 5 decimals of 5 prices"
    assert f"(S0: {seen}; S1: {seen}; " in str(caught.value)
    assert str(caught.value).endswith("and of 2 other symbols)")
    assert "specify ARCHIVE --point S0=0.00001 --point S1=0.00001" in str(caught.value.hint)


@pytest.mark.parametrize(
    "prices",
    [
        QUOTED,
        [9.98, 9.99, 10.0, 10.01, 10.02],
        [1800.25, 1800.5, 1801.0, 1802.75, 1803.5],
        [38_000.0 + i for i in range(5)],
    ],
)
def test_real_quotes_show_their_point(prices: list[float]) -> None:
    assert evidence([np.array(prices)]).problem is None


def test_prices_of_no_known_step() -> None:
    assert digits_of(np.array([1 / 3])) == 8
