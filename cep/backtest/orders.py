"""Signals that the rules gave, as orders that wait for their ticks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from cep.account.market import NEXT_TICK, Market
from cep.account.orders import Order, UnusableError, order_of
from mt5bridge.broker import REQUEST, Record, Table, codes

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
    found = np.zeros(len(orders), REQUEST)
    found["tag"] = np.arange(first_tag, first_tag + len(orders))
    found["magic"] = market.magic
    for request, order in zip(found, orders, strict=True):
        request["symbol"], request["after"] = rows[order.symbol], order.order
        request["earliest_msc"] = order.time_msc + market.latency_ms
        request["valid_until_msc"], request["lots"] = order.valid_until_msc, order.lots_wanted
        request["action"] = _ACTIONS.get(order.side, codes.DEAL)
        if order.opens:
            _open(request, order)
        if order.opens or order.side == "modify":
            _set_levels(request, order, points[order.symbol])
    return found


def _open(request: Record, order: Order) -> None:
    """A market order, or one that waits at its price until its time has passed."""
    request["action"] = codes.PENDING if order.kind else codes.DEAL
    request["type"] = _TYPES[order.side, order.kind]
    request["price"], request["risk_percent"] = order.price, order.risk_percent
    if order.kind:
        request["expires_msc"] = order.valid_until_msc


def _set_levels(request: Record, order: Order, point: float) -> None:
    request["sl"], request["tp"] = order.stop, order.target
    for name in ("stop", "target"):
        request[f"{name}_points"] = order.points(name, point)
    request["is_priced"] = not order.is_plain
