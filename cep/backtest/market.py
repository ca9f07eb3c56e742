"""How a run's orders are filled, apart from what its archive says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mt5bridge.broker import Specification, Terms

MAGIC = 77
"""Of orders, where nobody says another: that of the daemon's settings."""


@dataclass(frozen=True, slots=True)
class Market:
    """At which account, how much later than their cause, how many points worse than the quote.

    `symbols` are specifications that are known; of others only the point is.
    """

    terms: Terms = field(default_factory=Terms)
    latency_ms: int = 0
    slippage_points: float = 0.0
    magic: int = MAGIC
    symbols: Mapping[str, Specification] = field(default_factory=dict)

    def specification(self, symbol: str, point: float) -> Specification:
        """What trading a symbol depends on."""
        slippage = self.slippage_points
        return self.symbols.get(symbol) or Specification(point, point, slippage_points=slippage)


NEXT_TICK = Market()
"""A netting account; orders fill at the next tick."""
