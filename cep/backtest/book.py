"""Positions on one symbol: market orders, stops and targets against the ticks that came.

Orders fill at the first tick after the record that caused them, buys at ask and sells at bid.
Positions are watched from the tick after their entry: longs at bid, shorts at ask. A target fills
at its own price, a stop at the price of the tick that reached it. On one tick, stops and targets
come before orders. A signal has at most one position on a symbol; while that is open, it opens no
other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cep.backtest.orders import Order

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
EXPIRED, OPEN, NOTHING, NO_TICK = (
    "expired before the next tick", "position already open", "nothing to close", "no later tick",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ticks:
    """Ticks of one symbol in order; `order` is their place in the total order."""

    order: Ints
    time_msc: Ints
    bid: Floats
    ask: Floats

    def __len__(self) -> int:
        return len(self.order)


@dataclass(frozen=True, slots=True)
class Trade:
    """A closed position; `profit` is price difference times lots, without contract size."""

    signal: str
    symbol: str
    side: str
    lots: float
    opened_msc: int
    open_price: float
    closed_msc: int
    close_price: float
    reason: str
    points: float
    profit: float


@dataclass(slots=True)
class _Position:
    order: Order
    opened_msc: int
    price: float
    stop: float
    target: float
    since: int
    hit: int = -1

    @property
    def is_long(self) -> bool:
        return self.order.side == "buy"

    def look(self, ticks: Ticks, limit: int) -> int:
        """Index below `limit` of the tick that stops it or reaches its target; -1: there is none.

        The limit never falls, and stays while there is such a tick.
        """
        if self.since < limit:
            if self.is_long:
                prices = ticks.bid[self.since : limit]
                reached = (prices <= self.stop) | (prices >= self.target)
            else:
                prices = ticks.ask[self.since : limit]
                reached = (prices >= self.stop) | (prices <= self.target)
            first = int(np.argmax(reached))
            self.hit = self.since + first if reached[first] else -1
            self.since = limit
        return self.hit


class Book:
    """One symbol's open positions and waiting orders; ticks may come in batches of any size."""

    def __init__(self, orders: Iterable[Order], point: float) -> None:
        self.point = point
        self.trades: list[Trade] = []
        self.refused: Counter[str] = Counter()
        self._waiting = list(orders)
        self._next = 0
        self._positions: dict[str, _Position] = {}
        self._last: Ticks | None = None

    @property
    def is_done(self) -> bool:
        """Whether no later tick can change anything."""
        return not self._positions and self._next == len(self._waiting)

    def push(self, ticks: Ticks) -> None:
        """Run over the next ticks."""
        if not len(ticks):
            return
        for position in self._positions.values():
            position.since = 0
        while True:
            at = self._fill_index(ticks)
            found = [(p.look(ticks, min(at + 1, len(ticks))), p) for p in self._positions.values()]
            exits = [(index, p) for index, p in found if index >= 0]
            if exits:
                self._leave(ticks, *min(exits, key=lambda pair: pair[0]))
            elif at < len(ticks):
                self._execute(ticks, at)
            else:
                break
        self._last = Ticks(ticks.order[-1:], ticks.time_msc[-1:], ticks.bid[-1:], ticks.ask[-1:])

    def end(self) -> None:
        """Close what is open at the last tick; refuse what waits."""
        if self._last is not None:
            for position in list(self._positions.values()):
                self._market(self._last, 0, position, "end of data")
        self.refused[NO_TICK] += len(self._waiting) - self._next
        self._next = len(self._waiting)

    def _fill_index(self, ticks: Ticks) -> int:
        """Index of the tick that the next waiting order meets; the length when it is later."""
        if self._next == len(self._waiting):
            return len(ticks)
        return int(np.searchsorted(ticks.order, self._waiting[self._next].order, side="right"))

    def _leave(self, ticks: Ticks, at: int, position: _Position) -> None:
        price = float((ticks.bid if position.is_long else ticks.ask)[at])
        better = price >= position.target if position.is_long else price <= position.target
        if better:
            self._close(ticks, at, position, position.target, "target")
        else:
            self._close(ticks, at, position, price, "stop")

    def _execute(self, ticks: Ticks, at: int) -> None:
        order = self._waiting[self._next]
        self._next += 1
        if ticks.time_msc[at] > order.valid_until_msc:
            self.refused[EXPIRED] += 1
        elif order.side == "close":
            self.refused[NOTHING] += not self._positions
            for position in list(self._positions.values()):
                self._market(ticks, at, position, "close")
        elif order.signal in self._positions:
            self.refused[OPEN] += 1
        else:
            self._open(ticks, at, order)

    def _open(self, ticks: Ticks, at: int, order: Order) -> None:
        is_long = order.side == "buy"
        price, side = float((ticks.ask if is_long else ticks.bid)[at]), 1 if is_long else -1
        stop, target = (
            np.inf * sign if not points else round(price + sign * points * self.point, 10)
            for points, sign in ((order.stop_points, -side), (order.target_points, side))
        )
        self._positions[order.signal] = _Position(
            order, int(ticks.time_msc[at]), price, stop, target, at + 1
        )

    def _market(self, ticks: Ticks, at: int, position: _Position, reason: str) -> None:
        prices = ticks.bid if position.is_long else ticks.ask
        self._close(ticks, at, position, float(prices[at]), reason)

    def _close(self, ticks: Ticks, at: int, position: _Position, price: float, reason: str) -> None:
        order = position.order
        gain = (price - position.price) * (1 if position.is_long else -1)
        del self._positions[order.signal]
        self.trades.append(
            Trade(
                order.signal, order.symbol, order.side, order.lots, position.opened_msc,
                position.price, int(ticks.time_msc[at]), price, reason,
                round(gain / self.point, 6), round(gain * order.lots, 10),
            )
        )  # fmt: skip
