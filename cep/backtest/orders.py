"""Signals that the rules gave, as market orders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cep.account.market import NEXT_TICK, Market
from mt5bridge.broker import REQUEST, Table, codes

LOTS_DEFAULT = 0.1
_TYPES = {"buy": codes.BUY, "sell": codes.SELL, "close": codes.BUY}


@dataclass(frozen=True, slots=True)
class Order:
    """A market order; `order` is the place in the total order of the record that caused it."""

    order: int
    time_msc: int
    signal: str
    symbol: str
    side: str
    lots: float
    stop_points: int | None
    target_points: int | None
    valid_until_msc: int


def orders(
    signals: Iterable[tuple[int, Mapping[str, Any]]], valid_ms: int
) -> tuple[list[Order], int]:
    """Orders of (place, signal row) pairs, and how many signals named no symbol.

    `valid_ms` is how long a signal is good whose rule says no time.
    """
    found, without = [], 0
    for place, row in signals:
        if not row["symbol"]:
            without += 1
            continue
        lasting = valid_ms if row["valid_ms"] is None else row["valid_ms"]
        found.append(
            Order(
                place, row["time_msc"], row["stream"], row["symbol"], row["side"],
                row["lots"] or LOTS_DEFAULT, row["stop_points"], row["target_points"],
                row["time_msc"] + lasting,
            )
        )  # fmt: skip
    return found, without


def as_requests(
    orders: Sequence[Order], rows: Mapping[str, int], market: Market = NEXT_TICK, first_tag: int = 1
) -> Table:
    """REQUEST, one for each order, whose tags count from the first on; `rows` are the symbols'.

    They wait for a tick that is the market's latency later than what caused them, at least.
    """
    found = np.zeros(len(orders), REQUEST)
    found["tag"] = np.arange(first_tag, first_tag + len(orders))
    found["magic"] = market.magic
    for request, order in zip(found, orders, strict=True):
        closes = order.side == "close"
        request["action"] = codes.CLOSE if closes else codes.DEAL
        request["type"], request["symbol"] = _TYPES[order.side], rows[order.symbol]
        request["after"] = order.order
        request["earliest_msc"] = order.time_msc + market.latency_ms
        request["valid_until_msc"] = order.valid_until_msc
        if not closes:  # which means all of it
            request["lots"] = order.lots
            request["stop_points"] = order.stop_points or 0
            request["target_points"] = order.target_points or 0
    return found
