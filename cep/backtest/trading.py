"""Orders of a run at the one broker, over ticks that come in batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from cep.backtest.costs import OpeningCosts
from cep.backtest.market import NEXT_TICK, Market
from cep.backtest.orders import Order, as_requests
from cep.backtest.trades import END, Trade, in_points, trades_of
from cep.engine.jit import entry
from mt5bridge.broker import Broker, Specification, Table, Waiting, codes
from mt5bridge.broker.broker import Run
from mt5bridge.broker.leap import leap
from mt5bridge.broker.money import profit_of
from mt5bridge.broker.run import run

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
NO_TICK, NO_SYMBOL = "no later tick", "no symbol"
PLAIN_ORDERS_MAX = 10_000
"""So many orders take some seconds without a compiler, which takes some seconds itself."""


@dataclass(frozen=True, slots=True)
class Ticks:
    """Ticks in order: rows of their symbols, and `order`, their places in the total order."""

    symbol: Ints
    order: Ints
    time_msc: Ints
    bid: Floats
    ask: Floats

    def __len__(self) -> int:
        return len(self.order)

    def joined(self, more: Ticks) -> Ticks:
        """These, then more."""
        return Ticks(
            np.concatenate([self.symbol, more.symbol]),
            np.concatenate([self.order, more.order]),
            np.concatenate([self.time_msc, more.time_msc]),
            np.concatenate([self.bid, more.bid]),
            np.concatenate([self.ask, more.ask]),
        )

    def part(self, at: slice | NDArray[np.bool_]) -> Ticks:
        """Some of them."""
        return Ticks(self.symbol[at], self.order[at], self.time_msc[at], self.bid[at], self.ask[at])


@dataclass(frozen=True, slots=True)
class Money:
    """The account's: balance at first and in the end, that with open positions, and what its deals
    have brought and cost. Amounts have so many `digits`; None: they are not rounded.
    """

    start: float = 0.0
    balance: float = 0.0
    equity: float = 0.0
    profit: float = 0.0
    commission: float = 0.0
    swap: float = 0.0
    digits: int | None = None


class Trading:
    """One account that trades the orders of a run; batches of ticks may have any size."""

    def __init__(
        self,
        orders: Sequence[Order] = (),
        symbols: Mapping[str, Specification] | None = None,
        market: Market = NEXT_TICK,
        loop: Run | None = None,
    ) -> None:
        """`loop` is that of the broker, else what is done first."""
        self._market, self._chooses_loop = market, loop is None
        self._orders: list[Order] = []
        self._symbols: dict[str, Specification] = {}
        self._rows: dict[str, int] = {}
        self._broker = Broker(market.terms, (), loop or leap)
        self._waiting = self._broker.waiting(as_requests((), {}))
        self._retcodes: list[Ints] = []
        self._ended: list[int] = []
        self._last_msc = np.zeros(0, np.int64)
        self._deals: list[Table] = [self._broker.take_deals()]  # the first table has none
        for name, symbol in (symbols or {}).items():
            self.add(name, symbol)
        self.order(orders)

    def add(self, name: str, symbol: Specification) -> int:
        """Let a symbol be traded; the row that its ticks name."""
        self._symbols[name] = symbol
        row = self._rows[name] = self._broker.add(symbol)
        self._last_msc = np.append(self._last_msc, 0)
        self.order(())  # what waits has a place for each symbol
        return row

    def order(self, orders: Sequence[Order]) -> None:
        """More orders, of symbols that are traded; each waits behind those there are."""
        requests = as_requests(orders, self._rows, self._market, len(self._orders) + 1)
        self._orders += orders
        if self._chooses_loop:
            self._broker.loop = loop_for(len(self._orders))
        answers = self._waiting.answers["retcode"]
        is_given = answers != codes.RUNS
        self._retcodes.append(answers[is_given])
        is_refused = is_given & (answers != codes.DONE)
        self._ended += self._waiting.requests["tag"][is_refused].tolist()
        waiting = self._waiting.requests[~is_given]
        self._waiting = self._broker.waiting(np.concatenate([waiting, requests]))

    def take_ended(self) -> list[int]:
        """The tags of orders that were refused since the last time."""
        self.order(())
        found, self._ended[:] = self._ended[:], []
        return found

    def fork(self) -> Trading:
        """Another account in the same state, which trades on without this one, and whose deals are
        those that it makes.
        """
        found = copy(self)
        found._broker = self._broker.fork()
        found._waiting = Waiting(*(table.copy() for table in self._waiting))
        found._last_msc, found._deals = self._last_msc.copy(), self._deals[:1]
        return found

    @property
    def market(self) -> Market:
        """How its orders are filled."""
        return self._market

    @property
    def orders(self) -> Sequence[Order]:
        """All of them; the tag of the first is 1."""
        return self._orders

    @property
    def symbols(self) -> Sequence[str]:
        """Those that are traded, in the order of their rows."""
        return list(self._rows)

    @property
    def is_done(self) -> bool:
        """Whether no later tick can change anything."""
        is_waiting = bool((self._waiting.next < self._waiting.ends).any())
        return not (is_waiting or len(self._broker.positions) or len(self._broker.orders))

    @property
    def deals(self) -> Table:
        """All deals in their order."""
        return np.concatenate(self._deals)

    @property
    def floating(self) -> float:
        """What open positions would bring now."""
        return self._broker.floating

    @property
    def money(self) -> Money:
        """What the account has come to."""
        terms, broker = self._market.terms, self._broker
        rounded, deals = OpeningCosts(terms.money_digits).rounded, self.deals
        profit, commission, swap = (
            rounded(float(deals[name].sum())) for name in ("profit", "commission", "swap")
        )
        return Money(
            terms.balance, broker.balance, rounded(broker.equity), profit, commission, swap,
            terms.money_digits,
        )  # fmt: skip

    @property
    def trades(self) -> list[Trade]:
        """What was closed, in the order of closing, then what is open now, at the last quotes."""
        costs = OpeningCosts(self._market.terms.money_digits)
        closed = list(trades_of(self.deals, self._orders, self._symbols, costs))
        return [*closed, *self._open(costs)]

    @property
    def refused(self) -> Counter[str]:
        """Why orders were not filled; how many for each reason."""
        answers = np.concatenate([*self._retcodes, self._waiting.answers["retcode"]])
        found, counts = np.unique(answers, return_counts=True)
        return Counter(
            {
                f"{codes.TEXTS[code]} ({code})" if code else NO_TICK: count
                for code, count in zip(found.tolist(), counts.tolist(), strict=True)
                if code != codes.DONE
            }
        )

    def push(self, ticks: Ticks) -> Table:
        """Run over the next ticks; the deals that they made."""
        self._broker.run(
            ticks.symbol, ticks.order, ticks.time_msc, ticks.bid, ticks.ask, self._waiting
        )
        self._last_msc[ticks.symbol] = ticks.time_msc  # of several for one symbol, the last stays
        if len(deals := self._broker.take_deals()):
            self._deals.append(deals)
        return deals

    def _open(self, costs: OpeningCosts) -> list[Trade]:
        state, names = self._broker.state, self.symbols
        found = []
        for position in self._broker.positions:
            row = int(position["symbol"])
            name, symbol = names[row], state.symbols[row]
            is_long = bool(position["side"] > 0)
            opened, lots = float(position["price"]), float(position["lots"])
            closed = float(symbol["bid"] if is_long else symbol["ask"])
            profit = profit_of(state.account[0], symbol, position["side"], lots, opened, closed)
            commission, swap = costs.left(int(position["identifier"])), float(position["swap"])
            found.append(
                Trade(
                    self._orders[position["tag"] - 1].signal, name, "buy" if is_long else "sell",
                    lots, int(position["time_msc"]), opened, int(self._last_msc[row]), closed, END,
                    in_points(opened, closed, is_long, self._symbols[name].point), profit,
                    commission, swap, costs.rounded(profit + commission + swap),
                )
            )  # fmt: skip
        return sorted(found, key=lambda trade: (trade.closed_msc, trade.symbol))


def loop_for(orders: int) -> Run:
    """The broker's loop that is done first with so many orders, the compiler's time included."""
    return leap if orders <= PLAIN_ORDERS_MAX else _compiled_loop()


@cache
def _compiled_loop() -> Run:
    """Made once a process: its machine code is loaded then."""
    return entry(run)
