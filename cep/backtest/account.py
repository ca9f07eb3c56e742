"""The account of a run whose rules see its fills: ticks from an archive, orders as they come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
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


class Account:
    """It knows up to which tick nothing can happen to it, as long as no order comes.

    So rules need not be asked tick by tick, and the account passes many ticks at once. `point_of`
    is asked for symbols when they are traded.
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
        self._quiet = BEFORE_ALL
        """The place up to which no tick that it has not passed can make a deal."""
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
            self._quiet = self._place
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
            self._quiet = self._place

    @property
    def is_judged(self) -> bool:
        """Whether the risk guard must see it as it was in front of each signal."""
        return self._judge is not None

    def may_deal(self, until: int) -> int | None:
        """The place of the next tick that may make a deal, none behind `until`; None: no tick up to
        there makes one.

        No order comes before.
        """
        after, most = max(self._quiet, self._place), LOOK_TICKS
        while after < until:
            ticks = self._ticks.between(after, until, most)
            own = self._traded(ticks)
            count = self.trading.quiet(own) if len(own) else 0
            if count < len(own):
                place = int(own.order[count])
                self._quiet = place - 1
                return place
            after = int(ticks.order[-1]) if len(ticks) >= most else until
            most = min(2 * most, LOOK_TICKS_MAX)
        self._quiet = after
        return None

    def go(self, until: int) -> Table:
        """Take the ticks up to a place, at which the next deals are made, if any: these."""
        own = self._traded(self._ticks.between(self._place, until))
        deals = self.trading.push(own)
        self._place = max(until, self._place)
        self._ticks.forget(self._place)
        self.hear(deals)
        return deals

    def _traded(self, ticks: Ticks) -> Ticks:
        """Those of symbols traded."""
        rows = self._rows[ticks.symbol]
        is_traded = ticks.order > self._since[ticks.symbol]
        if not is_traded.all():
            ticks, rows = ticks.part(is_traded), rows[is_traded]
        return Ticks(rows, ticks.order, ticks.time_msc, ticks.bid, ticks.ask)
