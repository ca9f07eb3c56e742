"""References of what goes by deals: positions, orders, strategies, and times of news."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from benchmarks.trader.answers import reference
from benchmarks.trader.market import Market
from benchmarks.trader.references.bars import KEY, before, turned

MINUTE_MS = 60_000


def in_one_order(market: Market) -> pd.DataFrame:
    """Ticks and deals by time, ticks first; `ticket` is null of ticks."""
    both = pd.concat([market.ticks, market.deals])
    return both.sort_values("time_msc", kind="stable", ignore_index=True)


@reference("Exit")
def trailing_exit(market: Market) -> pd.DataFrame:
    best: dict[int, tuple[str, float]] = {}
    rows = []
    for row in in_one_order(market).itertuples():
        if row.entry == "out":
            best.pop(row.position, None)
        elif row.entry == "in" and row.side == "buy":
            best.setdefault(row.position, (row.symbol, row.price))
        elif row.entry != "in":
            for position, (symbol, price) in list(best.items()):
                if symbol != row.symbol:
                    continue
                best[position] = symbol, max(price, row.bid)
                if row.bid < best[position][1] * 0.9998:
                    rows.append((row.time_msc, position, symbol, row.bid, best.pop(position)[1]))
    return pd.DataFrame(rows, columns=["time_msc", "position", KEY, "bid", "best"])


@reference("Adverse")
def fill_adverse(market: Market) -> pd.DataFrame:
    buys = market.deals[(market.deals["entry"] == "in") & (market.deals["side"] == "buy")]
    rows = []
    for symbol, ticks in market.ticks.groupby(KEY):
        times, bids = ticks["time_msc"].to_numpy(), ticks["bid"].to_numpy()
        for deal in buys[buys[KEY] == symbol].itertuples():
            first = np.searchsorted(times, deal.time_msc, side="right")
            last = np.searchsorted(times, deal.time_msc + MINUTE_MS, side="right")
            lower = np.flatnonzero(bids[first:last] < deal.price * 0.9999)
            if len(lower):
                end = first + lower[0]
                place = ticks.index[end]  # several ticks may have one time
                rows.append((place, times[end], symbol, deal.ticket, deal.price, bids[end]))
    found = pd.DataFrame(rows, columns=["place", "time_msc", KEY, "ticket", "price", "bid"])
    return found.sort_values(["time_msc", "place", "ticket"]).drop(columns="place")


@reference("Complete", "mean")
def partial_fills(market: Market) -> pd.DataFrame:
    rows = []
    fills = market.deals[market.deals["entry"] == "in"]
    for (order, symbol), mine in fills.groupby(["order", KEY]):
        lots, prices, times = (mine[name].tolist() for name in ("lots", "price", "time_msc"))
        for n in range(1, len(mine) + 1):
            filled = math.fsum(lots[:n])
            if filled >= 0.3:
                mean = math.fsum(np.multiply(lots[:n], prices[:n])) / filled
                rows.append((times[n - 1], symbol, order, filled, mean, n))
    columns = ["time_msc", KEY, "order", "filled", "mean", "fills"]
    return pd.DataFrame(rows, columns=columns).sort_values("time_msc", kind="stable")


@reference("Streak", "lost")
def losing_streak(market: Market) -> pd.DataFrame:
    found = market.deals[market.deals["entry"] == "out"].copy()
    of_magic = found.groupby("magic")
    found["first"] = of_magic["position"].shift(2)
    found["last"] = found["position"]
    worst = of_magic["profit"].transform(lambda x: x.rolling(3).max())
    found["lost"] = of_magic["profit"].transform(lambda x: x.rolling(3).sum())
    return found[worst < 0][["time_msc", "magic", "first", "last", "lost"]]


@reference("Heavy")
def net_exposure(market: Market) -> pd.DataFrame:
    found = market.deals
    tenths = np.round(found["lots"] * 10) * np.where(found["side"] == "buy", 1, -1)
    exposure = tenths.groupby(found[KEY]).cumsum()
    return turned(found, exposure.abs() > 2.5)


@reference("Entry")
def news_table(market: Market) -> pd.DataFrame:
    ticks = market.ticks
    found = ticks[ticks["bid"] > 1.0001 * before(ticks, "bid", 5)]
    is_free = pd.Series(True, found.index)
    for news in market.news.itertuples():
        times = found["time_msc"]
        is_free &= ~((found[KEY] == news.symbol) & (times >= news.from_msc) & (times < news.to_msc))
    return found[is_free][["time_msc", KEY, "bid"]]


@reference("Markout")
def markout(market: Market) -> pd.DataFrame:
    fills = market.deals[market.deals["entry"] == "in"].copy()
    fills["time_msc"] += MINUTE_MS
    fills = fills[fills["time_msc"] <= market.end_msc("Tick", "Deal")]
    quotes = market.ticks[["time_msc", KEY, "bid"]]
    found = pd.merge_asof(fills, quotes, on="time_msc", by=KEY, allow_exact_matches=False)
    worth = found["bid"] - found["price"]
    found["gain"] = np.where(found["side"] == "buy", worth, -worth)
    found["time_msc"] -= MINUTE_MS  # a delayed row keeps its time
    return found[["time_msc", KEY, "ticket", "gain"]]


@reference("Lone")
def lone_fill(market: Market) -> pd.DataFrame:
    """A deal that closes has another order, so that only fills of the order can follow."""
    found = market.deals.copy()
    following = found.groupby("order")["time_msc"].shift(-1).fillna(np.inf)
    found["time_msc"] += MINUTE_MS // 2
    is_lone = (found["entry"] == "in") & (following >= found["time_msc"])
    is_lone &= found["time_msc"] <= market.end_msc("Deal")
    return found[is_lone][["time_msc", KEY, "ticket", "order"]]
