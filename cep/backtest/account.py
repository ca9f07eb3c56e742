"""The account of a run whose rules see its fills: ticks from an archive, orders as they come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from cep.backtest.judged import Judge
from cep.backtest.market import NEXT_TICK, Market
from cep.backtest.orders import Order, orders
from cep.backtest.points import Point
from cep.backtest.trading import NO_SYMBOL, NO_TICK, Ticks, Trading
from mt5bridge.broker import Table
from mt5bridge.orders import Limits

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
        limits: Limits | None = None,
    ) -> None:
        """Ticks name rows of `symbols`; signals that say no time are good for `valid_ms`."""
        self._judge = None if limits is None else Judge(limits)
        self._asked = 0  # orders so far
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
        """Signals of one place in the order; whether any became an order."""
        if self._judge is not None and found:
            self.go(found[0][0] - 1)  # what is open is worth what the quotes before it say
            self._judge.ended(self.trading.take_ended())
        known = [order for place, row in found for order in self._order(place, row)]
        if known:
            self.trading.order(known)
            self._ahead = None
        return bool(known)

    def _order(self, place: int, row: Mapping[str, Any]) -> list[Order]:
        """The order of a signal, unless there is a reason against it."""
        fresh, _ = orders([(place, row)], self._valid_ms)
        if not fresh:
            self.refused[NO_SYMBOL] += 1
        elif fresh[0].symbol not in self._places:
            self.refused[NO_TICK] += 1
        elif self._is_allowed(row):
            self._trade(fresh[0])
            return fresh
        return []

    def _is_allowed(self, row: Mapping[str, Any]) -> bool:
        """Whether the risk guard has nothing against a signal."""
        if self._judge is None:
            return True
        self._asked += 1
        text = self._judge.refusal(row, self._asked, self.trading.floating)
        if text is None:
            return True
        self._asked -= 1
        self.refused[f"limit {text.partition(' ')[0]}"] += 1
        return False

    def hear(self, deals: Table) -> None:
        """Deals of the account, as soon as they are made."""
        if self._judge is not None and len(deals):
            self._judge.dealt(deals, self.trading.symbols)

    def _trade(self, order: Order) -> None:
        """Have the symbol of an order among those that are traded."""
        name = order.symbol
        if name not in self.points:
            point = self.points[name] = self._point_of(name)
            symbol = self.trading.market.specification(name, point.size)
            self._rows[self._places[name]] = self.trading.add(name, symbol)
            self._ahead = None

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
            self.trading, deals = self._ahead[0], self.trading.no_deals
        else:
            deals = self._pushed(self.trading, 0, end)
        if self._ahead is not None and self._ahead[1] <= until:
            self._ahead = None
        self._next = self._next.part(slice(end, None))
        self.hear(deals)
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
