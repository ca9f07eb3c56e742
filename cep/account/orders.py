"""What the row of a signal asks for: the one reading of it, for terminals, paper and backtests."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

LOTS_DEFAULT = 0.1
"""Of a signal that opens and says no lots."""
NO_SYMBOL = "no symbol"
PERCENT_MAX = 100
FAR = "is farther away than half the price: a distance is written `by`"
SIDES = ("buy", "sell", "close", "modify", "cancel")
KINDS = ("limit", "stop")
_LEVELS = ("stop", "target")
_LEVEL_NAMES = tuple(f"{name}{form}" for name in _LEVELS for form in ("", "_points", "_distance"))
_COMPUTED = ("risk_percent", "price", "stop", "target", "stop_distance", "target_distance")
_SAID = ("lots", "stop_points", "target_points")


class UnusableError(ValueError):
    """A signal of which nothing becomes; `reason` is what it is counted as."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Order:
    """What a signal wants; `order` is the place in the total order of the record that caused it.

    `side` is `buy`, `sell`, `close`, `modify` (another stop or target for what is held) or `cancel`
    (of what is pending). `kind` is that of a pending order at `price`, `limit` or `stop`; empty: at
    the market. Stop and target are prices, distances in prices, or in points. Numbers that are 0
    are not said; a close without lots closes all. With `risk_percent` the stop costs so much of the
    account's equity, and `lots` are the most.
    """

    order: int
    time_msc: int
    signal: str
    symbol: str
    side: str
    lots: float
    stop_points: float | None
    target_points: float | None
    valid_until_msc: int
    kind: str = ""
    price: float = 0.0
    stop: float = 0.0
    target: float = 0.0
    stop_distance: float = 0.0
    target_distance: float = 0.0
    risk_percent: float = 0.0

    @property
    def opens(self) -> bool:
        """Whether it may open a position or make one larger."""
        return self.side in ("buy", "sell")

    @property
    def changes(self) -> bool:
        """Whether it deals nothing: it is about what is held, or pending."""
        return self.side in ("modify", "cancel")

    @property
    def lots_wanted(self) -> float:
        """What it trades; 0 closes all, or what the risk allows."""
        return self.lots or (LOTS_DEFAULT if self.opens and not self.risk_percent else 0.0)

    @property
    def is_plain(self) -> bool:
        """Whether side, lots and points are all that it says, of an order that deals."""
        levels = self.stop or self.target or self.stop_distance or self.target_distance
        return not (self.changes or self.kind or self.risk_percent or self.price or levels)

    def points(self, name: str, point: float) -> float:
        """How far `stop` or `target` is, where it is said as a distance; 0: it is not."""
        distance: float = getattr(self, f"{name}_distance")
        return distance / point if distance else float(getattr(self, f"{name}_points") or 0)


def order_of(
    row: Mapping[str, Any],
    valid_ms: int,
    place: int = 0,
    says: Collection[str] = (),
    lots_most: float = 0.0,
) -> Order:
    """What a signal's row wants; `valid_ms` where the rule says no time.

    `says` names what the rule asks for of the numbers that each row has; those of others are null.
    What is sized by risk gets `lots_most` at most, 0: no limit.
    A number that the rule asks for and that could not be computed, or that is not above 0, makes
    the whole signal unusable: an order without the stop that was meant is worse than none.
    UnusableError says why.
    """
    if not row["symbol"]:
        raise UnusableError(NO_SYMBOL)
    said = {name: _said(name, row[name], name in says) for name in _SAID}
    computed = {name: _size(name, row[name]) for name in _COMPUTED if name in row}
    lasting = row["valid_ms"]
    if lasting is None and "valid_ms" in says:
        raise UnusableError("time could not be computed")
    lasting = valid_ms if lasting is None else lasting
    if lasting < 0:
        raise UnusableError("time is below 0")
    lots = lots_most if "risk_percent" in computed else said["lots"] or 0.0
    found = Order(
        place, row["time_msc"], row["stream"], row["symbol"], row["side"], lots,
        said["stop_points"], said["target_points"], row["time_msc"] + lasting,
        kind=row.get("order") or "", **computed,
    )  # fmt: skip
    _check(found)
    return found


def _said(name: str, value: Any, is_asked: bool) -> float | None:
    return None if value is None and not is_asked else _size(name, value)


def _size(name: str, value: Any) -> float:
    """A number above 0. UnusableError: it is none."""
    what = name.replace("_", " ")
    try:
        number = math.nan if value is None else float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise UnusableError(f"{what} could not be computed")
    if not number > 0:
        raise UnusableError(f"{what} is not above 0")
    return number


def _check(order: Order) -> None:
    """UnusableError where the parts do not make an order."""
    if order.side not in SIDES:
        raise UnusableError(f"side {order.side} cannot be traded")
    if order.risk_percent and not any((order.stop, order.stop_distance, order.stop_points)):
        raise UnusableError("risk without a stop")
    _check_change(order)
    if order.risk_percent > PERCENT_MAX:
        raise UnusableError(f"risk is above {PERCENT_MAX} percent")
    if order.kind and not (order.kind in KINDS and order.price):
        raise UnusableError(f"a {order.kind} order without a price")
    if order.kind:
        check_far(order, order.price)


def _check_change(order: Order) -> None:
    """UnusableError where one of the sides that deal nothing says too much or too little."""
    if not order.changes:
        return
    levels = [one for one in _LEVEL_NAMES if getattr(order, one)]
    if order.lots or order.kind or order.price or order.risk_percent:
        raise UnusableError(f"a {order.side} with lots or a price")
    if bool(levels) != (order.side == "modify"):
        raise UnusableError(f"a {order.side} {'with' if levels else 'without'} stop or target")


def check_far(order: Order, price: float) -> None:
    """UnusableError where stop or target are too far from the price that the order is to have."""
    for name in _LEVELS:
        level, distance = getattr(order, name), getattr(order, f"{name}_distance")
        if max(abs(level - price) if level else 0.0, distance) > price / 2:
            raise UnusableError(f"{name} {FAR}")
