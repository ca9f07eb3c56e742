"""Returns of the account's equity by day (UTC), and the ratios that are made of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cep.backtest.equity import Equity
from cep.backtest.ticks import Floats, Ints

DAY_MS = 86_400_000
DAYS_A_YEAR = 252
"""Trading days, by which ratios are annualised."""
FIRST_WEEKDAY, SATURDAY = 3, 5
"""Counted from Monday: 1970 began on a Thursday."""
NOISE = 1e-12


@dataclass(frozen=True, slots=True)
class Daily:
    """Ratios of daily returns, for a year of 252 days, without a riskless rate; None where there
    are too few days or nothing to divide by.

    `drawdown_share` is the deepest fall from one day's end to another's: at ticks it is deeper.
    """

    days: int = 0
    annual_return: float | None = None
    annual_volatility: float | None = None
    sharpe: float | None = None
    sortino: float | None = None
    calmar: float | None = None
    drawdown_share: float | None = None


class Returns(NamedTuple):
    """Shares that the account's equity has gained, and their days, counted from 1970."""

    days: Ints
    shares: Floats

    def table(self) -> pa.Table:
        """Columns `date` (UTC) and `return`, 0.01 for a hundredth more."""
        dates = pa.array(self.days.astype("datetime64[D]"))
        return pa.table({"date": dates, "return": pa.array(self.shares)})


NO_RETURNS = Returns(np.zeros(0, np.int64), np.zeros(0))


def returns(equity: Equity, from_msc: int, to_msc: int) -> Returns:
    """Of each day (UTC) of a range, but for Saturdays and Sundays on which nothing was open or
    dealt; none where there is no money at first or any day ends without some.
    """
    first, last = from_msc // DAY_MS, to_msc // DAY_MS
    days = np.arange(first, last + 1)
    active = np.unique(equity.time_msc // DAY_MS)
    is_weekend = (days + FIRST_WEEKDAY) % 7 >= SATURDAY
    days = days[~is_weekend | np.isin(days, active)]
    behind = np.searchsorted(equity.time_msc, (days + 1) * DAY_MS)
    ends = np.concatenate([[equity.start], equity.equity])[behind]
    worth = np.concatenate([[equity.start], ends])
    if not len(ends) or worth.min() <= 0.0:
        return NO_RETURNS
    return Returns(days, worth[1:] / worth[:-1] - 1.0)


def daily(found: Floats) -> Daily:
    """The ratios of returns."""
    count = len(found)
    if not count:
        return Daily()
    grown = np.cumprod(1.0 + found)
    peaks = np.maximum.accumulate(np.concatenate([[1.0], grown]))
    fall = float((1.0 - np.concatenate([[1.0], grown]) / peaks).max())
    with np.errstate(over="ignore"):
        yearly = float(np.power(grown[-1], DAYS_A_YEAR / count)) - 1.0
    mean = float(found.mean())
    spread = float(found.std(ddof=1)) if count > 1 else 0.0
    below = math.sqrt(float((np.minimum(found, 0.0) ** 2).mean()))
    scale = math.sqrt(DAYS_A_YEAR)
    return Daily(
        count,
        yearly if math.isfinite(yearly) else None,
        spread * scale if count > 1 else None,
        mean / spread * scale if spread > NOISE else None,
        mean / below * scale if count > 1 and below > NOISE else None,
        yearly / fall if fall > NOISE and math.isfinite(yearly) else None,
        fall,
    )
