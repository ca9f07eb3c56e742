"""A trading account that executes signals and orders at once, each of them at most once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mt5bridge.records import (
    COMMENT_BYTES,
    DEAL,
    DealEntry,
    DealKind,
    DealType,
    Records,
    fixed_text,
)
from mt5bridge.simulator.wish import Wish, wish_of
from mt5bridge.wire import (
    Halt,
    Order,
    Signal,
    SignalResult,
    SignalStatus,
    Symbol,
    TradeMode,
)

_COMMENT_CHARACTERS = 31  # brokers keep no more
_DONE, _DONE_PARTIAL, _REJECT, _INVALID_EXPIRATION = 10_009, 10_010, 10_006, 10_022
_REASON_EXPERT = 3
_DEPOSIT = 10_000.0


@dataclass(frozen=True, slots=True)
class Quote:
    """The market at the moment of execution; times in milliseconds."""

    bid: float
    ask: float
    time_msc: int
    utc_offset_ms: int


@dataclass(slots=True)
class _Net:
    lots: float = 0.0  # negative: short
    price: float = 0.0
    position_id: int = 0
    contract_size: float = 1.0


class Account:
    """What a broker remembers, whatever becomes of the terminal: deals, positions, answers."""

    def __init__(self, fills: Sequence[float] = (1.0,), first_ticket: int = 1_000_001) -> None:
        if not fills or min(fills) <= 0 or abs(sum(fills) - 1) > 1e-9:
            raise ValueError(f"fills {tuple(fills)} are no shares of one order: make their sum 1")
        self.deals: Records = np.empty(0, DEAL)
        self.executed: dict[int, list[SignalResult]] = {}
        self._fills = tuple(fills)
        self._ticket = first_ticket
        self._nets: dict[tuple[str, int], _Net] = {}

    def execute(
        self,
        request: Signal | Order,
        symbol: Symbol | None,
        quote: Quote | None,
        mode: TradeMode = TradeMode.LIVE,
        halt: Halt | None = None,
    ) -> list[SignalResult]:
        """Trade, or tell what came of it when it was asked before; new deals are in `deals`."""
        if request.id not in self.executed:
            self.executed[request.id] = self._first(request, symbol, quote, mode, halt)
        return self.executed[request.id]

    def answer(self, identifier: int) -> list[SignalResult]:
        """What became of a request, in order; nothing is executed."""
        if identifier in self.executed:
            return self.executed[identifier]
        text = "never seen here"
        return [SignalResult(identifier, 0, 0, 0, 0.0, 0.0, 0, SignalStatus.UNKNOWN, text)]

    def symbol_of(self, ticket: int) -> str:
        """The symbol of a position; empty when there is none with this ticket."""
        found = (
            key[0] for key, net in self._nets.items() if net.lots and net.position_id == ticket
        )
        return next(found, "")

    @property
    def positions(self) -> int:
        """How many positions are open."""
        return sum(net.lots != 0 for net in self._nets.values())

    @property
    def balance(self) -> float:
        """The deposit, and what closed positions have brought."""
        return _DEPOSIT + float(self.deals["profit"].sum())

    def floating(self, price_of: Callable[[str, bool], float]) -> float:
        """What open positions would bring; `price_of` gives a symbol's price to sell or buy at."""
        return sum(
            net.lots * (price_of(name, net.lots > 0) - net.price) * net.contract_size
            for (name, _), net in self._nets.items()
            if net.lots
        )

    def _first(
        self,
        request: Signal | Order,
        symbol: Symbol | None,
        quote: Quote | None,
        mode: TradeMode,
        halt: Halt | None,
    ) -> list[SignalResult]:
        wish = wish_of(request)
        if isinstance(wish, str):
            return [_refusal(request, SignalStatus.REJECTED, _REJECT, wish)]
        if symbol is None or quote is None:
            return [_refusal(request, SignalStatus.REJECTED, _REJECT, "no price for this symbol")]
        utc_msc = quote.time_msc - quote.utc_offset_ms
        if request.valid_until_msc and utc_msc > request.valid_until_msc:
            return [_refusal(request, SignalStatus.EXPIRED, _INVALID_EXPIRATION, "came too late")]
        if halt is not None and halt.halted and wish.direction:
            return [_refusal(request, SignalStatus.REJECTED, 0, f"halted: {halt.reason}")]
        if mode is TradeMode.DRY_RUN:
            return [_refusal(request, SignalStatus.DRY_RUN, 0, f"would {wish.text}")]
        return self._trade(wish, symbol, quote)

    def _trade(self, wish: Wish, symbol: Symbol, quote: Quote) -> list[SignalResult]:
        trades = self._sizes(wish, symbol.name)
        if not trades:
            return [_refusal(wish, SignalStatus.REJECTED, _REJECT, "no position to close")]
        results: list[SignalResult] = []
        for number, (key, lots) in enumerate(trades, 1):
            order, self._ticket = self._ticket, self._ticket + 1
            parts = _parts(abs(lots), self._fills, symbol.volume_step)
            results += [
                self._fill(
                    wish, key, symbol, quote, order, part if lots > 0 else -part,
                    left or number < len(trades),
                )
                for part, left in parts
            ]  # fmt: skip
        return results

    def _sizes(self, wish: Wish, symbol: str) -> list[tuple[tuple[str, int], float]]:
        """What to trade, by symbol and magic number; lots to sell are negative."""
        if wish.direction:
            return [((symbol, wish.magic), wish.direction * wish.lots)]
        found = []
        for key, net in self._nets.items():
            is_meant = (
                net.position_id == wish.ticket if wish.ticket else key == (symbol, wish.magic)
            )
            if is_meant and net.lots:
                size = min(abs(net.lots), wish.lots or abs(net.lots))
                found.append((key, -size if net.lots > 0 else size))
        return found

    def _fill(
        self,
        wish: Wish,
        key: tuple[str, int],
        symbol: Symbol,
        quote: Quote,
        order: int,
        lots: float,
        left: bool,
    ) -> SignalResult:
        price = quote.ask if lots > 0 else quote.bid
        net = self._nets.setdefault(key, _Net(contract_size=symbol.contract_size))
        deal = np.zeros(1, DEAL)
        deal["ticket"], deal["order"], deal["time_msc"] = self._ticket, order, quote.time_msc
        deal["volume"], deal["price"] = abs(lots), price
        deal["type"] = DealType.BUY if lots > 0 else DealType.SELL
        deal["entry"] = _entry(net.lots, lots)
        deal["profit"] = _profit(net, lots, price) * symbol.contract_size
        deal["magic"], deal["reason"], deal["kind"] = key[1], _REASON_EXPERT, DealKind.ADD
        deal["sl"], deal["tp"] = wish.levels(price, symbol.point)
        deal["symbol"], deal["comment"] = key[0].encode(), comment(wish)
        _trade(net, lots, price, order)
        deal["position_id"] = net.position_id
        self.deals = np.concatenate([self.deals, deal])
        self._ticket += 1
        return _result(wish.id, deal[0], left)


