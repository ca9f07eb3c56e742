"""Orders as people and programs ask for them, and what a request means for risk."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Literal, TypeAlias

import msgspec

from mt5bridge.server import Request
from mt5bridge.wire import (
    Order,
    OrderKind,
    OrderSide,
    Side,
    Signal,
    SignalOrder,
    SignalResult,
    SignalStatus,
    WireError,
    encode,
)

OrderAction: TypeAlias = Literal["market", "limit", "stop", "modify", "cancel", "close"]

_KINDS = {kind.name.lower(): kind for kind in OrderKind}
_SIDES = {"buy": OrderSide.BUY, "sell": OrderSide.SELL, "": OrderSide.NONE}
_OPENING = (OrderKind.MARKET, OrderKind.LIMIT, OrderKind.STOP)
_RANGES = {
    "ticket": (0, 2**64 - 1),
    "magic": (-(2**63), 2**63 - 1),
    "valid_seconds": (0, 1_000_000_000),
    "deviation_points": (0, 2**32 - 1),
}


class OrderError(ValueError):
    """An order that cannot be asked for; the message says what is missing."""


class OrderRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An order by its client's id; None takes the daemon's setting, 0 means "not given"."""

    client_id: str
    kind: OrderAction = "market"
    symbol: str = ""
    side: Literal["buy", "sell", ""] = ""
    lots: float = 0.0
    price: float = 0.0
    sl: float = 0.0
    tp: float = 0.0
    ticket: int = 0
    terminal: str | None = None
    magic: int | None = None
    valid_seconds: int | None = None
    deviation_points: int | None = None


class Defaults(msgspec.Struct, frozen=True, kw_only=True):
    """What an order gets that does not say it."""

    terminal: str | None = None
    magic: int = 78
    valid_seconds: int = 60
    deviation_points: int = 20


def order_id(client_id: str) -> int:
    """The number of a client's id: 63 bits, never 0, the same always."""
    digest = hashlib.blake2b(b"order\0" + client_id.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1 or 1


def as_order(request: OrderRequest, defaults: Defaults, now_msc: int) -> Order:
    """The wire's order; OrderError when something is missing or wrong."""
    if not request.client_id:
        raise OrderError("client_id is empty: it makes an order happen once only")
    _check_numbers(request)
    seconds = _or(request.valid_seconds, defaults.valid_seconds)
    try:
        order = Order(
            id=order_id(request.client_id),
            time_msc=now_msc,
            valid_until_msc=now_msc + 1_000 * seconds if seconds else 0,
            magic=_or(request.magic, defaults.magic),
            ticket=request.ticket,
            lots=request.lots,
            price=request.price,
            sl=request.sl,
            tp=request.tp,
            deviation_points=_or(request.deviation_points, defaults.deviation_points),
            kind=_KINDS[request.kind],
            side=_SIDES[request.side],
            name=request.client_id,
            symbol=_symbol(request),
        )
        encode(order)  # numbers and texts must fit: what is journalled has to be sent
    except WireError as problem:
        raise OrderError(f"{_named(request)}: {problem.detail}") from None
    except (TypeError, OverflowError):
        raise OrderError(f"{_named(request)}: its sizes and prices are no numbers") from None
    except UnicodeEncodeError:
        raise OrderError(f"{_named(request)}: its client_id is no text") from None
    return order


def _named(request: OrderRequest) -> str:
    return f"order {request.client_id!r:.80}"


def _check_numbers(request: OrderRequest) -> None:
    for name, (least, most) in _RANGES.items():
        value = getattr(request, name)
        if value is not None and not least <= value <= most:
            raise OrderError(f"{_named(request)}: {name} {value} is not {least} to {most}")


def _symbol(request: OrderRequest) -> str:
    if _KINDS[request.kind] in _OPENING and not request.symbol:
        raise OrderError(f"{_named(request)}: {request.kind.upper()} needs a symbol")
    return request.symbol


def _or(value: int | None, usual: int) -> int:
    return usual if value is None else value


def opens(request: Request) -> bool:
    """Whether a request can open or enlarge a position; what cannot is never refused."""
    if isinstance(request, Signal):
        return request.side is not Side.CLOSE
    return request.kind in _OPENING


def numbers(request: Request) -> list[tuple[str, float]]:
    """What a request says in numbers that must be finite and not negative."""
    names: tuple[str, ...] = ("lots", "stop_points", "target_points")
    if isinstance(request, SignalOrder):
        names += ("price", "stop", "target", "stop_distance", "target_distance", "risk_percent")
    if isinstance(request, Order):
        names = ("lots", "price", "sl", "tp", "deviation_points")
    return [(name, getattr(request, name)) for name in names]


def differs(one: Request, other: Request) -> bool:
    """Whether two requests with one id want different things; when is left to the first."""
    return _timeless(one) != _timeless(other)


def _timeless(request: Request) -> Request:
    return replace(request, time_msc=0, valid_until_msc=0)


def described(request: Request) -> str:
    """A request in words: `buy limit 0.3 lots EURUSD at 1.25`, `modify EURUSD stop by 0.002`."""
    if isinstance(request, Signal):
        words = [request.side.name.lower(), _lots(request.lots), request.symbol]
        if isinstance(request, SignalOrder) and not opens(request):
            words[0] = request.kind.name.lower()
            words += [*_level(request, "stop"), *_level(request, "target")]
        if isinstance(request, SignalOrder) and request.price:
            words[1:1] = [request.kind.name.lower()]
            words += [f"at {request.price:.10g}"]
        if isinstance(request, SignalOrder) and request.risk_percent:
            words += [f"at a risk of {request.risk_percent:g} percent"]
        return " ".join(word for word in words if word)
    side = "" if request.side is OrderSide.NONE else request.side.name.lower()
    kind = "" if request.kind is OrderKind.MARKET else request.kind.name.lower()
    words = [side, kind, _lots(request.lots), request.symbol]
    words += [f"at {request.price:.10g}"] * bool(request.price)
    words += [f"of {request.ticket}"] * bool(request.ticket)
    return " ".join(word for word in words if word)


def _level(request: SignalOrder, name: str) -> list[str]:
    """What a change says of stop or target; empty: nothing."""
    price, distance = getattr(request, name), getattr(request, f"{name}_distance")
    points = getattr(request, f"{name}_points")
    found = [f"{name} at {price:.10g}"] * bool(price)
    found += [f"{name} by {distance:.10g}"] * bool(distance)
    return found + [f"{name} {points:g} points"] * bool(points)


def _lots(lots: float) -> str:
    return f"{lots:g} lots" if lots else ""


def has_expired(request: Request, market_msc: int) -> bool:
    """Whether it was good until before this time, UTC ms."""
    return bool(request.valid_until_msc) and request.valid_until_msc < market_msc


def not_sent(request: Request, now_msc: int, why: str) -> SignalResult:
    """What became of a request at a terminal that it is not sent to."""
    return SignalResult(request.id, 0, 0, now_msc, 0.0, 0.0, 0, SignalStatus.REJECTED, why)
