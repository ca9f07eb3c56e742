"""The broker in the loop: ticks a second, by how many of them bring an order.

`python -m benchmarks.broker`: market orders on a random walk of one symbol, each with a stop and a
target, by the loop that is compiled and by the one over NumPy. Each way comes to the same deals.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.measure import median_seconds, millions, table, write_results
from cep.engine.jit import entry
from mt5bridge.broker import REQUEST, Broker, Specification, Table, Terms, codes
from mt5bridge.broker.broker import Run
from mt5bridge.broker.leap import leap
from mt5bridge.broker.run import run
from mt5bridge.broker.state import Ints, Reals

TICKS = 2_000_000
BATCH = 1 << 17
FEWER = TICKS // 20
"""Ticks of the runs with an order at each."""
ORDERS = (0, 1_000, 100_000)
LEAP_ORDERS_MAX = 1_000
"""More of them take the loop without a compiler minutes."""
POINT = 1e-5
STOP_POINTS, TARGET_POINTS = 100.0, 150.0


class Walk:
    """Ticks of one symbol, one every 100 ms, its spread 10 points."""

    def __init__(self, ticks: int) -> None:
        steps = np.random.default_rng(1).integers(-3, 4, ticks)
        self.rows = np.zeros(ticks, np.int64)
        self.places = np.arange(1, ticks + 1)
        self.times_msc = 100 * self.places
        self.bids = np.round((200_000 + np.cumsum(steps)) * POINT, 5)
        self.asks = np.round(self.bids + 10 * POINT, 5)

    def part(self, at: slice) -> tuple[Ints, Ints, Ints, Reals, Reals]:
        """What a broker runs over."""
        ticks = self.rows[at], self.places[at], self.times_msc[at]
        return *ticks, self.bids[at], self.asks[at]


def asked(ticks: int, orders: int) -> Table:
    """Market orders, evenly over the ticks, buys and sells by chance."""
    found = np.zeros(orders, REQUEST)
    found["tag"] = np.arange(1, orders + 1)
    found["action"] = codes.DEAL
    found["type"] = np.random.default_rng(2).integers(codes.BUY, codes.SELL + 1, orders)
    found["after"] = np.arange(orders) * ticks // max(1, orders)
    found["lots"] = 0.1
    found["stop_points"], found["target_points"] = STOP_POINTS, TARGET_POINTS
    return found


def traded(walk: Walk, requests: Table, loop: Run, hedging: bool = False) -> Table:
    """The deals of one account over all ticks."""
    symbol = Specification(POINT, POINT, 100_000.0, 0.01, 100.0, 0.01)
    broker = Broker(Terms(hedging, 1e6, money_digits=2), [symbol], loop)
    waiting = broker.waiting(requests)
    deals = []
    for start in range(0, len(walk.rows), BATCH):
        broker.run(*walk.part(slice(start, start + BATCH)), waiting)
        deals.append(broker.take_deals())
    return np.concatenate(deals)


def measured(walk: Walk, orders: int, hedging: bool) -> tuple[str, ...]:
    """A line of the table."""
    requests, ticks = asked(len(walk.rows), orders), len(walk.rows)
    loops: dict[str, Run] = {"compiled": entry(run)}
    if orders <= LEAP_ORDERS_MAX:
        loops["NumPy"] = leap
    ways = {way: partial(traded, walk, requests, loop, hedging) for way, loop in loops.items()}
    deals = {way: work() for way, work in ways.items()}
    assert len({found.tobytes() for found in deals.values()}) == 1
    rates = {way: millions(ticks / median_seconds(work)) for way, work in ways.items()}
    kind, count = "hedging" if hedging else "netting", len(deals["compiled"])
    numpy = rates.get("NumPy", "-")
    return kind, f"{ticks:,}", f"{orders:,}", f"{count:,}", rates["compiled"], numpy


def main() -> None:
    walk, fewer, lines = Walk(TICKS), Walk(FEWER), []
    for hedging in (False, True):
        for some, orders in [*((walk, orders) for orders in ORDERS), (fewer, FEWER)]:
            lines.append(measured(some, orders, hedging))
            print(*lines[-1], flush=True)
    head = ("account", "ticks", "orders", "deals", "ticks/s, compiled", "ticks/s, NumPy")
    about = f"Ticks of one symbol, in batches of {BATCH:,}; each order has a stop and a target."
    write_results("broker", "The broker in the loop", about, table(head, lines))


if __name__ == "__main__":
    main()
