"""The account of a run whose rules see its fills: ticks from an archive, orders as they come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cep.account.market import NEXT_TICK, Market
from cep.account.orders import Order, UnusableError, order_of
from cep.account.rates import QUOTED
from cep.backtest.judged import Judge
from cep.backtest.orders import NOTHING
from cep.backtest.points import Point
from cep.backtest.rates import convert
from cep.backtest.tick_queue import TickQueue
from cep.backtest.ticks import Ticks
from cep.backtest.trading import NO_TICK, Trading
from mt5bridge.broker import Table
from mt5bridge.orders import Limits

LOOK_TICKS = 256
LOOK_TICKS_MAX = 1 << 17
BEFORE_ALL = -1
"""A place before that of any record."""
BEHIND_ALL = 1 << 62


@dataclass(slots=True)
class _Look:
    """A copy of the account that has gone ahead, up to a place, and the first deal it made."""

    trading: Trading
    place: int
    deal: int | None = None

    @property
    def reached(self) -> int:
        """The place up to which it is known what comes."""
        return self.place if self.deal is None else self.deal


class Account:
    """It knows its next deal before the rules have come so far, as long as no order comes.

    So rules need not be asked tick by tick: a copy of the account goes ahead over the same ticks,
    and is thrown away when an order comes, or when the account has come as far. `point_of` is asked
    for symbols when they are traded.
    """

    def __init__(
        self,
        ticks: Iterator[Ticks],
        symbols: Sequence[str],
        point_of: Callable[[str], Point],
        market: Market = NEXT_TICK,
        valid_ms: int = 60_000,
        limits: Limits | None = None,
        says: Mapping[str, Collection[str]] = NOTHING,
    ) -> None:
        """Ticks name rows of `symbols`; signals that say no time are good for `valid_ms`;
        `says` is what each asks for, by its name."""
        self._judge = None if limits is None else Judge(limits)
        self._says, self._lots_most = says, 0.0 if limits is None else limits.lots_per_order
        self._asked = 0  # orders so far
        self.trading = Trading(market=market)
        self.identifiers: Sequence[int] = ()
        """Those that orders had when they were lived, in their order."""
        self.points: dict[str, Point] = {}
        self.refused: Counter[str] = Counter()
        """Why signals became no orders."""
        self._ticks = TickQueue(ticks)
        self._place = BEFORE_ALL
        self._places = {name: place for place, name in enumerate(symbols)}
        self._point_of, self._valid_ms = point_of, valid_ms
        self._rows = np.full(len(symbols), -1, np.int64)
        """The account's rows of symbols that are traded."""
        self._since = np.full(len(symbols), BEHIND_ALL, np.int64)
        """The places of their first orders, behind which their ticks count."""
        self._look: _Look | None = None
        self._symbols = list(symbols)
        for name in sorted(market.pairs(symbols, symbols)):  # their quotes count from the first on
            self._rows[self._places[name]] = self.trading.add(name, QUOTED)
            self._since[self._places[name]] = BEFORE_ALL

    def signals(self, found: Sequence[tuple[int, Mapping[str, Any]]]) -> bool:
        """Signals of one place in the order; whether any became an order."""
        if self._judge is not None and found:
            self.go(found[0][0] - 1)  # what is open is worth what the quotes before it say
            self._judge.ended(self.trading.take_ended())
        known = [order for place, row in found for order in self._order(place, row)]
        if known:
            self.trading.order(known)
            self._look = None
        return bool(known)

    def _order(self, place: int, row: Mapping[str, Any]) -> list[Order]:
        """The order of a signal, unless there is a reason against it."""
        try:
            asked = self._says.get(row["stream"], ())
            order = order_of(row, self._valid_ms, place, asked, self._lots_most)
        except UnusableError as problem:
            self.refused[problem.reason] += 1
            return []
        if order.symbol not in self._places:
            self.refused[NO_TICK] += 1
        elif self._is_allowed(order):
            self._trade(order)
            return [order]
        return []

    def _is_allowed(self, order: Order) -> bool:
        """Whether the risk guard has nothing against a signal."""
        if self._judge is None:
            return True
        self._asked += 1
        text = self._judge.refusal(order, self._asked, self.trading.floating)
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
            place = self._places[name]
            self._rows[place] = self.trading.add(name, symbol)
            self._since[place] = min(self._since[place], order.order)
            convert(self.trading, [name], self._symbols)
            self._look = None

    def next_deal(self, until: int) -> int | None:
        """The place of the tick that makes the next deal, none behind `until`; None: there is none.

        No order comes before.
        """
        look = self._look
        if look is None:
            look = self._look = _Look(self.trading.fork(), self._place)
        most = LOOK_TICKS
        while look.deal is None and look.place < until:
            ticks = self._ticks.between(look.place, until, most)
            deals = self._passed(look.trading, ticks)
            look.deal = int(deals[0]["place"]) if len(deals) else None
            look.place = int(ticks.order[-1]) if len(ticks) >= most else until
            most = min(2 * most, LOOK_TICKS_MAX)
        return look.deal if look.deal is not None and look.deal <= until else None

    def go(self, until: int) -> Table:
        """Take the ticks up to a place, at which the next deals are made, if any: these."""
        deals = self._passed(self.trading, self._ticks.between(self._place, until))
        self._place = max(until, self._place)
        self._ticks.forget(self._place)
        if self._look is not None and self._look.reached <= self._place:
            self._look = None
        self.hear(deals)
        return deals

    def _passed(self, trading: Trading, ticks: Ticks) -> Table:
        """The deals of the account, or of its copy, over ticks: those of symbols traded."""
        rows = self._rows[ticks.symbol]
        is_traded = ticks.order > self._since[ticks.symbol]
        if not is_traded.all():
            ticks, rows = ticks.part(is_traded), rows[is_traded]
        return trading.push(Ticks(rows, ticks.order, ticks.time_msc, ticks.bid, ticks.ask))
