"""What the crash proof asks for: signals and orders that follow from a seed, like a strategy's."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import fields

from mt5bridge.wire import Order, OrderKind, OrderSide, Side, Signal, SignalOrder

SYMBOL = "EURUSD"
BID, ASK = 1.10000, 1.10010
MAGICS = (11, 22)
_VALID_MS = 1_500  # of pending orders that never fill


def requests(seed: int, count: int, now_msc: int) -> Iterator[Signal | Order]:
    """`count` requests; ids follow from the seed alone, so that a restarted daemon finds them."""
    source = random.Random(seed)
    for _ in range(count):
        number = source.getrandbits(62) | 1 << 62
        draw = source.random()
        lots = source.randint(1, 50) / 100
        magic = source.choice(MAGICS)
        side = source.choice((0, 1))
        if draw < 0.55:
            yield _signal(number, Side(side), lots, magic)
        elif draw < 0.70:
            yield _signal(number, Side.CLOSE, 0.0, magic)
        elif draw < 0.76:
            yield _change(number, OrderKind.MODIFY, magic, source.randint(50, 500) / 1e5)
        elif draw < 0.80:
            yield _change(number, OrderKind.CANCEL, magic, 0.0)
        elif draw < 0.92:
            yield _order(number, OrderKind.MARKET, side, lots, magic, 0.0, 0)
        else:
            price = BID - 0.01 if side == 0 else ASK + 0.01
            valid_msc = now_msc + _VALID_MS
            yield _order(number, OrderKind.LIMIT, side, lots, magic, price, valid_msc)


def meant_for(request: Signal | Order, traders: Sequence[str]) -> str:
    """The one of several traders that a request is for; it follows from the id."""
    return traders[request.id % len(traders)]


def is_close(request: Signal | Order) -> bool:
    """Whether it may take several orders at the broker."""
    return isinstance(request, Signal) and request.side is Side.CLOSE


def is_change(request: Signal | Order) -> bool:
    """Whether it deals nothing: other levels, or the end of pending orders."""
    return isinstance(request, SignalOrder) and request.side is Side.CLOSE


def _change(number: int, kind: OrderKind, magic: int, stop_distance: float) -> SignalOrder:
    plain = _signal(number, Side.CLOSE, 0.0, magic)
    known = {one.name: getattr(plain, one.name) for one in fields(plain)}
    return SignalOrder(
        **known, kind=kind, price=0.0, stop=0.0, target=0.0, stop_distance=stop_distance,
        target_distance=0.0, risk_percent=0.0,
    )  # fmt: skip


def _signal(number: int, side: Side, lots: float, magic: int) -> Signal:
    return Signal(
        id=number,
        time_msc=0,
        valid_until_msc=0,
        magic=magic,
        lots=lots,
        stop_points=0.0,
        target_points=0.0,
        side=side,
        name="crash",
        symbol=SYMBOL,
    )


def _order(
    number: int, kind: OrderKind, side: int, lots: float, magic: int, price: float, valid_msc: int
) -> Order:
    return Order(
        id=number,
        time_msc=0,
        valid_until_msc=valid_msc,
        magic=magic,
        ticket=0,
        lots=lots,
        price=price,
        sl=0.0,
        tp=0.0,
        deviation_points=100,
        kind=kind,
        side=OrderSide(side),
        name="crash",
        symbol=SYMBOL,
    )
