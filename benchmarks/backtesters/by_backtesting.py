"""backtesting.py: a bar a tick, whose one price is the mid; a strategy in Python for each bar.

Bars have one price to trade at, and a spread that is one share of it for all. So half of each
tick's spread is a commission here: trades come at the mids, and gain what they gain elsewhere.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

import backtesting
import numpy as np
import numpy.typing as npt
import pandas as pd
from backtesting import Backtest, Strategy

from benchmarks.backtesters.job import POINT, UNITS, Job, Quotes, Trade, serve

Reals = npt.NDArray[np.float64]


def mean(values: Reals, size: int) -> Reals:
    """Of each value and those before it; infinite where these are too few.

    The platform begins a bar behind the last NaN, which is one bar late.
    """
    sums = np.cumsum(np.concatenate(([0.0], values)))
    return np.concatenate((np.full(size - 1, np.inf), (sums[size:] - sums[:-size]) / size))


@dataclass
class HalfSpread:
    """What a fill costs: half the spread of its bar, the one behind the last that was looked at.

    Asked a second time at a close, it is what the open has cost.
    """

    halves: Reals
    bar: int = 0
    fills: list[int] = field(default_factory=list)

    def __call__(self, size: float, price: float) -> float:
        if self.fills[-1:] == [self.bar]:
            bar = self.fills[-1 if len(self.fills) % 2 else -2]
        else:
            bar = self.bar
            self.fills.append(bar)
        return float(abs(size) * self.halves[bar])


class Crossing(Strategy):
    """Long while the fast mean is above the slow one. The platform fills at the next bar's open."""

    job: Job
    mids: Reals
    costs: HalfSpread

    def init(self) -> None:
        self.fast = self.I(mean, self.mids, self.job.fast)
        self.slow = self.I(mean, self.mids, self.job.slow)
        self.is_above = False

    def next(self) -> None:
        self.costs.bar = len(self.data)
        is_above = self.fast[-1] > self.slow[-1]
        if is_above and not self.is_above:
            self.buy(size=UNITS)
        if self.is_above and not is_above:
            self.position.close()
        self.is_above = is_above


def load(job: Job) -> tuple[Quotes, pd.DataFrame]:
    """The ticks as bars."""
    quotes = job.quotes()
    mids = (quotes.bids + quotes.asks) / 2
    index = pd.to_datetime(quotes.times_ns())
    return quotes, pd.DataFrame(dict.fromkeys(("Open", "High", "Low", "Close"), mids), index)


def run(job: Job, given: tuple[Quotes, pd.DataFrame]) -> list[Trade]:
    quotes, bars = given
    costs = HalfSpread((quotes.asks - quotes.bids) / 2)
    mids = quotes.half_points().astype(np.float64)
    strategy = type("Crossing", (Crossing,), {"job": job, "mids": mids, "costs": costs})
    rows = Backtest(bars, strategy, cash=1e6, commission=costs).run()["_trades"]
    columns = (
        quotes.times_msc[rows["EntryBar"]], rows["EntryPrice"], quotes.times_msc[rows["ExitBar"]],
        rows["ExitPrice"], rows["PnL"] / (UNITS * POINT),
    )  # fmt: skip
    return [Trade(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # such as that a position is left open at the end
    serve(backtesting.__version__, load, run)
