"""A run whose rules see the fills of their own signals, as deals behind the ticks that made them.

The rules and the account wait for each other: a deal is a record of the rules, and may lead to the
next signal. So the account says which tick may make its next deal, the rules go on as far as that
at most, and stop where they signal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cep.backtest.account import Account
from cep.backtest.gathered import gathered
from cep.backtest.records import Moment, lived
from cep.backtest.results import picked
from cep.backtest.selection import Selection
from cep.backtest.sequential import caused_at, tell_places
from cep.backtest.trading import Trading
from cep.dropped import Ended, nobody
from cep.engine.input_rows import InputRows
from cep.engine.kernels.state import OUT_ORDER, OUT_TIME, Ints
from cep.engine.native import Compiled, Run
from cep.engine.rows import Rows
from cep.market import DEAL_STREAM, Columns, deal_columns, source
from cep.plan.nodes import Plan
from cep.plan.readers import is_read
from mt5bridge.broker import Table
from mt5bridge.simulator.deals import level_comment, request_comment

WINDOW, WINDOW_MAX = 256, 1 << 17
"""Records that the account looks ahead over: few behind a signal, then ever more."""
LAST = 1 << 62


def dealt(
    rules: Compiled,
    selection: Selection,
    account: Account,
    advance: Callable[[int], None] = lambda n: None,
    ended: Ended = nobody,
    *,
    shows_deals: bool = True,
) -> Iterator[Rows]:
    """Output rows in order, as of `cep.backtest.sequential.sequential`; the account has traded.

    Deals that `selection` has recorded are not among its records, unless the account's are not
    shown to the rules.
    """
    if shows_deals:
        selection = selection.without(DEAL_STREAM)
    mode: Literal["lived", "sorted"] = "lived" if selection.is_lived else "sorted"
    run = (rules.as_program(mode) or rules.in_mode(mode)).begun(mode=mode)
    yield from gathered(
        _dealt(_Feeding(run, account, shows_deals=shows_deals), selection, advance), run.masks
    )
    ended(run.dropped)


def _dealt(
    feeding: _Feeding, selection: Selection, advance: Callable[[int], None]
) -> Iterator[Rows]:
    newest_msc, run = 0, feeding.run
    for record in lived(selection, run):
        if isinstance(record, Moment):
            yield from feeding.catch_up(record.order - 1)
            yield from feeding.tell(record)
        else:
            newest_msc = max(newest_msc, int(record.ints[:, OUT_TIME].max()))
            yield from feeding.feed(record)
            advance(len(record))
    yield from feeding.catch_up(LAST)
    if feeding.done and selection.ends_sorted:
        yield feeding.ended(max(newest_msc, feeding.dealt_msc))


class _Feeding:
    """The rules and the account, each as far as the other allows."""

    def __init__(self, run: Run, account: Account, *, shows_deals: bool) -> None:
        self.done = 0
        """Records so far: places in the total order need not be unique, counted they are."""
        self.dealt_msc = 0
        self._last = 0
        self.run, self._account = run, account
        self._window, self._shows_deals = WINDOW, shows_deals
        self._signals = frozenset(signal.name for signal in run.rules.plan.signals)

    def feed(self, batch: InputRows) -> Iterator[Rows]:
        """The next records, and the deals between them."""
        orders = batch.ints[:, OUT_ORDER].copy()
        start = 0
        while start < len(orders):
            until = int(orders[min(start + self._window, len(orders)) - 1])
            place = self._account.may_deal(until)
            bound = until if place is None else place
            deals = None
            if place is not None and self._can_wait(int(orders[start]), place):
                deals = self._account.go(place)
                if not len(deals):
                    continue
            stop = int(np.searchsorted(orders, bound, side="right"))
            has_ordered = False
            while start < stop and (deals is not None or not has_ordered):
                start, rows = self._some(batch, orders, start, stop)
                has_ordered |= self._take(rows)
                yield rows
            reached = int(orders[start - 1]) if has_ordered else bound
            if deals is None and start >= stop and reached == bound:
                deals = self._account.go(bound)
            self._window = WINDOW if has_ordered else min(2 * self._window, WINDOW_MAX)
            if deals is not None:
                yield from self._deals(deals)

    def _can_wait(self, record: int, place: int) -> bool:
        """Whether the account may pass the tick at a place before the rules are fed their next
        record: what this one leads to needs a later tick.
        """
        return place < record or (place == record and not self._account.is_judged)

    def catch_up(self, until: int) -> Iterator[Rows]:
        """The deals up to a place before which no record comes any more."""
        while (place := self._account.may_deal(until)) is not None:
            yield from self._deals(self._account.go(place))
        self._account.go(until)

    def tell(self, moment: Moment) -> Iterator[Rows]:
        """A record of the clock."""
        run = self.run
        tell_places(run, np.array([moment.order]), self.done)
        for told in run.watermarks.tell(*moment.told):
            rows = caused_at(moment.order, run.tell(told, self.done))
            self._take(rows)
            yield rows
        self.done, self._last = self.done + 1, moment.order

    def ended(self, newest_msc: int) -> Rows:
        """The input ends."""
        tell_places(self.run, np.array([self._last]), self.done)
        return caused_at(self._last, self.run.end(newest_msc, self.done))

    def _some(self, batch: InputRows, orders: Ints, start: int, stop: int) -> tuple[int, Rows]:
        """Feed records until they lead to a signal: the first not fed, and what came out."""
        part, first = batch.part(start, stop), self.done
        part.ints[:, OUT_ORDER] = np.arange(first, first + len(part))
        tell_places(self.run, orders[start:stop], first)
        count, rows = self.run.feed_until_signal(part, 0)
        rows.ints[:, OUT_ORDER] = orders[start + rows.ints[:, OUT_ORDER] - first]
        self.done, self._last = first + count, int(orders[start + count - 1])
        return start + count, rows

    def _take(self, rows: Rows) -> bool:
        """Whether any row is a signal that became an order."""
        if not len(rows):
            return False
        found = picked(rows, self._signals)
        return self._account.signals(list(zip(found.orders.tolist(), found.dicts(), strict=True)))

    def _deals(self, deals: Table) -> Iterator[Rows]:
        """Feed deals, which one place has made."""
        if not len(deals):
            return
        self._window = WINDOW
        if not self._shows_deals:
            return
        run, order = self.run, int(deals[0]["place"]) + 1
        trading = self._account.trading
        columns = columns_of(run.rules.plan, deals, trading, self._account.identifiers)
        self.dealt_msc = int(deals["time_msc"].max())
        numbers = np.arange(self.done, self.done + len(deals))
        tell_places(run, np.full(len(deals), order), self.done)
        rows = run.feed(run.encoder.encode(DEAL_STREAM, columns, deals["time_msc"].copy(), numbers))
        self.done, self._last = self.done + len(deals), order
        if len(rows):
            rows = caused_at(order, rows)
            self._take(rows)
            yield rows


def reads_deals(plan: Plan) -> bool:
    """Whether rules that signal may see what becomes of it."""
    has_deals = bool(plan.signals) and source(plan, DEAL_STREAM) is not None
    return has_deals and is_read(plan, DEAL_STREAM)


def columns_of(
    plan: Plan, deals: Table, trading: Trading, identifiers: Sequence[int] = ()
) -> Columns:
    """The broker's deals as the columns of the stream `Deal`.

    `identifiers` are those that orders had when they were lived, else they have their numbers.
    """
    stream = next(one for one in plan.sources if one.name == DEAL_STREAM)

    def field(name: str) -> NDArray[Any]:
        return np.zeros(len(deals)) if name == "fee" else deals[name].copy()

    def texts(name: str) -> pa.Array:
        if name == "symbol":
            symbols = trading.symbols
            return pa.array([symbols[row] for row in deals["symbol"].tolist()], pa.string())
        return pa.array([comment(deal, trading, identifiers) for deal in deals], pa.string())

    return deal_columns(stream, field, texts)


def comment(deal: Any, trading: Trading, identifiers: Sequence[int] = ()) -> str:
    """As the trader and a server write it: the order's number and signal, or the level reached."""
    if tag := int(deal["tag"]):
        number = identifiers[tag - 1] if tag <= len(identifiers) else tag
        return request_comment(number, trading.orders[tag - 1].signal).decode()
    return level_comment(deal, trading.digits(int(deal["symbol"]))).decode()
