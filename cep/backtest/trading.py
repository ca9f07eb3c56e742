"""Orders of a run at the one broker, over ticks that come in batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from cep.account.market import NEXT_TICK, Market
from cep.account.orders import Order
from cep.account.rates import QUOTED, Route
from cep.backtest.costs import OpeningCosts
from cep.backtest.course import Course
from cep.backtest.equity import Equity
from cep.backtest.loop import loop_for
from cep.backtest.orders import as_requests
from cep.backtest.points import digits_of
from cep.backtest.ticks import Ints, Ticks, as_rows, joined
from cep.backtest.trades import END, Excursion, Trade, in_points, trades_of
from mt5bridge.broker import Broker, Specification, Table, codes
from mt5bridge.broker.broker import Run
from mt5bridge.broker.leap import leap
from mt5bridge.broker.money import profit_of
from mt5bridge.broker.nights import DAY_MS
from mt5bridge.simulator.respecify import respecify

NO_TICK = "no later tick"
NOT_IN_TIME, NOT_YET, TAKEN_BACK = 1, 2, 4
"""What became of pending orders that were never reached, beside the return codes of the broker."""
_OWN = {
    0: NO_TICK,
    NOT_IN_TIME: "not reached in time",
    NOT_YET: "not reached yet",
    TAKEN_BACK: "taken back",
    codes.TOO_FAR: codes.TEXTS[codes.TOO_FAR],
}


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
        """`loop` is that of the broker, else what is fastest (`cep.backtest.loop`)."""
        self._market, self._chooses_loop = market, loop is None
        self._orders: list[Order] = []
        self._symbols: dict[str, Specification] = {}
        self.pairs: set[str] = set()
        """Symbols at whose quotes profits are converted."""
        self._rows: dict[str, int] = {}
        self._broker = Broker(market.terms, (), loop or leap)
        self._waiting = self._broker.waiting(as_requests((), {}, {}))
        self._retcodes: dict[int, int] = {}
        """Of orders, by their tags."""
        self._ended: list[int] = []
        self._unfilled: set[int] = set()
        """The tags of pending orders that have made no deal."""
        self._standing: set[int] = set()
        """Those of them that the broker has taken."""
        self._taken_back: set[int] = set()
        """Those that a signal has taken back."""
        self._last_msc = np.zeros(0, np.int64)
        self._points = np.zeros(0)
        self._deals: list[Table] = [self._broker.take_deals()]  # the first table has none
        self._course = Course(market.terms.balance)
        self._newest_msc = 0
        self._has_swap = False
        self._later: list[tuple[int, str, Specification]] = []
        """What becomes of symbols, by the times from which it holds."""
        for name, symbol in (symbols or {}).items():
            self.add(name, symbol)
        self.order(orders)

    def add(self, name: str, symbol: Specification) -> int:
        """Let a symbol be traded; the row that its ticks name. It may have been quoted before."""
        self._symbols[name] = symbol
        if symbol is not QUOTED:
            self._learn_later(name, symbol)
        if name in self._rows:
            respecify(self._broker, self._rows[name], symbol)
            self._points[self._rows[name]] = symbol.point
            self._learn(self._rows[name], symbol)
            return self._rows[name]
        row = self._rows[name] = self._broker.add(symbol)
        self._last_msc = np.append(self._last_msc, 0)
        self._points = np.append(self._points, symbol.point)
        self._learn(row, symbol)
        self.order(())  # what waits has a place for each symbol
        return row

    def _learn_later(self, name: str, symbol: Specification) -> None:
        later = self._market.later(name, symbol)
        self._later = [one for one in self._later if one[1] != name]
        self._later += [(since_msc, name, then) for since_msc, then in later]
        self._later.sort(key=lambda one: one[0])

    def _learn(self, row: int, symbol: Specification) -> None:
        self._course.add(row, symbol.contract_size)
        self._has_swap = self._has_swap or symbol.swap_mode != codes.NO_SWAP

    def convert(self, name: str, route: Route) -> None:
        """Have the profits of a symbol converted at pairs, which are quoted here from now on."""
        for pair, _ in route:
            if pair not in self._rows:
                self.add(pair, QUOTED)
        self.pairs.update(pair for pair, _ in route)
        pairs = [(self._rows[pair], way) for pair, way in route]
        self._broker.convert(self._rows[name], pairs)
        self._course.convert(self._rows[name], pairs)

    def order(self, orders: Sequence[Order]) -> None:
        """More orders, of symbols that are traded; each waits behind those there are."""
        first_tag = len(self._orders) + 1
        points = {one.symbol: self._symbols[one.symbol].point for one in orders}
        requests = as_requests(orders, self._rows, points, self._market, first_tag)
        self._unfilled.update(tag for tag, one in enumerate(orders, first_tag) if one.kind)
        self._orders += orders
        if self._chooses_loop:
            self._broker.loop = loop_for(len(self._orders), len(orders))
        self._waiting = self._broker.waiting(joined([self._unanswered(), requests]))

    def _unanswered(self) -> Table:
        """The requests that wait on, when the answers of the others have been noted."""
        asked, answers = self._waiting.requests, self._waiting.answers["retcode"]
        is_given = answers != codes.RUNS
        if not is_given.any():
            return asked
        found = dict(zip(asked["tag"][is_given].tolist(), answers[is_given].tolist(), strict=True))
        self._retcodes |= found
        for tag, answer in found.items():
            if answer not in codes.WORKED:
                self._ended.append(tag)
            elif tag in self._unfilled:
                self._standing.add(tag)
        waiting: Table = asked[:0] if len(found) == len(asked) else asked[~is_given]
        return waiting

    def take_ended(self) -> list[int]:
        """The tags of orders that were refused, or whose time has passed, since the last time."""
        self.order(())
        gone = (self._standing & self._unfilled) - set(self._broker.orders["tag"].tolist())
        self._ended += sorted(gone)
        self._standing -= gone
        found, self._ended[:] = self._ended[:], []
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

    def digits(self, row: int) -> int:
        """The decimals of a symbol's prices, by its point."""
        return digits_of(np.array([self._symbols[self.symbols[row]].point]))

    @property
    def is_done(self) -> bool:
        """Whether no later tick can change anything."""
        is_waiting = bool((self._waiting.next < self._waiting.ends).any())
        return not (is_waiting or len(self._broker.positions) or len(self._broker.orders))

    @property
    def is_flat(self) -> bool:
        """Whether nothing is open, and the broker has no order."""
        return not (len(self._broker.positions) or len(self._broker.orders))

    @property
    def deals(self) -> Table:
        """All deals in their order."""
        if len(self._deals) > 1:
            self._deals[:] = [joined(self._deals)]
        return self._deals[0]

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
    def course(self) -> Course:
        """What it has gone through."""
        return self._course

    @property
    def equity(self) -> Equity:
        """At each tick, with what was open then."""
        return self.course.equity(self._market.terms.money_digits)

    @property
    def trades(self) -> list[Trade]:
        """What was closed, in the order of closing, then what is open now, at the last quotes."""
        costs, deals = OpeningCosts(self._market.terms.money_digits), self.deals
        prices = zip(*(one.tolist() for one in self.course.excursions(deals)), strict=True)
        closed = list(
            trades_of(zip(as_rows(deals), prices, strict=True), self._orders, self._symbols, costs)
        )
        return [*closed, *self._open(costs)]

    def has_answered(self, count: int) -> bool:
        """Whether the broker has answered the first orders, so many."""
        waiting = self._waiting
        is_open = waiting.answers["retcode"] == codes.RUNS
        return not (is_open & (waiting.requests["tag"] <= count)).any()

    @property
    def retcodes(self) -> Ints:
        """What became of each order, in the order of tags; 0: no tick came for it.

        `NOT_YET` is that of a pending order while it stands, `NOT_IN_TIME` if its time has passed,
        `TAKEN_BACK` if a signal was before that.
        """
        found = np.zeros(len(self._orders), np.int64)
        count = len(self._retcodes)
        answered = np.fromiter(self._retcodes, np.int64, count)
        found[answered - 1] = np.fromiter(self._retcodes.values(), np.int64, count)
        found[self._waiting.requests["tag"] - 1] = self._waiting.answers["retcode"]
        unfilled = np.array(sorted(self._unfilled), np.int64)
        unfilled = unfilled[found[unfilled - 1] == codes.DONE]
        stands = np.isin(unfilled, self._broker.orders["tag"])
        gone = np.where(np.isin(unfilled, list(self._taken_back)), TAKEN_BACK, NOT_IN_TIME)
        found[unfilled - 1] = np.where(stands, NOT_YET, gone)
        return found

    @property
    def refused(self) -> Counter[str]:
        """Why orders were not filled; how many for each reason."""
        found, counts = np.unique(self.retcodes, return_counts=True)
        pairs = zip(found.tolist(), counts.tolist(), strict=True)
        return Counter(
            {answer_text(code): count for code, count in pairs if code not in codes.WORKED}
        )

    def push(self, ticks: Ticks) -> Table:
        """Run over the next ticks; the deals that they made."""
        found = []
        for part in self._told(self._quoted(ticks)):
            found += [self._pushed(day) for day in self._days(part)]
        return joined(found)

    def quiet(self, ticks: Ticks) -> int:
        """How many of the next ticks surely make no deal and answer no order."""
        ticks = self._quoted(ticks).part(slice(self._until_later(ticks)))
        return self._broker.quiet(
            ticks.symbol, ticks.order, ticks.time_msc, ticks.bid, ticks.ask, self._waiting
        )

    def _quoted(self, ticks: Ticks) -> Ticks:
        """Ticks as the market quotes them."""
        if self._market.harsher.has_other_spreads:
            return ticks.with_spreads(self._market.harsher, self._points)
        return ticks

    def _told(self, ticks: Ticks) -> Iterator[Ticks]:
        """Cut where something else holds of a symbol, which is so when the next part is taken."""
        while (count := self._until_later(ticks)) is not None:
            if count:
                yield ticks.part(slice(count))
            ticks = ticks.part(slice(count, None))
            _, name, symbol = self._later.pop(0)
            respecify(self._broker, self._rows[name], symbol)
        yield ticks

    def _until_later(self, ticks: Ticks) -> int | None:
        """How many ticks come before something else holds of a symbol; None: all of them."""
        if not self._later:
            return None
        is_later = ticks.time_msc >= self._later[0][0]
        return int(is_later.argmax()) if is_later.any() else None

    def _days(self, ticks: Ticks) -> list[Ticks]:
        """Cut behind each tick that ends a day of the server, if that may bring swap."""
        if not self._has_swap:
            return [ticks]
        times = np.concatenate([[self._newest_msc], ticks.time_msc])
        newest = np.maximum.accumulate(times)
        self._newest_msc = int(newest[-1])
        days = (newest + self._market.terms.server_ahead_ms) // DAY_MS
        edges = [0, *(np.flatnonzero(np.diff(days)) + 1).tolist(), len(ticks)]
        parts = [ticks.part(slice(*edge)) for edge in pairwise(edges) if edge[0] < edge[1]]
        return parts or [ticks]

    def _pushed(self, ticks: Ticks) -> Table:
        if self._chooses_loop:  # there may be machine code by now
            self._broker.loop = loop_for(len(self._orders))
        self._broker.run(
            ticks.symbol, ticks.order, ticks.time_msc, ticks.bid, ticks.ask, self._waiting
        )
        self._last_msc[ticks.symbol] = ticks.time_msc  # of several for one symbol, the last stays
        deals = self._broker.take_deals()
        self._taken_back.update(self._broker.take_taken_back())
        swaps = self._broker.positions["swap"]
        self._course.take(ticks, deals, float(swaps.sum()) if len(swaps) else 0.0)
        if len(deals):
            self._unfilled.difference_update(deals["tag"].tolist())
            self._deals.append(deals)
        return deals

    def _open(self, costs: OpeningCosts) -> list[Trade]:
        state, names = self._broker.state, self.symbols
        found = []
        for position in self._broker.positions:
            row, identifier = int(position["symbol"]), int(position["identifier"])
            name, symbol = names[row], state.symbols[row]
            is_long = bool(position["side"] > 0)
            opened, lots = float(position["price"]), float(position["lots"])
            closed = float(symbol["bid"] if is_long else symbol["ask"])
            profit = profit_of(state, symbol, position["side"], lots, opened, closed)
            commission, swap = costs.left(identifier), float(position["swap"])
            prices = self.course.open_excursion(row, identifier, is_long=is_long)
            size = lots * self._symbols[name].contract_size * self._broker.rate(row)
            excursion = Excursion.of(
                prices, opened, size, self._symbols[name], costs, is_long=is_long
            )
            found.append(
                Trade(
                    self._orders[position["tag"] - 1].signal, name, "buy" if is_long else "sell",
                    lots, int(position["time_msc"]), opened, int(self._last_msc[row]), closed, END,
                    in_points(opened, closed, is_long, self._symbols[name].point), profit,
                    commission, swap, costs.rounded(profit + commission + swap), *excursion,
                )
            )  # fmt: skip
        return sorted(found, key=lambda trade: (trade.closed_msc, trade.symbol))


def answer_text(retcode: int) -> str:
    """What a return code says of an order."""
    return _OWN.get(retcode) or f"{codes.TEXTS[retcode]} ({retcode})"
