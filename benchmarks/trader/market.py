"""What the rule files read: ticks, deals and news, as frames in the order of time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from cep.plan import Plan
from cep.replay import Source, in_order
from tests.data.real_ticks import table

TICKS_A_DAY = 150_000
PER_POSITION = 4
"""Deals: three partial fills that open it, one that closes it."""
DEAL_EVERY = {"EURUSD": 15, "XAUUSD": 25}
DEALS_ALONE = dict.fromkeys(DEAL_EVERY, 1)
"""For rules that read no ticks, which have too few records to be timed otherwise."""
START_MSC = 1_599_998_400_000  # 2020-09-13 12:00 UTC
POINTS = {"EURUSD": (1.18, 5), "XAUUSD": (1900.0, 2)}
STEP_POINTS = 10
RUN = 40
PACES_MS = (100, 10_000, 600_000)


@dataclass(frozen=True)
class Market:
    """Frames by stream. Of equal times, the rows of a stream named first come first."""

    streams: Mapping[str, pd.DataFrame]

    @property
    def ticks(self) -> pd.DataFrame:
        return self.streams["Tick"]

    @property
    def deals(self) -> pd.DataFrame:
        return self.streams["Deal"]

    @property
    def news(self) -> pd.DataFrame:
        return self.streams["News"]

    def end_msc(self, *streams: str) -> int:
        """The time of the newest row of the streams a rule file reads, ms UTC."""
        return int(max(self.streams[stream]["time_msc"].max() for stream in streams))

    def sources(self, plan: Plan) -> list[Source]:
        """The rows of the streams that a plan reads, in one order."""
        tables = [
            (stream, pa.Table.from_pandas(self.streams[stream.name], preserve_index=False))
            for stream in plan.sources
        ]
        return in_order(tables)


def real(rows: int, deal_every: Mapping[str, int] = DEAL_EVERY) -> Market:
    """Recorded ticks of EURUSD and XAUUSD from a midnight on, with volumes, deals and news made.

    `deal_every` says after how many ticks of a symbol a deal comes.
    """
    days = 1 + rows // TICKS_A_DAY
    ticks = table(["oanda_eurusd", "oanda_xauusd"], days).slice(0, rows).to_pandas()
    return _with_deals_and_news(ticks, deal_every)


def generated(count: int, seed: int = 1) -> Market:
    """Random walks of two symbols: ticks in haste, then a calm hour, then days with few."""
    random = np.random.default_rng(seed)
    symbols = random.choice(list(POINTS), count)
    paces = np.repeat(PACES_MS, -(-count // len(PACES_MS)))[:count]
    times = START_MSC + np.cumsum(random.exponential(1.0, count) * paces).astype(np.int64)
    bid, ask = np.empty(count), np.empty(count)
    for symbol, (price, digits) in POINTS.items():
        mine = symbols == symbol
        trend = np.where(np.arange(mine.sum()) // RUN % 2, -1, 1)
        steps = random.integers(-3, 4, mine.sum()) + trend
        steps[random.random(len(steps)) < 0.2] *= 5
        steps *= STEP_POINTS
        bid[mine] = np.round(price + np.cumsum(steps) / 10**digits, digits)
        spread = random.choice([1, 2, 3, 20], len(steps), p=[0.3, 0.3, 0.3, 0.1])
        ask[mine] = np.round(bid[mine] + spread / 10**digits, digits)
    frame = pd.DataFrame({"symbol": symbols, "time_msc": times, "bid": bid, "ask": ask})
    frame["last"], frame["volume"], frame["flags"] = 0.0, 0.0, np.int32(6)
    return _with_deals_and_news(frame, DEAL_EVERY)


def _with_deals_and_news(ticks: pd.DataFrame, deal_every: Mapping[str, int]) -> Market:
    """Quotes have no volume: here it is 1 to 5 lots in turn, so that its weight can be seen."""
    ticks = ticks.assign(volume=1.0 + np.arange(len(ticks)) * 7 % 5)
    fills = pd.concat([_deals(ticks, *symbol) for symbol in deal_every.items()])
    fills = fills.sort_values("time_msc", kind="stable", ignore_index=True)
    deals = fills.assign(ticket=np.arange(1, len(fills) + 1))
    return Market({"News": _news(ticks), "Tick": ticks, "Deal": deals})


def _deals(ticks: pd.DataFrame, symbol: str, every: int) -> pd.DataFrame:
    """Positions of a symbol one after the other, filled at every so many of its ticks."""
    base = 1_000_000 * (1 + list(DEAL_EVERY).index(symbol))
    taken = ticks[ticks["symbol"] == symbol].iloc[every - 1 :: every]
    n = np.arange(len(taken))
    position, part = base + n // PER_POSITION, n % PER_POSITION
    is_buy, is_out = position % 3 > 0, part == PER_POSITION - 1
    price = np.where(is_buy != is_out, taken["ask"], taken["bid"])
    first = price[n - part]
    profit = np.where(is_out, np.where(is_buy, price - first, first - price) * 1000, 0.0)
    return pd.DataFrame({
        "time_msc": taken["time_msc"].to_numpy(),
        "symbol": symbol,
        "order": np.where(is_out, position + 500_000, position),
        "position": position,
        "magic": 70 + position % 2,
        "side": np.where(is_buy != is_out, "buy", "sell"),
        "entry": np.where(is_out, "out", "in"),
        "lots": np.where(is_out, 0.3, 0.1),
        "price": price,
        "profit": np.round(profit, 2),
    })  # fmt: skip


def _news(ticks: pd.DataFrame) -> pd.DataFrame:
    """A time without trading for either symbol, told a minute ahead, as a calendar would."""
    at: npt.NDArray[np.int64] = ticks["time_msc"].to_numpy()[20 :: max(40, len(ticks) // 40)]
    return pd.DataFrame({
        "time_msc": at,
        "symbol": np.resize(list(POINTS), len(at)),
        "from_msc": at + 60_000,
        "to_msc": at + 20 * 60_000,
    })  # fmt: skip
