"""References of what is built on bars of a minute: patterns of candles, channels, two frames."""

from __future__ import annotations

import pandas as pd

from benchmarks.trader.answers import reference
from benchmarks.trader.market import Market

MINUTE_MS = 60_000
KEY = "symbol"


def bars(market: Market, size_ms: int = MINUTE_MS) -> pd.DataFrame:
    """The bars that have ended, at the times of their ends."""
    ticks = market.ticks
    start = ticks["time_msc"] - ticks["time_msc"] % size_ms
    found = ticks.groupby([KEY, start.rename("start")])["bid"].agg(
        open="first", high="max", low="min", close="last"
    )
    found = found.reset_index()
    found.insert(0, "time_msc", found["start"] + size_ms)
    return found[found["time_msc"] <= market.end_msc("Tick")].reset_index(drop=True)


def before(frame: pd.DataFrame, name: str, n: int = 1) -> pd.Series:
    """A column's values n rows of the symbol earlier."""
    return frame.groupby(KEY)[name].shift(n)


def turned(frame: pd.DataFrame, is_so: pd.Series) -> pd.DataFrame:
    """The rows with which something turns true of a symbol, as events: time and key."""
    flags = frame.assign(is_so=is_so.astype(bool))
    edges = flags[flags["is_so"] & ~before(flags, "is_so").eq(True)]
    return edges[["time_msc", KEY]].rename(columns={KEY: "key"})


@reference("Engulfing")
def engulfing(market: Market) -> pd.DataFrame:
    found = bars(market)
    opened, closed = before(found, "open"), before(found, "close")
    fell = (closed < opened) & (found["close"] > found["open"])
    found["top"] = opened
    found = found[fell & (found["open"] <= closed) & (found["close"] >= opened)]
    return found[["time_msc", KEY, "top", "close"]]


@reference("ThreeFalling")
def three_falling(market: Market) -> pd.DataFrame:
    found = bars(market)
    falls = found["close"] < found["open"]
    found["lower"] = falls & (found["close"] < before(found, "close"))
    found["falls"] = falls
    found["top"] = before(found, "open", 2)
    three = found["lower"] & before(found, "lower").eq(True) & before(found, "falls", 2).eq(True)
    return found[three][["time_msc", KEY, "top", "close"]]


@reference("InsideBar")
def inside_bar(market: Market) -> pd.DataFrame:
    found = bars(market)
    found["high_before"], found["low_before"] = before(found, "high"), before(found, "low")
    within = (found["high"] < found["high_before"]) & (found["low"] > found["low_before"])
    return found[within][["time_msc", KEY, "high", "low", "high_before", "low_before"]]


@reference("Donchian")
def donchian(market: Market) -> pd.DataFrame:
    found = bars(market)
    found["top"] = found.groupby(KEY)["high"].transform(lambda x: x.rolling(20, 1).max())
    found["top_before"] = before(found, "top")
    above = found[found["close"] > found["top_before"]]
    return above[["time_msc", KEY, "close", "top_before"]]


@reference("WithTrend", "rise")
def two_time_frames(market: Market) -> pd.DataFrame:
    frame = bars(market, 5 * MINUTE_MS)
    frame["rise"] = frame["close"] - frame["open"]
    found = bars(market)
    of_symbol = found.groupby(KEY)["close"]
    mean = of_symbol.transform(lambda x: x.ewm(span=5, adjust=False, min_periods=5).mean())
    found = found[(found["close"] > mean) & (before(found, "close") < mean)]
    trends = frame.sort_values("time_msc")[["time_msc", KEY, "rise"]]
    found = pd.merge_asof(found.sort_values("time_msc"), trends, on="time_msc", by=KEY)
    return found[found["rise"] > 0][["time_msc", KEY, "close", "rise"]]


@reference("Busy", "usual")
def volume_spike(market: Market) -> pd.DataFrame:
    ticks = market.ticks
    found = bars(market)
    start = (ticks["time_msc"] // MINUTE_MS + 1) * MINUTE_MS
    volume = ticks.groupby([KEY, start])["volume"].sum().rename("bar_volume")
    found = found.join(volume, on=[KEY, "time_msc"])
    found["usual"] = found.groupby(KEY)["bar_volume"].transform(lambda x: x.rolling(20).mean())
    busy = found[found["bar_volume"] > 2 * found["usual"]]
    return busy[["time_msc", KEY, "close", "bar_volume", "usual"]]


@reference("Strong")
def tick_bars(market: Market) -> pd.DataFrame:
    ticks = market.ticks
    number = ticks.groupby(KEY).cumcount() // 20
    found = ticks.groupby([KEY, number.rename("number")]).agg(
        time_msc=("time_msc", "last"), high=("bid", "max"), low=("bid", "min"),
        close=("bid", "last"), n=("bid", "size"),
    )  # fmt: skip
    found = found[found["n"] == 20].reset_index()
    found["high_before"] = before(found, "high")
    strong = (found["close"] == found["high"]) & (found["high"] > found["high_before"])
    return found[strong][["time_msc", KEY, "high", "low", "close", "high_before"]]


@reference("Above")
def swing_break(market: Market) -> pd.DataFrame:
    found = bars(market)
    top = before(found, "high", 2)
    sides = [before(found, "high", n) for n in (0, 1, 3, 4)]
    is_swing = sides[-1].notna()
    for side in sides:
        is_swing &= top > side
    found["top"] = top.where(is_swing)
    found["level"] = found.groupby(KEY)["top"].ffill()
    judged = found.dropna(subset="level")
    return turned(judged, judged["close"] > judged["level"])
