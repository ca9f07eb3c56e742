"""Signals that the rules gave, as orders that wait for their ticks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from cep.account.market import NEXT_TICK, Market
from cep.account.orders import Order, UnusableError, order_of
from mt5bridge.broker import REQUEST, Table, codes

NOTHING: Mapping[str, Collection[str]] = MappingProxyType({})
_ACTIONS = {
    "close": codes.CLOSE, "modify": codes.CHANGE_HELD, "cancel": codes.CANCEL_HELD,
}  # fmt: skip
_TYPES = {
    ("buy", ""): codes.BUY,
    ("sell", ""): codes.SELL,
    ("buy", "limit"): codes.BUY_LIMIT,
    ("sell", "limit"): codes.SELL_LIMIT,
    ("buy", "stop"): codes.BUY_STOP,
    ("sell", "stop"): codes.SELL_STOP,
}


def orders(
    signals: Iterable[tuple[int, Mapping[str, Any]]],
    valid_ms: int,
    says: Mapping[str, Collection[str]] = NOTHING,
    lots_most: float = 0.0,
) -> tuple[list[Order], Counter[str]]:
    """Orders of (place, signal row) pairs, and why others became none, counted by reason.

    `valid_ms` is how long a signal is good whose rule says no time; `says` is what each rule asks
    for, by its name.
    """
    found, unusable = [], Counter[str]()
    for place, row in signals:
        try:
            asked = says.get(row["stream"], ())
            found.append(order_of(row, valid_ms, place, asked, lots_most))
        except UnusableError as problem:
            unusable[problem.reason] += 1
    return found, unusable


def as_requests(
    orders: Sequence[Order],
    rows: Mapping[str, int],
    points: Mapping[str, float],
    market: Market = NEXT_TICK,
    first_tag: int = 1,
) -> Table:
    """REQUEST, one for each order, whose tags count from the first on; `rows` and `points` are the
    symbols'.

    They wait for a tick that is the market's latency later than what caused them, at least.
    """
    return np.array(
        [
            _request(tag, order, rows[order.symbol], points[order.symbol], market)
            for tag, order in enumerate(orders, first_tag)
        ],
        REQUEST,
    )


def _request(
    tag: int, order: Order, row: int, point: float, market: Market
) -> tuple[int | float, ...]:
    """A row of REQUEST: a market order, one that waits at its price until its time has passed, or a
    change of what is there. Writing field by field takes several times as long.
    """
    opens, levels = order.opens, order.opens or order.side == "modify"
    is_pending = opens and bool(order.kind)
    return (
        tag,
        codes.PENDING if is_pending else _ACTIONS.get(order.side, codes.DEAL),
        _TYPES[order.side, order.kind] if opens else 0,
        0,  # filling
        row,
        market.magic,
        0,  # order
        0,  # position
        order.valid_until_msc if is_pending else 0,
        order.order,
        order.time_msc + market.latency_ms,
        order.valid_until_msc,
        order.lots_wanted,
        order.price if opens else 0.0,
        0.0,  # limit_price
        order.stop if levels else 0.0,
        order.target if levels else 0.0,
        order.points("stop", point) if levels else 0.0,
        order.points("target", point) if levels else 0.0,
        order.risk_percent if opens else 0.0,
        int(levels and not order.is_plain),
        0,  # is_halted
    )
