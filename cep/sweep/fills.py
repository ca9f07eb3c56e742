"""The orders of many variants over ticks that are read once."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from cep.account.orders import Order
from cep.backtest.account import BEFORE_ALL, BEHIND_ALL
from cep.backtest.asked import Asked
from cep.backtest.loop import loop_for
from cep.backtest.orders import orders
from cep.backtest.points import Point, known_points
from cep.backtest.rates import convert
from cep.backtest.records import PRICES, shown_tables
from cep.backtest.results import Results
from cep.backtest.selection import Selection
from cep.backtest.simulate import Outcome, as_ticks, outcome_at, prices_of, tick_selection
from cep.backtest.ticks import Ints, Ticks
from cep.backtest.trading import Trading
from cep.market import TICK_STREAM
from cep.plan.nodes import says_of
from mt5bridge.broker.broker import Run

CHUNK_TICKS, CHUNK_MAX = 1 << 10, 1 << 14
"""Ticks up to the first look whether the account is flat, so that ticks can be passed over; twice
as many up to the next, and so on up to the most: what is open for long may be so for longer."""


@dataclass(slots=True)
class Filling:
    """A variant's account at work: `rows` are its symbols among those of all ticks, `first` the
    place from which on ticks of each of these count.
    """

    trading: Trading
    known: Mapping[str, Point]
    homeless: list[Order]
    unusable: Counter[str]
    rows: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    first: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    seen: int = 0
    """So many orders came before the newest tick."""

    def push(self, ticks: Ticks) -> None:
        """The next ticks, of all symbols that any variant trades."""
        at, size = self._next(ticks, 0), CHUNK_TICKS
        while at < len(ticks):
            piece = ticks.part(slice(at, at + size))
            self._push(piece)
            last = int(piece.order[-1])
            self.seen = bisect_left(self.trading.orders, last, self.seen, key=_place)
            end = at + len(piece)
            at = self._next(ticks, end)
            size = min(2 * size, CHUNK_MAX) if at == end else CHUNK_TICKS

    def _push(self, ticks: Ticks) -> None:
        own = ticks
        if int(ticks.order[0]) <= int(self.first.max()):
            counts = ticks.order > self.first[ticks.symbol]
            if not counts.any():
                return
            own = ticks if counts.all() else ticks.part(counts)
        rows = own.symbol if len(self.rows) == 1 else self.rows[own.symbol]
        self.trading.push(Ticks(rows, own.order, own.time_msc, own.bid, own.ask))

    def _next(self, ticks: Ticks, at: int) -> int:
        """The place from `at` on of the first tick that can change anything.

        While nothing is open and no order waits, that is the one behind the next order's cause.
        """
        orders = self.trading.orders
        if self.trading.pairs:
            return at  # quotes of pairs count at any time
        if not self.trading.is_flat or not self.trading.has_answered(self.seen):
            return at
        if self.seen == len(orders):
            return len(ticks)
        behind = np.searchsorted(ticks.order, orders[self.seen].order, side="right")
        return max(at, int(behind))

    def finished(self) -> Outcome:
        """What came of the orders."""
        found = outcome_at(self.trading, self.known, self.homeless)
        found.refused += self.unusable
        return found


def _place(order: Order) -> int:
    return order.order


class Fills:
    """Fills the orders of variants of one sweep, whose market and records are the same."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._points: dict[str, Point] = {}

    def filled(
        self, results: Sequence[Results], advance: Callable[[int], None]
    ) -> Iterator[Outcome]:
        """What came of each one's signals, in their order. `advance` is told of ticks, once for
        all.
        """
        asked = self._asked
        valid_ms = 1000 * asked.valid_seconds
        wanted = [orders(one.signals, valid_ms, says_of(one.plan)) for one in results]
        symbols = {order.symbol for own, _ in wanted for order in own}
        ticks = tick_selection(asked.archive, asked.selection, symbols, asked.market)
        available = ticks.by_symbol()
        traded = sorted(symbols & available.keys())
        self._learn(traded, available)
        names, count = sorted(available), sum(len(own) for own, _ in wanted)
        loop = loop_for(count, count)
        found = [self._filling(own, unusable, names, loop) for own, unusable in wanted]
        starts = [one.trading.orders[0].order for one in found if one.trading.orders]
        if starts:
            part = ticks.only(names)
            if not any(one.trading.pairs for one in found):
                part = part.after(min(starts) >> 1)
            for table in shown_tables(part, TICK_STREAM, PRICES):
                batch = as_ticks(table, names)
                for one in found:
                    one.push(batch)
                advance(table.num_rows)
                if all(one.trading.is_done for one in found):
                    break
        return map(Filling.finished, found)

    def _learn(self, names: Sequence[str], available: dict[str, Selection]) -> None:
        """The points of these symbols, each once for the whole sweep. BacktestError."""
        fresh = {name: prices_of(available[name]) for name in names if name not in self._points}
        self._points |= known_points(self._asked.points, fresh)

    def _filling(
        self, own: Sequence[Order], unusable: Counter[str], names: Sequence[str], loop: Run
    ) -> Filling:
        wanted = sorted({order.symbol for order in own} & self._points.keys())
        known, market = {name: self._points[name] for name in wanted}, self._asked.market
        symbols = {name: market.specification(name, one.size) for name, one in known.items()}
        fillable = [order for order in own if order.symbol in symbols]
        homeless = [order for order in own if order.symbol not in symbols]
        rows = np.zeros(len(names), np.int64)
        first = np.full(len(names), BEHIND_ALL)
        for row, name in enumerate(known):
            rows[names.index(name)] = row
        for order in reversed(fillable):
            first[names.index(order.symbol)] = order.order
        trading = Trading(fillable, symbols, market, loop)
        for name in convert(trading, known, names):
            rows[names.index(name)] = trading.symbols.index(name)
            first[names.index(name)] = BEFORE_ALL
        return Filling(trading, known, homeless, unusable, rows, first)
