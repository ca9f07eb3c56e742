"""What orders come to at a market that is harsher than the one that was told."""

from __future__ import annotations

from dataclasses import dataclass

from cep.backtest.metrics import Metrics, metrics
from cep.backtest.simulate import Outcome


@dataclass(frozen=True, slots=True)
class Trial:
    """Results of all trades, the deepest fall of the equity, and how many orders were not filled.

    `digits` are those of the account's money, None where there is none.
    """

    results: Metrics
    drawdown: float
    not_filled: int
    digits: int | None

    @classmethod
    def of(cls, outcome: Outcome, span_ms: int) -> Trial:
        """Of a whole run, which lasted so long."""
        return cls(
            metrics(outcome.trades, span_ms), outcome.equity.drawdown,
            sum(outcome.refused.values()), outcome.money.digits,
        )  # fmt: skip
