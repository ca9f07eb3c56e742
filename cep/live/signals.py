"""Signals found by the rules as signals for a terminal, with ids that survive a crash."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import fields
from typing import Any

from cep.account.orders import Order, UnusableError, order_of
from mt5bridge.orders import Limits
from mt5bridge.spool.identity import is_in_ids
from mt5bridge.wire import (
    TIME_MSC_MAX,
    TIME_MSC_MIN,
    OrderKind,
    Side,
    Signal,
    SignalOrder,
    WireError,
    encode,
)

KINDS = {
    "": OrderKind.MARKET, "limit": OrderKind.LIMIT, "stop": OrderKind.STOP,
    "modify": OrderKind.MODIFY, "cancel": OrderKind.CANCEL,
}  # fmt: skip
SIDES = {"buy": Side.BUY, "sell": Side.SELL}
"""The others open nothing."""


class SignalError(ValueError):
    """A signal that cannot be sent; the message says why."""


def signal_id(
    spool: str, name: str, key: str | None, source: str, stream: str, sequence: int, nth: int = 0
) -> int:
    """The same number whenever the same record leads to the same signal: 63 bits, never 0.

    A tick sent again after a crash gets a new ingest number but keeps its source's sequence, so a
    terminal that has executed the signal recognises it. When a `spool` is lost its sequences begin
    anew, and its name, which is another then, tells new signals from old ones. `nth` tells signals
    of one record apart.
    """
    scope = (spool,) if is_in_ids(spool) else ()
    text = "\0".join((*scope, name, key or "", source, stream, str(sequence), str(nth)))
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1 or 1


def as_signal(
    row: Mapping[str, Any],
    identifier: int,
    magic: int,
    valid_ms: int,
    says: Collection[str] = (),
    lots_most: float = 0.0,
) -> Signal:
    """The wire's signal of an output row; `valid_ms` where the rule says no time.

    `says` and `lots_most` are as for `order_of`.
    SignalError when a number or a text does not fit.
    """
    try:
        order = order_of(row, valid_ms, says=says, lots_most=lots_most)
        signal = signal_of(order, identifier, magic)
        encode(signal)  # what is journalled has to be sent
    except UnusableError as problem:
        raise SignalError(f"signal {row['stream']}: {problem.reason}") from None
    except (WireError, OverflowError) as problem:
        detail = problem.detail if isinstance(problem, WireError) else problem
        raise SignalError(f"signal {row['stream']}: {detail}") from None
    return signal


def signal_of(order: Order, identifier: int, magic: int) -> Signal:
    """The wire's signal of what a row wants: one with prices where it says any."""
    time_msc = max(TIME_MSC_MIN, min(order.time_msc, TIME_MSC_MAX))
    found = Signal(
        id=identifier,
        time_msc=time_msc,
        valid_until_msc=min(time_msc + order.valid_until_msc - order.time_msc, TIME_MSC_MAX),
        magic=magic,
        lots=order.lots,
        stop_points=float(order.stop_points or 0),
        target_points=float(order.target_points or 0),
        side=SIDES.get(order.side, Side.CLOSE),
        name=order.signal,
        symbol=order.symbol,
    )
    if order.is_plain or order.side == "close":
        return found
    return SignalOrder(
        **{one.name: getattr(found, one.name) for one in fields(found)},
        kind=KINDS[order.kind if order.opens else order.side],
        price=order.price,
        stop=order.stop,
        target=order.target,
        stop_distance=order.stop_distance,
        target_distance=order.target_distance,
        risk_percent=order.risk_percent,
    )


def lots_most(limits: Limits, magic: int) -> float:
    """What one order with a magic number may have, all limits of it together; 0: no limit."""
    own = [one.limits for one in limits.named if one.magic == magic]
    return min((one.lots_per_order for one in (limits, *own) if one.lots_per_order), default=0.0)
