"""vectorbt: whole arrays of means and signals, orders by a loop that it has compiled."""

from __future__ import annotations

import numpy as np
import vectorbt as vbt
from vectorbt.generic.nb import rolling_mean_1d_nb
from vectorbt.portfolio.enums import TradeStatus

from benchmarks.backtesters.job import POINT, UNITS, Job, Quotes, Trade, serve


def run(job: Job, quotes: Quotes) -> list[Trade]:
    """Signals stand a tick behind the one they were decided at, each with its own side's price."""
    mids = quotes.half_points().astype(np.float64)
    fast, slow = (rolling_mean_1d_nb(mids, size) for size in (job.fast, job.slow))
    is_above = fast > slow  # false where a mean is NaN, before there are ticks enough
    is_below = np.isfinite(slow) & ~is_above
    entries, exits = np.zeros((2, len(quotes)), np.bool_)
    entries[1:] = is_above[:-1]
    exits[1:] = is_below[:-1]
    found = vbt.Portfolio.from_signals(
        close=(quotes.bids + quotes.asks) / 2,
        entries=entries,
        exits=exits,
        price=np.where(entries, quotes.asks, quotes.bids),
        size=UNITS,
        init_cash=1e6,
    )
    rows = found.trades.records_arr
    rows = rows[rows["status"] == TradeStatus.Closed]
    columns = (
        quotes.times_msc[rows["entry_idx"]], rows["entry_price"],
        quotes.times_msc[rows["exit_idx"]], rows["exit_price"], rows["pnl"] / (UNITS * POINT),
    )  # fmt: skip
    return [Trade(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


if __name__ == "__main__":
    serve(vbt.__version__, Job.quotes, run)
