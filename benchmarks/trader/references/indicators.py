"""References of indicators of bars: means, RSI, MACD, true ranges, bands."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmarks.trader.answers import reference
from benchmarks.trader.market import Market
from benchmarks.trader.references.bars import KEY, bars, before, turned


def by_symbol(frame: pd.DataFrame, name: str, change: object) -> pd.Series:
    """A column changed by a function of one symbol's values."""
    return frame.groupby(KEY)[name].transform(change)


def ema(values: pd.Series, n: int) -> pd.Series:
    return values.ewm(span=n, adjust=False, min_periods=n).mean()


def wilder(values: pd.Series, n: int) -> pd.Series:
    return values.ewm(alpha=1 / n, adjust=False, min_periods=n).mean()


def true_range(frame: pd.DataFrame, n: int) -> pd.Series:
    """Wilder's average: the mean of the first n, then each one moves it by 1 / n."""
    closed = before(frame, "close")
    ways = [frame["high"] - frame["low"], (frame["high"] - closed).abs(),
            (frame["low"] - closed).abs()]  # fmt: skip
    spans = frame.assign(span=pd.concat(ways, axis=1).max(axis=1))
    return by_symbol(spans, "span", lambda x: pd.Series(_averaged(x.to_numpy(), n), x.index))


def _averaged(spans: np.ndarray, n: int) -> np.ndarray:
    found = np.full(len(spans), np.nan)
    if len(spans) >= n:
        found[n - 1] = spans[:n].mean()
    for place in range(n, len(spans)):
        found[place] = (found[place - 1] * (n - 1) + spans[place]) / n
    return found


@reference("GoldenCross")
def ma_cross(market: Market) -> pd.DataFrame:
    found = bars(market)
    fast = by_symbol(found, "close", lambda x: ema(x, 5))
    return turned(found, fast > by_symbol(found, "close", lambda x: ema(x, 20)))


@reference("Oversold")
def rsi_threshold(market: Market) -> pd.DataFrame:
    found = bars(market)
    found["step"] = (found["close"] - before(found, "close")).fillna(0.0)
    rises = by_symbol(found, "step", lambda x: wilder(x.clip(lower=0), 14))
    falls = by_symbol(found, "step", lambda x: wilder((-x).clip(lower=0), 14))
    strength = (100 - 100 / (1 + rises / falls)).where(falls != 0, 100.0).where(falls.notna())
    return turned(found, strength < 30)


@reference("MacdCross", "macd")
def macd_cross(market: Market) -> pd.DataFrame:
    found = bars(market)
    found["macd"] = by_symbol(found, "close", lambda x: ema(x, 12) - ema(x, 26))
    signal = by_symbol(found, "macd", lambda x: ema(x.dropna(), 9).reindex(x.index))
    found["histogram"] = found["macd"] - signal
    crossed = (before(found, "histogram") <= 0) & (found["histogram"] > 0)
    return found[crossed][["time_msc", KEY, "close", "macd"]]


@reference("Breakout", "range_before")
def atr_breakout(market: Market) -> pd.DataFrame:
    found = bars(market)
    found["range"] = true_range(found, 14)
    found["close_before"] = before(found, "close")
    found["range_before"] = before(found, "range")
    far = (found["close"] - found["close_before"]).abs() > 1.5 * found["range_before"]
    return found[far][["time_msc", KEY, "close", "close_before", "range_before"]]


@reference("Outside", "upper", "middle", "lower")
def bollinger_bars(market: Market) -> pd.DataFrame:
    found = bars(market)
    found["middle"] = by_symbol(found, "close", lambda x: x.rolling(20).mean())
    apart = 2 * by_symbol(found, "close", lambda x: x.rolling(20).std(ddof=0))
    found["upper"], found["lower"] = found["middle"] + apart, found["middle"] - apart
    outside = (found["close"] > found["upper"]) | (found["close"] < found["lower"])
    return found[outside][["time_msc", KEY, "close", "upper", "middle", "lower"]]


@reference("Keltner", "middle", "range")
def keltner(market: Market) -> pd.DataFrame:
    found = bars(market)
    found["middle"] = by_symbol(found, "close", lambda x: ema(x, 20))
    found["range"] = true_range(found, 10)
    above = found[found["close"] > found["middle"] + 2 * found["range"]]
    return above[["time_msc", KEY, "close", "middle", "range"]]
