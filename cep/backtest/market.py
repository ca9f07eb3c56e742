"""How a run's orders are filled, apart from what its archive says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cep.backtest.account_file import AccountFile
from mt5bridge.broker import Specification, Terms
from mt5bridge.orders import Limits

MAGIC = 77
"""Of orders, where nobody says another: that of the daemon's settings."""


@dataclass(frozen=True, slots=True)
class Market:
    """At which account, how much later than their cause, how many points worse than the quote.

    `symbols` are specifications that are known, others are as `account` says. Where nobody says
    anything, only the point of a symbol is known.
    """

    terms: Terms = field(default_factory=Terms)
    latency_ms: int = 0
    slippage_points: float = 0.0
    magic: int = MAGIC
    symbols: Mapping[str, Specification] = field(default_factory=dict)
    account: AccountFile | None = None

    @property
    def limits(self) -> Limits | None:
        """Of the risk guard, if it has any."""
        return None if self.account is None else self.account.limits

    def specification(self, symbol: str, point: float) -> Specification:
        """What trading a symbol depends on."""
        slippage = self.slippage_points
        if symbol in self.symbols:
            return self.symbols[symbol]
        if self.account is not None and (part := self.account.part(symbol)) is not None:
            return part.specification(point, slippage)
        return Specification(point, point, slippage_points=slippage)


NEXT_TICK = Market()
"""A netting account; orders fill at the next tick."""
