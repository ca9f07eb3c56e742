"""A trading account at the broker that executes signals and orders, each of them at most once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mt5bridge.broker import Broker, Record, Specification, Terms, codes
from mt5bridge.position import Position
from mt5bridge.records import DEAL, Records
from mt5bridge.simulator.deals import as_deals
from mt5bridge.simulator.respecify import respecify
from mt5bridge.simulator.tape import merge
from mt5bridge.simulator.wish import Wish, wish_of
from mt5bridge.wire import (
    Halt,
    Order,
    OrderKind,
    OrderSide,
    Signal,
    SignalResult,
    SignalStatus,
    Symbol,
    TradeMode,
)

DEPOSIT = 10_000.0
"""Of an account of which nobody says another balance."""
_CHANGES = (
    codes.SLTP, codes.MODIFY, codes.REMOVE, codes.CHANGE_HELD, codes.CANCEL_HELD,
)  # fmt: skip
_EXPIRED, _CANCELLED = "the order's time has passed", "the order was cancelled"
_NO_SIDE = OrderSide.NONE


class Account:
    """What a broker remembers, whatever becomes of the terminal: deals, positions, answers.

    Ticks and deals are in server time; requests and results are in UTC, `utc_offset_ms` before it.
    """

    def __init__(
        self,
        fills: Sequence[float] = (1.0,),
        first_ticket: int = 1_000_001,
        hedging: bool = False,
        terms: Terms | None = None,
    ) -> None:
        """`terms` say all of it; without them it has 10,000, and no margin is asked."""
        self.deals: Records = np.empty(0, DEAL)
        self.executed: dict[int, list[SignalResult]] = {}
        terms = terms or Terms(hedging, DEPOSIT, 0.0, 2, tuple(fills), first_ticket)
        self.hedging = terms.hedging
        self.utc_offset_ms = 0
        self._broker = Broker(terms)
        self._symbols: list[Symbol] = []
        self._rows: dict[str, int] = {}
        self._quoted: set[str] = set()  # symbols that nobody has traded
        self.known: dict[str, Specification] = {}  # by symbol, what trading it depends on
        self._reached: dict[str, Position] = {}
        self._wishes: list[Wish] = []  # the tag of the first one is 1
        self._standing: dict[int, int] = {}  # tickets of pending orders: their requests' tags

    def add(self, symbol: Symbol, known: Specification | None = None) -> Position:
        """Trade a symbol; how far its ticks have come already.

        `known` is what trading it depends on, in place of what the wire tells.
        """
        known = known or specification(symbol)
        if symbol.name in self._quoted:
            self._quoted.remove(symbol.name)
            self._broker.change(self._rows[symbol.name], known)
            self.known[symbol.name] = known
        elif symbol.name not in self._rows:
            self._rows[symbol.name] = self._broker.add(known)
            self.known[symbol.name] = known
            self._symbols.append(symbol)
        return self._reached.get(symbol.name, Position())

    def change(self, name: str, known: Specification) -> None:
        """Trade a symbol by another specification from here on."""
        respecify(self._broker, self._rows[name], known)
        self.known[name] = known

    def quote(self, symbol: Symbol) -> None:
        """Take the ticks of a symbol for the rates they are; it may be traded later."""
        if symbol.name not in self._rows:
            self.add(symbol, Specification(0.0))
            self._quoted.add(symbol.name)

    def convert(self, name: str, pairs: Sequence[tuple[str, int]]) -> None:
        """Have the profits of a symbol converted at pairs, by their ways (`broker.rates`)."""
        self._broker.convert(self._rows[name], [(self._rows[pair], way) for pair, way in pairs])

    def take_ticks(self, ticks: Mapping[str, Records]) -> list[SignalResult]:
        """The market goes on; what became of pending orders by that."""
        if not ticks:
            return []
        for name, array in ticks.items():
            self._reached[name] = self._reached.get(name, Position()).advanced(0, array)
        order, _ = merge(list(ticks.values()), self._broker.time_msc)
        lengths = [len(array) for array in ticks.values()]
        rows = np.repeat([self._rows[name] for name in ticks], lengths)[order]
        times, bids, asks = (
            np.concatenate([array[name] for array in ticks.values()])[order]
            for name in ("time_msc", "bid", "ask")
        )
        self._broker.run(rows, np.zeros(len(rows), np.int64), times, bids, asks)
        return [*self._book(), *self._ended()]

    def execute(
        self,
        request: Signal | Order,
        mode: TradeMode = TradeMode.LIVE,
        halt: Halt | None = None,
    ) -> list[SignalResult]:
        """Trade, or tell what came of it when it was asked before; new deals are in `deals`."""
        if request.id in self.executed:
            return list(self.executed[request.id])
        wish = wish_of(request)
        self.executed[request.id] = []
        return self._refused(wish, mode, halt) or self._traded(wish, halt)

    def reject(self, request: Signal | Order, text: str) -> list[SignalResult]:
        """Refuse a request for a reason of the caller's."""
        if request.id in self.executed:
            return list(self.executed[request.id])
        self.executed[request.id] = []
        return self._say(wish_of(request), SignalStatus.REJECTED, codes.PRICE_OFF, text)

    def halt(self, reason: str) -> list[SignalResult]:
        """Take all pending orders back; what became of them."""
        results = []
        for ticket in list(self._standing):
            cancel = Wish(0, "", "", 0, 0, OrderKind.CANCEL, _NO_SIDE, 0.0, ticket)
            self._broker.execute(cancel.request(0, 0))
            results += self._ended(f"halted: {reason}")
        return results

    def answer(self, identifier: int) -> list[SignalResult]:
        """What became of a request, in order; nothing is executed."""
        if identifier in self.executed:
            return self.executed[identifier]
        text = "never seen here"
        return [SignalResult(identifier, 0, 0, 0, 0.0, 0.0, 0, SignalStatus.UNKNOWN, text)]

    def symbol_of(self, ticket: int) -> str:
        """The symbol of a position or a pending order; empty when there is none."""
        found = self._found(ticket)
        return "" if found is None else self._symbols[found["symbol"]].name

    @property
    def positions(self) -> int:
        """How many positions are open."""
        return len(self._broker.positions)

    @property
    def orders(self) -> int:
        """How many pending orders stand."""
        return len(self._broker.orders)

    @property
    def balance(self) -> float:
        """The deposit, and what closed positions have brought."""
        return self._broker.balance

    @property
    def margin(self) -> float:
        """What open positions block."""
        return float(self._broker.margin)  # that of a kernel

    @property
    def floating(self) -> float:
        """What open positions would bring now."""
        return float(self._broker.floating)

    def _found(self, ticket: int) -> Record | None:
        for table in (self._broker.positions, self._broker.orders):
            for row in table[table["ticket"] == ticket]:
                return row
        return None

    def _refused(self, wish: Wish, mode: TradeMode, halt: Halt | None) -> list[SignalResult]:
        """The answer to what is not to be tried, if so."""
        utc_msc = self._broker.time_msc - self.utc_offset_ms
        if wish.valid_until_msc and utc_msc > wish.valid_until_msc:
            return self._refuse(wish, codes.INVALID_EXPIRATION)
        if halt is not None and halt.halted and self._adds_risk(wish):
            return self._say(wish, SignalStatus.REJECTED, 0, f"halted: {halt.reason}")
        if mode is TradeMode.DRY_RUN:
            return self._say(wish, SignalStatus.DRY_RUN, 0, f"would {wish.text}")
        return []

    def _adds_risk(self, wish: Wish) -> bool:
        """Whether a position may become larger by it, or its stop or target farther."""
        if wish.kind is not OrderKind.MODIFY:
            return wish.opens
        if wish.is_of_held:
            return False  # the broker judges each position
        found = self._found(wish.ticket)
        if found is None or "side" not in found.dtype.names:
            return True
        side = found["side"]
        is_wider = wish.sl and found["sl"] and (wish.sl - found["sl"]) * side < 0
        return bool(is_wider or (wish.tp and found["tp"] and (found["tp"] - wish.tp) * side < 0))

    def _traded(self, wish: Wish, halt: Halt | None) -> list[SignalResult]:
        name = wish.symbol or self.symbol_of(wish.ticket)
        if name not in self._rows:
            is_cancel = wish.kind is OrderKind.CANCEL
            unknown = codes.INVALID_ORDER if is_cancel else codes.POSITION_CLOSED
            return self._refuse(wish, codes.PRICE_OFF if wish.symbol else unknown)
        self._wishes.append(wish)
        tag = len(self._wishes)
        row = self._rows[name]
        point = float(self._broker.state.symbols[row]["point"])
        request = self._completed(wish, wish.request(tag, row, point))
        request["is_halted"] = halt is not None and halt.halted
        answer = self._broker.execute(request)
        retcode, ticket = int(answer["retcode"]), int(answer["order"])
        if retcode == codes.FARTHER and halt is not None:
            return self._say(wish, SignalStatus.REJECTED, 0, f"halted: {halt.reason}")
        if retcode not in codes.WORKED:
            return [*self._ended(), *self._refuse(wish, retcode)]
        if request["action"] == codes.PENDING:
            self._standing[ticket] = tag
            return self._say(
                wish, SignalStatus.PLACED, codes.PLACED, "", ticket,
                lots=float(request["lots"]), price=float(request["price"]),
            )  # fmt: skip
        if request["action"] in _CHANGES:
            ended = self._ended()
            done = self._say(wish, SignalStatus.EXECUTED, codes.DONE, "", ticket)
            return [*ended, *done]
        return self._dealt(wish, tag, retcode, ticket)

    def _dealt(self, wish: Wish, tag: int, retcode: int, ticket: int) -> list[SignalResult]:
        """What came of a market order at once: all, a part, or a part and more to come."""
        if retcode == codes.PLACED:
            self._standing[ticket] = tag
            stands = self._say(wish, SignalStatus.PLACED, codes.PLACED, "", ticket)
            return [*stands, *self._book()]
        if retcode == codes.DONE:
            return self._book()
        parts = self._book(cut=tag)
        return [
            *parts,
            *self._say(wish, SignalStatus.CANCELLED, codes.CANCELLED, _CANCELLED, ticket),
        ]

    def _completed(self, wish: Wish, request: Record) -> Record:
        """With the order's time; what a change does not name stays as it is."""
        if wish.kind in (OrderKind.LIMIT, OrderKind.STOP) and wish.valid_until_msc:
            request["expires_msc"] = wish.valid_until_msc + self.utc_offset_ms
        found = self._found(wish.ticket) if wish.kind is OrderKind.MODIFY and wish.ticket else None
        if found is not None:
            is_order = "side" not in found.dtype.names
            for name in ("price", "sl", "tp") if is_order else ("sl", "tp"):
                request[name] = request[name] or found[name]
            if is_order:
                request["action"], request["expires_msc"] = codes.MODIFY, found["expires_msc"]
        return request

    def _book(self, cut: int = 0) -> list[SignalResult]:
        """The broker's new deals, and what they say of the requests that caused them; the rest of
        that with the tag `cut` is cancelled.
        """
        rows = self._broker.take_deals()
        standing = set(self._broker.orders["ticket"].tolist())
        self.deals = np.concatenate([self.deals, as_deals(rows, self._symbols, self._wishes)])
        results = []
        for at, row in enumerate(rows):
            if tag := int(row["tag"]):
                goes_on = tag == cut or int(row["order"]) in standing
                is_last = not goes_on and tag not in rows["tag"][at + 1 :]
                if is_last:
                    self._standing.pop(int(row["order"]), None)
                results += self._say(
                    self._wishes[tag - 1],
                    SignalStatus.EXECUTED if is_last else SignalStatus.PARTIAL,
                    codes.DONE if is_last else codes.DONE_PARTIAL, "", int(row["order"]),
                    int(row["ticket"]), int(row["time_msc"]), float(row["volume"]),
                    float(row["price"]),
                )  # fmt: skip
        return results

    def _ended(self, why: str = "") -> list[SignalResult]:
        """Pending orders that stand no more, and are not filled."""
        self._broker.take_taken_back()
        if not self._standing:
            return []
        results = []
        standing = set(self._broker.orders["ticket"].tolist())
        for ticket in sorted(self._standing.keys() - standing):
            wish = self._wishes[self._standing.pop(ticket) - 1]
            until_msc = wish.valid_until_msc + self.utc_offset_ms
            is_late = not why and wish.valid_until_msc and self._broker.time_msc >= until_msc
            status = SignalStatus.EXPIRED if is_late else SignalStatus.CANCELLED
            text = why or (_EXPIRED if is_late else _CANCELLED)
            results += self._say(wish, status, codes.CANCELLED, text, ticket)
        return results

    def _refuse(self, wish: Wish, retcode: int) -> list[SignalResult]:
        is_late = retcode == codes.INVALID_EXPIRATION
        status = SignalStatus.EXPIRED if is_late else SignalStatus.REJECTED
        told = 0 if retcode == codes.TOO_FAR else retcode  # which the server was not asked
        return self._say(wish, status, told, codes.TEXTS[retcode])

    def _say(
        self,
        wish: Wish,
        status: SignalStatus,
        retcode: int,
        text: str,
        order: int = 0,
        deal: int = 0,
        time_msc: int = 0,
        lots: float = 0.0,
        price: float = 0.0,
    ) -> list[SignalResult]:
        """One more result of a request."""
        utc_msc = time_msc - self.utc_offset_ms if time_msc else 0
        result = SignalResult(wish.id, deal, order, utc_msc, lots, price, retcode, status, text)
        self.executed[wish.id].append(result)
        return [result]


def specification(symbol: Symbol) -> Specification:
    """What the wire tells of a symbol, as the broker takes it."""
    return Specification(
        symbol.point, symbol.tick_size, symbol.contract_size, symbol.volume_min,
        symbol.volume_max, symbol.volume_step,
    )  # fmt: skip
