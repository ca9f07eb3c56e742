"""What a signal or an order asks of the broker."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mt5bridge.broker import REQUEST, Record, codes
from mt5bridge.wire import Order, OrderKind, OrderSide, Side, Signal, SignalOrder

_LOTS_DEFAULT = 0.1
_ACTIONS = {
    OrderKind.MARKET: codes.DEAL,
    OrderKind.LIMIT: codes.PENDING,
    OrderKind.STOP: codes.PENDING,
    OrderKind.MODIFY: codes.SLTP,
    OrderKind.CANCEL: codes.REMOVE,
    OrderKind.CLOSE: codes.CLOSE,
}
_HELD = {OrderKind.MODIFY: codes.CHANGE_HELD, OrderKind.CANCEL: codes.CANCEL_HELD}
_TYPES = {
    (OrderKind.MARKET, OrderSide.BUY): codes.BUY,
    (OrderKind.MARKET, OrderSide.SELL): codes.SELL,
    (OrderKind.LIMIT, OrderSide.BUY): codes.BUY_LIMIT,
    (OrderKind.LIMIT, OrderSide.SELL): codes.SELL_LIMIT,
    (OrderKind.STOP, OrderSide.BUY): codes.BUY_STOP,
    (OrderKind.STOP, OrderSide.SELL): codes.SELL_STOP,
}


@dataclass(frozen=True, slots=True)
class Wish:
    """A signal or an order, in one form. Zero numbers are not given.

    Stop and target are a distance in points or in prices from the price of execution, or from that
    of a pending order, or prices.
    """

    id: int
    name: str
    symbol: str
    magic: int
    valid_until_msc: int
    kind: OrderKind
    side: OrderSide
    lots: float
    ticket: int = 0
    price: float = 0.0
    sl: float = 0.0
    tp: float = 0.0
    stop_points: float = 0.0
    target_points: float = 0.0
    stop_distance: float = 0.0
    target_distance: float = 0.0
    risk_percent: float = 0.0
    is_priced: bool = False

    @property
    def opens(self) -> bool:
        """Whether it opens a position or makes one larger."""
        return self.kind in (OrderKind.MARKET, OrderKind.LIMIT, OrderKind.STOP)

    @property
    def is_of_held(self) -> bool:
        """Whether it means all that its magic number has of the symbol."""
        return self.kind in _HELD and not self.ticket

    @property
    def text(self) -> str:
        """In words."""
        if self.is_of_held:
            is_change = self.kind is OrderKind.MODIFY
            return "modify what is held" if is_change else "cancel what is pending"
        if self.kind in (OrderKind.MODIFY, OrderKind.CANCEL):
            return f"{self.kind.name.lower()} {self.ticket}"
        verb = self.side.name.lower() if self.opens else "close"
        if self.risk_percent:
            return f"{verb} at a risk of {self.risk_percent:g} percent"
        price = f" at {self.price:g}" if self.opens and self.price else ""
        return f"{verb} {self.lots:g} lots{price}" if self.lots else f"{verb} all"

    def request(self, tag: int, symbol: int, point: float = 1.0) -> Record:
        """A record of REQUEST for the symbol in a row; `ticket` may mean either."""
        request = np.zeros(1, REQUEST)[0]
        request["tag"], request["symbol"], request["magic"] = tag, symbol, self.magic
        request["action"] = (_HELD if self.is_of_held else _ACTIONS)[self.kind]
        request["type"] = _TYPES.get((self.kind, self.side), codes.BUY)
        request["position"] = request["order"] = self.ticket
        for name in ("lots", "price", "sl", "tp", "stop_points", "target_points", "risk_percent"):
            request[name] = getattr(self, name)
        request["is_priced"] = self.is_priced
        for name in ("stop", "target"):
            if distance := getattr(self, f"{name}_distance"):
                request[f"{name}_points"] = distance / point
        return request


def wish_of(request: Signal | Order) -> Wish:
    """What is wanted."""
    if isinstance(request, Signal):
        return _of_signal(request)
    return Wish(
        request.id, request.name, request.symbol, request.magic, request.valid_until_msc,
        request.kind, request.side, request.lots, request.ticket, request.price, request.sl,
        request.tp,
    )  # fmt: skip


def _of_signal(signal: Signal) -> Wish:
    opens = signal.side is not Side.CLOSE
    side = OrderSide.BUY if signal.side is Side.BUY else OrderSide.SELL
    found = Wish(
        signal.id, signal.name, signal.symbol, signal.magic, signal.valid_until_msc,
        OrderKind.MARKET if opens else OrderKind.CLOSE,
        side if opens else OrderSide.NONE,
        signal.lots or (_LOTS_DEFAULT if opens else 0.0),
        stop_points=signal.stop_points if opens else 0.0,
        target_points=signal.target_points if opens else 0.0,
    )  # fmt: skip
    if not isinstance(signal, SignalOrder):
        return found
    return replace(
        found, kind=signal.kind, price=signal.price, sl=signal.stop, tp=signal.target,
        stop_points=signal.stop_points, target_points=signal.target_points,
        stop_distance=signal.stop_distance, target_distance=signal.target_distance,
        risk_percent=signal.risk_percent, is_priced=True,
        lots=signal.lots if signal.risk_percent else found.lots,
    )  # fmt: skip
