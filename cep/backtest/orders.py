"""Signals that the rules gave, as market orders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

LOTS_DEFAULT = 0.1


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
        lots = LOTS_DEFAULT if row["lots"] is None else row["lots"]
        found.append(
            Order(
                place, row["time_msc"], row["stream"], row["symbol"], row["side"], lots,
                row["stop_points"], row["target_points"], row["time_msc"] + lasting,
            )
        )  # fmt: skip
    return found, without
