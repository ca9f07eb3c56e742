"""A trading account that executes signals at once, each of them at most once."""

from __future__ import annotations

from collections.abc import Sequence
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
from mt5bridge.wire import Side, Signal, SignalResult, SignalStatus, Symbol

_COMMENT_CHARACTERS = 31  # brokers keep no more
_DONE, _DONE_PARTIAL, _REJECT, _INVALID_EXPIRATION = 10_009, 10_010, 10_006, 10_022
_REASON_EXPERT = 3
_LOTS_DEFAULT = 0.1


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
        self, signal: Signal, symbol: Symbol | None, quote: Quote | None
    ) -> list[SignalResult]:
        """Trade, or tell what came of it when it was asked before; new deals are in `deals`."""
        if signal.id not in self.executed:
            self.executed[signal.id] = self._first(signal, symbol, quote)
        return self.executed[signal.id]

    def _first(
        self, signal: Signal, symbol: Symbol | None, quote: Quote | None
    ) -> list[SignalResult]:
        if symbol is None or quote is None:
            return [_refusal(signal, SignalStatus.REJECTED, _REJECT, "no price for this symbol")]
        utc_msc = quote.time_msc - quote.utc_offset_ms
        if signal.valid_until_msc and utc_msc > signal.valid_until_msc:
            return [_refusal(signal, SignalStatus.EXPIRED, _INVALID_EXPIRATION, "came too late")]
        lots = self._lots(signal)
        if lots == 0:
            return [_refusal(signal, SignalStatus.REJECTED, _REJECT, "no position to close")]
        order, self._ticket = self._ticket, self._ticket + 1
        parts = _parts(abs(lots), self._fills, symbol.volume_step)
        return [
            self._fill(signal, symbol, quote, order, part if lots > 0 else -part, left)
            for part, left in parts
        ]

    def _lots(self, signal: Signal) -> float:
        wanted = signal.lots or _LOTS_DEFAULT
        if signal.side is Side.CLOSE:
            return -self._net(signal).lots
        return wanted if signal.side is Side.BUY else -wanted

    def _net(self, signal: Signal) -> _Net:
        return self._nets.setdefault((signal.symbol, signal.magic), _Net())

    def _fill(
        self,
        signal: Signal,
        symbol: Symbol,
        quote: Quote,
        order: int,
        lots: float,
        left: bool,
    ) -> SignalResult:
        price = quote.ask if lots > 0 else quote.bid
        net = self._net(signal)
        deal = np.zeros(1, DEAL)
        deal["ticket"], deal["order"], deal["time_msc"] = self._ticket, order, quote.time_msc
        deal["volume"], deal["price"] = abs(lots), price
        deal["type"] = DealType.BUY if lots > 0 else DealType.SELL
        deal["entry"] = _entry(net.lots, lots)
        deal["profit"] = _profit(net, lots, price) * symbol.contract_size
        deal["magic"], deal["reason"], deal["kind"] = signal.magic, _REASON_EXPERT, DealKind.ADD
        deal["sl"], deal["tp"] = _levels(signal, lots, price, symbol.point)
        deal["symbol"], deal["comment"] = signal.symbol.encode(), comment(signal)
        _trade(net, lots, price, order)
        deal["position_id"] = net.position_id
        self.deals = np.concatenate([self.deals, deal])
        self._ticket += 1
        return _result(signal, deal[0], left)


def comment(signal: Signal) -> bytes:
    """A deal's comment: the signal's id in 16 hexadecimal digits, and as much name as fits."""
    text = f"{signal.id:016x} {signal.name}"[:_COMMENT_CHARACTERS]
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


def _levels(signal: Signal, lots: float, price: float, point: float) -> tuple[float, float]:
    if signal.side is Side.CLOSE:
        return 0.0, 0.0
    direction = 1 if lots > 0 else -1
    stop = price - direction * signal.stop_points * point if signal.stop_points else 0.0
    target = price + direction * signal.target_points * point if signal.target_points else 0.0
    return stop, target


def _trade(net: _Net, lots: float, price: float, order: int) -> None:
    after = round(net.lots + lots, 8)
    if net.lots * lots >= 0:
        net.position_id = net.position_id if net.lots else order
        net.price = (net.price * abs(net.lots) + price * abs(lots)) / abs(after)
    elif net.lots * after < 0:
        net.position_id, net.price = order, price
    net.lots = after


def _result(signal: Signal, deal: np.void, left: bool) -> SignalResult:
    return SignalResult(
        id=signal.id,
        deal=int(deal["ticket"]),
        order=int(deal["order"]),
        time_msc=int(deal["time_msc"]),
        lots=float(deal["volume"]),
        price=float(deal["price"]),
        retcode=_DONE_PARTIAL if left else _DONE,
        status=SignalStatus.PARTIAL if left else SignalStatus.EXECUTED,
        text="",
    )


def _refusal(signal: Signal, status: SignalStatus, retcode: int, text: str) -> SignalResult:
    return SignalResult(signal.id, 0, 0, 0, 0.0, 0.0, retcode, status, text)
