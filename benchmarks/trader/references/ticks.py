"""References of what is asked of each tick: moves, spreads, levels, pauses."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from benchmarks.trader.answers import reference
from benchmarks.trader.market import Market
from benchmarks.trader.references.bars import KEY, before, turned

POINTS = 1e5
SECOND_MS, MINUTE_MS, HOUR_MS = 1_000, 60_000, 3_600_000


def windows(frame: pd.DataFrame, length_ms: int, by: str | list[str] = KEY) -> pd.Series:
    """Of each row, the place among the rows of its group of the oldest within `length_ms`."""

    def oldest(times: pd.Series) -> np.ndarray:
        values = times.to_numpy()
        return np.asarray(np.searchsorted(values, values - length_ms, side="right"))

    return frame.groupby(by)["time_msc"].transform(oldest)


def sums(values: np.ndarray, oldest: np.ndarray) -> np.ndarray:
    """Sums of windows from `oldest` to each row, in long doubles."""
    total = np.concatenate([[0], np.cumsum(values.astype(np.longdouble))])
    return np.asarray(total[1:] - total[oldest])


def of_windows(frame: pd.DataFrame, name: str, length_ms: int) -> tuple[pd.Series, pd.Series]:
    """Mean and deviation of a column over the last `length_ms` of each symbol."""
    mean, deviation = (pd.Series(np.nan, frame.index) for _ in range(2))
    oldest = windows(frame, length_ms)
    for _, mine in frame.groupby(KEY):
        first, values = oldest[mine.index].to_numpy(), mine[name].to_numpy()
        n = np.arange(1, len(mine) + 1) - first
        moved = values - np.longdouble(values[0])
        mean[mine.index] = (values[0] + sums(moved, first) / n).astype(float)
        points = np.round(moved * POINTS)  # whole numbers, so that equal prices do not deviate
        spread = n * sums(points**2, first) - sums(points, first) ** 2
        deviation[mine.index] = (np.sqrt(spread) / n / POINTS).astype(float)
    return mean, deviation


@reference("Wild")
def volatility_regime(market: Market) -> pd.DataFrame:
    found = market.ticks.copy()
    found["deviation"] = of_windows(found, "bid", MINUTE_MS)[1]
    usual = of_windows(found, "deviation", 10 * MINUTE_MS)[0]
    return turned(found, found["deviation"] > 1.5 * usual)


@reference("Burst")
def momentum_burst(market: Market) -> pd.DataFrame:
    found = market.ticks
    return turned(found, found["bid"] > 1.0002 * before(found, "bid", 10))


@reference("Flicker")
def quote_flicker(market: Market) -> pd.DataFrame:
    found = market.ticks.copy()
    found["first"], found["flicker"] = before(found, "bid", 2), before(found, "bid")
    is_quick = found["time_msc"] - before(found, "time_msc", 2) <= 200
    is_back = (found["flicker"] > found["first"]) & (found["bid"] == found["first"])
    return found[is_quick & is_back][["time_msc", KEY, "bid", "flicker"]]


def level(ticks: pd.DataFrame, gold: float, other: float) -> pd.DataFrame:
    """Ticks with the number of the level they are above, and that of the tick before."""
    step = np.where(ticks[KEY] == "XAUUSD", gold, other)
    found = ticks.assign(level=np.floor(ticks["bid"] / step))
    found["level_before"] = before(found, "level")
    return found


@reference("Through")
def round_number(market: Market) -> pd.DataFrame:
    found = level(market.ticks, 5.0, 0.001)
    moved = found["level_before"].notna() & (found["level"] != found["level_before"])
    return found[moved][["time_msc", KEY, "bid", "level", "level_before"]]


@reference("ThirdTouch")
def nth_touch(market: Market) -> pd.DataFrame:
    found = level(market.ticks, 0.5, 0.0001)
    found = found[found["level"] > found["level_before"]].copy()
    by = [KEY, "level"]
    found["touches"] = found.groupby(by).cumcount() + 1 - windows(found, 2 * HOUR_MS, by)
    return found[found["touches"] == 3][["time_msc", KEY, "bid", "level", "touches"]]


@reference("Stale")
def stale_feed(market: Market) -> pd.DataFrame:
    found = market.ticks.copy()
    following = before(found, "time_msc", -1).fillna(np.inf)
    due = found["time_msc"] + 5 * SECOND_MS
    found["time_msc"] = due
    is_stale = (following >= due) & (due <= market.end_msc("Tick"))
    return found[is_stale][["time_msc", KEY, "bid"]]


@reference("Reverted")
def spike_reversion(market: Market) -> pd.DataFrame:
    ticks, rows = market.ticks, []
    start = before(ticks, "bid", 5)
    for symbol, mine in ticks.groupby(KEY):
        times, bids = mine["time_msc"].to_numpy(), mine["bid"].to_numpy()
        starts = start[mine.index].to_numpy()
        for place in np.flatnonzero(bids > 1.0005 * starts):
            last = np.searchsorted(times, times[place] + MINUTE_MS, side="right")
            back = np.flatnonzero(bids[place + 1 : last] <= starts[place])
            if len(back):
                end = place + 1 + back[0]
                rows.append((end, times[end], symbol, bids[place], bids[end]))
    rows.sort(key=lambda row: row[0])
    return pd.DataFrame([row[1:] for row in rows], columns=["time_msc", KEY, "top", "bid"])


@reference("Reversal")
def band_reversal(market: Market) -> pd.DataFrame:
    """Each fall below goes with the newest rise above that went with none."""
    found = market.ticks.copy()
    mean, deviation = of_windows(found, "bid", 5 * MINUTE_MS)
    above = turned(found, found["bid"] > mean + 2 * deviation)
    below = turned(found, found["bid"] < mean - 2 * deviation)
    events = pd.concat([above.assign(is_above=True), below.assign(is_above=False)]).sort_index()
    rises: dict[str, list[int]] = {symbol: [] for symbol in found[KEY].unique()}
    rows = []
    for event in events.itertuples():
        waiting = rises[event.key]
        if event.is_above:
            waiting.append(event.time_msc)
        elif waiting and event.time_msc - waiting[-1] <= 3 * MINUTE_MS:
            rows.append((event.time_msc, event.key, waiting.pop()))
    return pd.DataFrame(rows, columns=["time_msc", "key", "first_msc"])


@reference("Imbalance")
def tick_imbalance(market: Market) -> pd.DataFrame:
    ticks = market.ticks
    step = np.sign(ticks["bid"] - before(ticks, "bid"))
    found = ticks.assign(direction=step)[step.notna()].reset_index(drop=True)
    oldest = windows(found, MINUTE_MS)
    found["n"] = found.groupby(KEY).cumcount() + 1 - oldest
    found["balance"] = 0
    for _, mine in found.groupby(KEY):
        balance = sums(mine["direction"].to_numpy(), oldest[mine.index].to_numpy())
        found.loc[mine.index, "balance"] = balance.astype(np.int64)
    up = found[(found["n"] >= 20) & (found["balance"] * 5 > found["n"])]
    return up[["time_msc", KEY, "balance", "n"]]


@reference("Gap")
def opening_gap(market: Market) -> pd.DataFrame:
    found = market.ticks.copy()
    found["before"], found["bid_before"] = before(found, "time_msc"), before(found, "bid")
    pause = found["time_msc"] - found["before"]
    gaps = found[(pause >= 10 * MINUTE_MS) & (found["bid"] != found["bid_before"])]
    return gaps[["time_msc", KEY, "bid", "before", "bid_before"]]


@reference("Alert")
def wide_alert(market: Market) -> pd.DataFrame:
    """What comes within ten seconds of what was told last of the symbol is left out."""
    found = market.ticks.assign(spread=market.ticks["ask"] - market.ticks["bid"])
    found = found[found["spread"] > 1.5 * before(found, "spread")]
    told, kept = dict.fromkeys(found[KEY], -math.inf), []
    for time_msc, symbol in zip(found["time_msc"], found[KEY], strict=True):
        kept.append(time_msc >= told[symbol] + 10 * SECOND_MS)
        if kept[-1]:
            told[symbol] = time_msc
    return found[kept][["time_msc", KEY, "spread"]]
