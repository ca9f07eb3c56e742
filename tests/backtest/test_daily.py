"""Ratios of daily returns: worked by hand, and as empyrical computes them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.backtest.daily import DAY_MS, Daily, daily, returns
from cep.backtest.equity import Equity

MONDAY = 19_786
"""The fourth of March 2024, in days since 1970."""


def equity(*ends: tuple[int, float], start: float = 100.0) -> Equity:
    """What it was at noon of some days, counted from Monday."""
    times = np.array([(MONDAY + day) * DAY_MS + DAY_MS // 2 for day, _ in ends], np.int64)
    values = np.array([value for _, value in ends], np.float64)
    return Equity(times, values, values, values, values, start)


def span(days: int) -> tuple[int, int]:
    return MONDAY * DAY_MS, (MONDAY + days) * DAY_MS - 1


def test_each_day_has_a_return_and_quiet_weekends_have_none() -> None:
    found = returns(equity((0, 110.0), (2, 99.0), (7, 198.0)), *span(8))
    assert found.shares.tolist() == pytest.approx([0.1, 0.0, -0.1, 0.0, 0.0, 1.0])
    traded = returns(equity((5, 150.0)), *span(7))
    assert traded.shares.tolist() == pytest.approx([0.0] * 5 + [0.5])


def test_returns_are_what_libraries_of_tear_sheets_take() -> None:
    """`docs/backtest.md`: a Series of shares by day, which QuantStats and empyrical take."""
    pandas = returns(equity((0, 110.0), (2, 99.0)), *span(3)).table().to_pandas()
    series = pandas.set_index("date")["return"]
    days = [str(day) for day in series.index]
    assert days == ["2024-03-04", "2024-03-05", "2024-03-06"]
    assert series.tolist() == pytest.approx([0.1, 0.0, -0.1])


def test_without_money_there_are_no_returns() -> None:
    assert not len(returns(equity((0, 1.0), start=0.0), *span(3)).days)
    assert not len(returns(equity((0, -5.0)), *span(3)).days)
    assert daily(np.zeros(0)) == Daily()


def test_worked_by_hand() -> None:
    found = daily(np.array([0.1, -0.1]))
    assert found.annual_return == pytest.approx(0.99**126 - 1)
    assert found.annual_volatility == pytest.approx(math.sqrt(0.02) * math.sqrt(252))
    assert found.sharpe == pytest.approx(0.0) and found.sortino == pytest.approx(0.0)
    assert found.drawdown_share == pytest.approx(0.1)
    assert found.calmar == pytest.approx((0.99**126 - 1) / 0.1)


@given(st.lists(st.floats(-0.5, 0.5).map(lambda value: round(value, 6)), min_size=1, max_size=60))
def test_as_empyrical(values: list[float]) -> None:
    oracle = pytest.importorskip("empyrical", reason="pip install '.[dev]' brings the oracle")
    array = np.array(values)
    found = daily(array)

    def same(ours: float | None, theirs: Any) -> None:
        expected = float(theirs)
        if ours is None:  # nothing to divide by, or too much to say
            assert not math.isfinite(expected) or abs(expected) > 1e9, expected
        else:
            assert ours == pytest.approx(expected, rel=1e-6, abs=1e-9)

    same(found.annual_return, oracle.annual_return(array))
    same(found.annual_volatility, oracle.annual_volatility(array))
    same(found.sharpe, oracle.sharpe_ratio(array))
    same(found.sortino, oracle.sortino_ratio(array))
    same(found.calmar, oracle.calmar_ratio(array))
    assert found.drawdown_share == pytest.approx(-float(oracle.max_drawdown(array)), abs=1e-9)
