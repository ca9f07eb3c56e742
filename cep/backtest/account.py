"""The account of a run whose rules see its fills: ticks from an archive, orders as they come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from cep.backtest.market import NEXT_TICK, Market
from cep.backtest.orders import Order, orders
from cep.backtest.points import Point
from cep.backtest.trading import NO_SYMBOL, NO_TICK, Ticks, Trading
from mt5bridge.broker import Table

LOOK_TICKS = 256
LOOK_TICKS_MAX = 1 << 17


class Account:
    """It knows its next deal before the rules have come so far, as long as no order comes.

    So rules need not be asked tick by tick. `point_of` is asked for symbols when they are traded.
    """

    def __init__(
        self,
        ticks: Iterator[Ticks],
        symbols: Sequence[str],
        point_of: Callable[[str], Point],
        market: Market = NEXT_TICK,
        valid_ms: int = 60_000,
    ) -> None:
        """Ticks name rows of `symbols`; signals that say no time are good for `valid_ms`."""
        self.trading = Trading(market=market)
        self.points: dict[str, Point] = {}
        self.refused: Counter[str] = Counter()
        """Why signals became no orders."""
        self._ticks = ticks
        self._places = {name: place for place, name in enumerate(symbols)}
        self._point_of, self._valid_ms = point_of, valid_ms
        self._rows = np.full(len(symbols), -1, np.int64)
        """The account's rows of symbols that are traded."""
        self._next = _nothing()
        """Ticks that the account has not seen, as far as they were read."""
        self._ahead: tuple[Trading, int, bool] | None = None
        """The account at a place that it would come to, and whether there are deals."""

    def signals(self, found: Sequence[tuple[int, Mapping[str, Any]]]) -> bool:
        """Signals with their places in the order; whether any became an order."""
        fresh, without = orders(found, self._valid_ms)
        self.refused[NO_SYMBOL] += without
        known = [order for order in fresh if order.symbol in self._places]
        self.refused[NO_TICK] += len(fresh) - len(known)
        for order in known:
            self._trade(order)
        if known:
            self.trading.order(known)
            self._ahead = None
        return bool(known)

    def _trade(self, order: Order) -> None:
        """Have the symbol of an order among those that are traded."""
        name = order.symbol
        if name not in self.points:
            point = self.points[name] = self._point_of(name)
            symbol = self.trading.market.specification(name, point.size)
            self._rows[self._places[name]] = self.trading.add(name, symbol)

    def next_deal(self, until: int) -> int | None:
        """The place of the tick that makes the next deal, none behind `until`; None: there is none.

        No order comes before.
        """
        if self._ahead is None or (not self._ahead[2] and self._ahead[1] < until):
            self._ahead = self._looked_ahead(until)
        _, place, has_deals = self._ahead
        return place if has_deals and place <= until else None

    def _looked_ahead(self, until: int) -> tuple[Trading, int, bool]:
        end, start, look = self._read(until), 0, LOOK_TICKS
        if self._ahead is not None:
            trading, place, _ = self._ahead
            start = self._count(place)
        else:
            trading = self.trading.fork()
        while start < end:
            stop = min(end, start + look)
            deals = self._pushed(trading, start, stop)
            if len(deals):
                return trading, int(deals[0]["place"]), True
            start, look = stop, min(2 * look, LOOK_TICKS_MAX)
        return trading, until, False

    def go(self, until: int) -> Table:
        """Take the ticks up to a place, at which the next deals are made, if any: these."""
        end = self._read(until)
        if self._ahead is not None and self._ahead[1:] == (until, False):
            self.trading, deals = self._ahead[0], self.trading.deals[:0]
        else:
            deals = self._pushed(self.trading, 0, end)
        if self._ahead is not None and self._ahead[1] <= until:
            self._ahead = None
        self._next = self._next.part(slice(end, None))
        return deals

    def _pushed(self, trading: Trading, start: int, stop: int) -> Table:
        """Run over some of the ticks, those of symbols that are traded."""
        ticks = self._next.part(slice(start, stop))
        rows = self._rows[ticks.symbol]
        is_traded = rows >= 0
        if not is_traded.all():
            ticks, rows = ticks.part(is_traded), rows[is_traded]
        return trading.push(Ticks(rows, ticks.order, ticks.time_msc, ticks.bid, ticks.ask))

    def _read(self, until: int) -> int:
        """Have all ticks up to a place; how many these are."""
        while not len(self._next) or self._next.order[-1] <= until:
            more = next(self._ticks, None)
            if more is None:
                break
            self._next = self._next.joined(more)
        return self._count(until)

    def _count(self, until: int) -> int:
        return int(np.searchsorted(self._next.order, until, side="right"))


def _nothing() -> Ticks:
    none = np.empty(0, np.int64)
    return Ticks(none, none, none, np.empty(0), np.empty(0))
