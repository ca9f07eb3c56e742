"""References of how quotes lie: medians and percentiles of spreads, repeated prices."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmarks.trader.answers import reference
from benchmarks.trader.market import Market
from benchmarks.trader.references.bars import KEY
from benchmarks.trader.references.ticks import MINUTE_MS, SECOND_MS, windows


@reference("Wide", "usual")
def spread_median(market: Market) -> pd.DataFrame:
    found = market.ticks.assign(spread=market.ticks["ask"] - market.ticks["bid"])
    oldest = windows(found, MINUTE_MS)
    found["usual"] = np.nan
    for _, mine in found.groupby(KEY):
        values = mine["spread"].to_numpy()
        spans = enumerate(oldest[mine.index])
        found.loc[mine.index, "usual"] = [np.median(values[a : b + 1]) for b, a in spans]
    wide = found[found["spread"] > 2 * found["usual"]]
    return wide[["time_msc", KEY, "spread", "usual"]]


@reference("Wide", "usual")
def spread_percentile(market: Market) -> pd.DataFrame:
    found = market.ticks.assign(spread=market.ticks["ask"] - market.ticks["bid"])
    oldest = windows(found, 5 * MINUTE_MS)
    found["usual"] = np.nan
    for _, mine in found.groupby(KEY):
        values = mine["spread"].to_numpy()
        spans = enumerate(np.maximum(oldest[mine.index], np.arange(len(mine)) - 99))
        found.loc[mine.index, "usual"] = [np.percentile(values[a : b + 1], 90) for b, a in spans]
    wide = found[found["spread"] > found["usual"]]
    return wide[["time_msc", KEY, "spread", "usual"]]


@reference("Stuffed")
def stuffing(market: Market) -> pd.DataFrame:
    found = market.ticks.copy()
    oldest = windows(found, 10 * SECOND_MS)
    found["ticks"] = found.groupby(KEY).cumcount() + 1 - oldest
    found["prices"] = 0
    for _, mine in found.groupby(KEY):
        values, spans = mine["bid"].to_numpy(), enumerate(oldest[mine.index])
        counts = [len(set(values[a : b + 1])) if b - a >= 9 else 0 for b, a in spans]
        found.loc[mine.index, "prices"] = counts
    few = found[(found["ticks"] >= 10) & (found["prices"] * 2 <= found["ticks"])]
    return few[["time_msc", KEY, "ticks", "prices"]]
