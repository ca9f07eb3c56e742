"""Costs that are higher than those that are told: to see whether a result stands them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mt5bridge.broker import Specification


@dataclass(frozen=True, slots=True)
class Harsher:
    """Spreads of ticks are `spread_factor` times as wide, and `spread_points` more; orders slip
    `slippage_factor` times as far, whatever makes them, and `slippage_points` more. A share of the
    spread is one of the spread as it was recorded. Commission and swap are
    `costs_factor` times as high; where they are paid to the account they stay.
    """

    spread_factor: float = 1.0
    spread_points: float = 0.0
    slippage_factor: float = 1.0
    slippage_points: float = 0.0
    costs_factor: float = 1.0

    @property
    def has_other_spreads(self) -> bool:
        """Whether ticks are not those that were recorded."""
        return (self.spread_factor, self.spread_points) != (1.0, 0.0)

    def specification(self, told: Specification) -> Specification:
        """What trading a symbol depends on, where this is told of it."""
        slippage = told.slippage_points * self.slippage_factor + self.slippage_points
        return replace(
            told,
            slippage_points=slippage,
            slippage_spread=told.slippage_spread * self.slippage_factor / self.spread_factor,
            impact_points=told.impact_points * self.slippage_factor,
            slippage_range=told.slippage_range * self.slippage_factor,
            slippage_random_points=told.slippage_random_points * self.slippage_factor,
            commission_per_lot=self._cost(told.commission_per_lot),
            commission_per_mille=self._cost(told.commission_per_mille),
            swap_long=-self._cost(-told.swap_long),
            swap_short=-self._cost(-told.swap_short),
        )

    def _cost(self, amount: float) -> float:
        return amount * self.costs_factor if amount > 0.0 else amount


AS_TOLD = Harsher()
DOUBLED = Harsher(spread_factor=2.0, slippage_factor=2.0, costs_factor=2.0)
"""Every cost that is known is twice as high."""