def comment(wish: Wish) -> bytes:
    """A deal's comment: the request's id in 16 hexadecimal digits, and as much name as fits."""
    text = f"{wish.id:016x} {wish.name}"[:_COMMENT_CHARACTERS]
    return fixed_text(text, COMMENT_BYTES)


def _parts(lots: float, fills: Sequence[float], step: float) -> list[tuple[float, bool]]:
    """Lots of each fill, in whole steps, and whether more follows."""
    steps = round(lots / step) if step > 0 else 0
    if steps < len(fills):
        return [(lots, False)]
    ends = [round(share * steps) for share in np.cumsum(fills)]
    sizes = np.diff([0, *ends[:-1], steps])
    parts = [round(int(size) * step, 8) for size in sizes if size > 0]
    return [(part, number < len(parts)) for number, part in enumerate(parts, 1)]


def _entry(net: float, lots: float) -> DealEntry:
    if net * lots >= 0:
        return DealEntry.IN
    return DealEntry.OUT if abs(lots) <= abs(net) + 1e-9 else DealEntry.INOUT


def _profit(net: _Net, lots: float, price: float) -> float:
    if net.lots * lots >= 0:
        return 0.0
    closed = min(abs(lots), abs(net.lots))
    return closed * (price - net.price) * (1 if net.lots > 0 else -1)


def _trade(net: _Net, lots: float, price: float, order: int) -> None:
    after = round(net.lots + lots, 8)
    if net.lots * lots >= 0:
        net.position_id = net.position_id if net.lots else order
        net.price = (net.price * abs(net.lots) + price * abs(lots)) / abs(after)
    elif net.lots * after < 0:
        net.position_id, net.price = order, price
    net.lots = after


def _result(identifier: int, deal: np.void, left: bool) -> SignalResult:
    return SignalResult(
        id=identifier,
        deal=int(deal["ticket"]),
        order=int(deal["order"]),
        time_msc=int(deal["time_msc"]),
        lots=float(deal["volume"]),
        price=float(deal["price"]),
        retcode=_DONE_PARTIAL if left else _DONE,
        status=SignalStatus.PARTIAL if left else SignalStatus.EXECUTED,
        text="",
    )


def _refusal(
    request: Signal | Order | Wish, status: SignalStatus, retcode: int, text: str
) -> SignalResult:
    return SignalResult(request.id, 0, 0, 0, 0.0, 0.0, retcode, status, text)
