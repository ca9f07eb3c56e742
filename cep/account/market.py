"""How orders are filled, apart from what the ticks say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from cep.account.account_file import AccountFile, read_account
from cep.account.harsher import AS_TOLD, Harsher
from mt5bridge.broker import Specification, Terms
from mt5bridge.orders import Limits

MAGIC = 77
"""Of orders, where nobody says another: that of the daemon's settings."""


@dataclass(frozen=True, slots=True)
class Market:
    """At which account, how much later than their cause, how many points worse than the quote.

    `symbols` are specifications that are known, others are as `account` says. Where nobody says
    anything, only the point of a symbol is known. `harsher` is how much dearer than all that.
    """

    terms: Terms = field(default_factory=Terms)
    latency_ms: int = 0
    slippage_points: float = 0.0
    magic: int = MAGIC
    symbols: Mapping[str, Specification] = field(default_factory=dict)
    account: AccountFile | None = None
    harsher: Harsher = AS_TOLD

    @property
    def limits(self) -> Limits | None:
        """Of the risk guard, if it has any."""
        return None if self.account is None else self.account.limits

    def specification(self, symbol: str, point: float) -> Specification:
        """What trading a symbol depends on."""
        return self.harsher.specification(self._told(symbol, point))

    def _told(self, symbol: str, point: float) -> Specification:
        slippage = self.slippage_points
        if symbol in self.symbols:
            return self.symbols[symbol]
        if self.account is not None and (part := self.account.part(symbol)) is not None:
            return part.specification(point, slippage)
        return Specification(point, point, slippage_points=slippage)

    def described(self, symbol: str, told: Specification) -> Specification:
        """Of a symbol that a terminal has described: what the account's file says of it counts."""
        if self.account is not None and (part := self.account.part(symbol)) is not None:
            return part.specification(part.point or told.point, self.slippage_points)
        return replace(told, slippage_points=self.slippage_points)


def market_of(
    file: Path | None,
    plain: Terms,
    latency_ms: int,
    slippage_points: float,
    magic: int = MAGIC,
) -> Market:
    """The account of a file, a hedging one where the file or `plain` says so; that of `plain`
    without a file. AccountFileError, OSError.
    """
    account = None if file is None else read_account(file)
    terms = plain if account is None else account.terms(hedging=plain.hedging)
    return Market(terms, latency_ms, slippage_points, magic, account=account)


NEXT_TICK = Market()
"""A netting account; orders fill at the next tick."""
