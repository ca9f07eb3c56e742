"""What the daemon's risk guard allows."""

from __future__ import annotations

import math
from dataclasses import dataclass

MINUTES_A_DAY = 24 * 60
_SIZES = ("lots_per_order", "lots_per_symbol", "lots_per_day", "orders_per_minute", "loss_per_day")


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of what opens positions; 0, and no symbols, mean no limit.

    Lots are summed over terminals, and over both directions. `loss_per_day` is in the currency of
    each account. A signal without lots counts as `lots_assumed`. A day begins so many minutes
    after midnight UTC. `named` are limits of single strategies, which hold beside these. ValueError
    names what is no such number: a limit that is infinite or not a number would hold nothing back.
    """

    lots_per_order: float = 0.0
    lots_per_symbol: float = 0.0
    lots_per_day: float = 0.0
    orders_per_minute: int = 0
    symbols: tuple[str, ...] = ()
    loss_per_day: float = 0.0
    lots_assumed: float = 1.0
    day_begins_minutes: int = 0
    dry_run: bool = False
    named: tuple[NamedLimits, ...] = ()

    def __post_init__(self) -> None:
        for name in _SIZES:
            size = getattr(self, name)
            if not (math.isfinite(size) and size >= 0):
                raise ValueError(f"{name} = {size}: use a number of 0 or more; 0 is no limit")
        if not (math.isfinite(self.lots_assumed) and self.lots_assumed > 0):
            raise ValueError(f"lots_assumed = {self.lots_assumed}: use a number above 0")
        if not 0 <= self.day_begins_minutes < MINUTES_A_DAY:
            raise ValueError(f"day_begins_minutes = {self.day_begins_minutes}: use 0 to 1439")

    def day(self, utc_msc: int) -> int:
        """The number of the trading day of a moment."""
        return (utc_msc // 60_000 - self.day_begins_minutes) // MINUTES_A_DAY


@dataclass(frozen=True, slots=True)
class NamedLimits:
    """Limits of the requests and deals with one magic number."""

    name: str
    magic: int
    limits: Limits
