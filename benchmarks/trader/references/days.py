"""References of what goes by the day, and by the minute for all symbols together."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmarks.trader.answers import reference
from benchmarks.trader.market import Market
from benchmarks.trader.references.bars import KEY, bars, before, turned

MINUTE_MS, HOUR_MS, DAY_MS = 60_000, 3_600_000, 86_400_000


def dated(market: Market) -> pd.DataFrame:
    """Ticks with their day and the minute of it, UTC."""
    ticks = market.ticks
    minute = ticks["time_msc"] // MINUTE_MS % 1440
    return ticks.assign(day=ticks["time_msc"] // DAY_MS, minute=minute)


@reference("AboveVwap")
def daily_vwap(market: Market) -> pd.DataFrame:
    found = dated(market)
    traded = found.assign(turnover=found["bid"] * found["volume"])
    running = traded.groupby([KEY, "day"])[["turnover", "volume"]].cumsum()
    return turned(found, found["bid"] > running["turnover"] / running["volume"])


@reference("LeftRange")
def session_range(market: Market) -> pd.DataFrame:
    found = dated(market)
    early = found["minute"] < 7 * 60
    ranges = found[early].groupby([KEY, "day"])["bid"].agg(top="max", bottom="min")
    later = found[~early].merge(ranges.reset_index(), on=[KEY, "day"])
    outside = (later["bid"] > later["top"]) | (later["bid"] < later["bottom"])
    return turned(later, outside)


@reference("FirstBreak")
def opening_range(market: Market) -> pd.DataFrame:
    found = dated(market)
    opening = found[(found["minute"] >= 480) & (found["minute"] < 510)]
    top = opening.groupby([KEY, "day"])["bid"].max().rename("top")
    later = found[(found["minute"] >= 510) & (found["minute"] < 1200)]
    later = later.merge(top.reset_index(), on=[KEY, "day"])
    first = later[later["bid"] > later["top"]].drop_duplicates([KEY, "day"])
    return first[["time_msc", KEY, "day", "bid", "top"]]


@reference("Apart", "ratio", "zscore")
def pair_zscore(market: Market) -> pd.DataFrame:
    ticks = market.ticks
    last = {name: ticks["bid"].where(ticks[KEY] == name).ffill() for name in ("EURUSD", "XAUUSD")}
    found = ticks.assign(ratio=last["XAUUSD"] / last["EURUSD"]).dropna(subset="ratio")
    values = found["ratio"].to_numpy()
    n = 300
    if len(values) < n:
        return pd.DataFrame(columns=["time_msc", "ratio", "zscore"])
    moved = values - np.longdouble(values[0])
    total = np.concatenate([[0], np.cumsum(moved)])
    squares = np.concatenate([[0], np.cumsum(moved**2)])
    mean, square = (total[n:] - total[:-n]) / n, (squares[n:] - squares[:-n]) / n
    deviation = np.sqrt(square - mean**2)
    found = found[n - 1 :].assign(zscore=((moved[n - 1 :] - mean) / deviation).astype(float))
    return found[found["zscore"].abs() > 2.0][["time_msc", "ratio", "zscore"]]


@reference("Against", "coefficient")
def return_correlation(market: Market) -> pd.DataFrame:
    found = bars(market)
    found["gain"] = found["close"] / before(found, "close") - 1
    wide = found.dropna().pivot(index="time_msc", columns=KEY, values="gain").dropna()
    wide["coefficient"] = wide["EURUSD"].rolling(30).corr(wide["XAUUSD"])
    return wide[wide["coefficient"] < 0.3].reset_index()[["time_msc", "coefficient"]]


@reference("Minute")
def heartbeat(market: Market) -> pd.DataFrame:
    ticks = market.ticks
    end = (ticks["time_msc"] // MINUTE_MS + 1) * MINUTE_MS
    spread = ticks.assign(spread=ticks["ask"] - ticks["bid"], end=end)
    found = (
        spread.groupby(["end", KEY])
        .agg(ticks=("bid", "size"), widest=("spread", "max"), time_msc=("time_msc", "last"))
        .reset_index()
    )
    found = found[found["end"] <= market.end_msc("Tick")]
    return found[["time_msc", KEY, "ticks", "widest"]]


@reference("Busiest")
def busiest(market: Market) -> pd.DataFrame:
    found = heartbeat(market)
    found["end"] = found["time_msc"] // MINUTE_MS
    most = found.sort_values(["ticks", KEY], ascending=[False, True]).drop_duplicates("end")
    return most[["time_msc", KEY, "ticks"]]


@reference("Snapshot")
def minute_snapshot(market: Market) -> pd.DataFrame:
    ticks = market.ticks
    first = ticks["time_msc"].iloc[0] + MINUTE_MS
    clock = pd.DataFrame({"time_msc": np.arange(first, market.end_msc("Tick") + 1, MINUTE_MS)})
    parts = [
        pd.merge_asof(clock, mine[["time_msc", KEY, "bid"]], on="time_msc",
                      allow_exact_matches=False)
        for _, mine in ticks.groupby(KEY)
    ]  # fmt: skip
    return pd.concat(parts).dropna()
