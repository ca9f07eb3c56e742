"""hftbacktest: a compiled loop over its feed of order book events, an exchange and latencies.

A quote is a book of one level a side. An order sent after a feed meets the book of that feed, so
the strategy sends at a tick what it decided at the one before.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hftbacktest
import numba
import numpy as np
import numpy.typing as npt
from hftbacktest import (
    BUY_EVENT,
    DEPTH_EVENT,
    EXCH_EVENT,
    GTC,
    LOCAL_EVENT,
    MARKET,
    SELL_EVENT,
    BacktestAsset,
    HashMapMarketDepthBacktest,
)
from hftbacktest.types import event_dtype

from benchmarks.backtesters.job import NS_PER_MS, POINT, UNITS, Job, Trade, serve, trade

QTY = 1e7
"""What each level offers."""
END_OF_DATA = 1
DAY_NS = 86_400_000 * NS_PER_MS
YEAR_NS = 366 * DAY_NS
Events = npt.NDArray[Any]
Fills = npt.NDArray[np.float64]


def file_of(job: Job) -> Path:
    return job.folder / "events.npy"


def events(job: Job) -> Events:
    """Ticks as changes of a book: levels that go, then both that are there, at one time."""
    quotes = job.quotes()
    ticks, times = len(quotes), quotes.times_ns()
    made = np.zeros((ticks, 4), event_dtype)
    made["exch_ts"] = made["local_ts"] = times[:, None]
    sides = ((quotes.bids, BUY_EVENT), (quotes.asks, SELL_EVENT))
    for place, (prices, side) in enumerate(sides):
        made["ev"][:, [place, place + 2]] = DEPTH_EVENT | EXCH_EVENT | LOCAL_EVENT | side
        made["px"][1:, place], made["px"][:, place + 2] = prices[:-1], prices
        made["qty"][:, place + 2] = QTY
    is_needed = np.ones((ticks, 4), np.bool_)
    is_needed[0, :2] = False
    is_needed[1:, 0] = quotes.bids[1:] != quotes.bids[:-1]
    is_needed[1:, 1] = quotes.asks[1:] != quotes.asks[:-1]
    is_needed[1:, 3] = is_needed[1:, 1]  # a tick has one event at least, its bid
    found: Events = made[is_needed]
    return found


def prepare(job: Job) -> None:
    np.save(file_of(job), events(job))


def load(job: Job) -> Events:
    found: Events = np.load(file_of(job))
    return found


@numba.njit
def crossing(hbt: Any, fast: int, slow: int, fills: Fills) -> int:
    """Fills as rows of a time and a price, and how many there are."""
    mids = np.zeros(slow, np.int64)
    fast_sum = slow_sum = 0
    ticks = found = 0
    wanted = False
    is_over = False
    while not is_over:
        is_over = hbt.wait_next_feed(False, YEAR_NS) == END_OF_DATA
        book = hbt.depth(0)
        if wanted != (found % 2 == 1):
            order_id = found + 1
            if wanted:
                hbt.submit_buy_order(0, order_id, book.best_ask, UNITS, GTC, MARKET, True)
            else:
                hbt.submit_sell_order(0, order_id, book.best_bid, UNITS, GTC, MARKET, True)
            order = hbt.orders(0).get(order_id)
            fills[found, 0] = order.exch_timestamp // NS_PER_MS
            fills[found, 1] = order.exec_price
            found += 1
            hbt.clear_inactive_orders(0)
        mid = book.best_bid_tick + book.best_ask_tick
        place = ticks % slow
        if ticks >= slow:
            slow_sum -= mids[place]
        if ticks >= fast:
            fast_sum -= mids[(ticks - fast) % slow]
        mids[place] = mid
        fast_sum += mid
        slow_sum += mid
        ticks += 1
        if ticks >= slow:
            wanted = fast_sum * slow > slow_sum * fast
    return found


def run(job: Job, feed: Events) -> list[Trade]:
    asset = (
        BacktestAsset()
        .data(feed)
        .linear_asset(1.0)
        .constant_order_latency(0, 0)
        .risk_adverse_queue_model()
        .no_partial_fill_exchange()
        .trading_value_fee_model(0.0, 0.0)
        .tick_size(POINT)
        .lot_size(1.0)
    )
    hbt = HashMapMarketDepthBacktest([asset])
    fills = np.zeros((job.ticks, 2))
    rows = fills[: crossing(hbt, job.fast, job.slow, fills)].tolist()
    hbt.close()
    both = zip(rows[::2], rows[1::2], strict=False)
    return [trade(int(t), bought, int(u), sold) for (t, bought), (u, sold) in both]


if __name__ == "__main__":
    serve(hftbacktest.__version__, load, run, prepare)
