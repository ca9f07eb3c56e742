"""What the daemon's risk guard allows."""

from __future__ import annotations

from dataclasses import dataclass

MINUTES_A_DAY = 24 * 60


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of what opens positions; 0, and no symbols, mean no limit.

    Lots are summed over terminals, and over both directions. `loss_per_day` is in the currency of
    each account. A signal without lots counts as `lots_assumed`. A day begins so many minutes
    after midnight UTC.
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

    def day(self, utc_msc: int) -> int:
        """The number of the trading day of a moment."""
        return (utc_msc // 60_000 - self.day_begins_minutes) // MINUTES_A_DAY
