"""How orders are filled, apart from what the ticks say."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from cep.account.account_file import AccountFile, read_account
from cep.account.harsher import AS_TOLD, Harsher
from cep.account.rates import RateError, Route, route_of
from cep.account.slippage import NONE, Slippage, slippage_of
from mt5bridge.broker import Specification, Terms
from mt5bridge.orders import Limits

MAGIC = 77
"""Of orders, where nobody says another: that of the daemon's settings."""


@dataclass(frozen=True, slots=True)
class Market:
    """At which account, how much later than their cause, how many points worse than the quote, and
    what comes to these.

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
    slippage: Slippage = NONE

    @property
    def limits(self) -> Limits | None:
        """Of the risk guard, if it has any."""
        return None if self.account is None else self.account.limits

    def specification(self, symbol: str, point: float) -> Specification:
        """What trading a symbol depends on."""
        return self.harsher.specification(self._told(symbol, point))

    def _told(self, symbol: str, point: float) -> Specification:
        if symbol in self.symbols:
            return self.symbols[symbol]
        if self.account is not None and (part := self.account.part(symbol)) is not None:
            return part.specification(point, self.slippage_points, self.slippage)
        return self._slipping(Specification(point, point))

    def described(self, symbol: str, told: Specification) -> Specification:
        """Of a symbol that a terminal has described: what the account's file says of it counts."""
        if self.account is not None and (part := self.account.part(symbol)) is not None:
            point = part.point or told.point
            return part.specification(point, self.slippage_points, self.slippage)
        return self._slipping(told)

    def route(self, symbol: str, available: Collection[str]) -> Route:
        """How the currency of a symbol's profits becomes the account's. RateError."""
        told = "" if self.account is None else self.account.profit_currency(symbol)
        return route_of(symbol, told, self.terms.currency, available)

    def pairs(self, symbols: Iterable[str], available: Collection[str]) -> set[str]:
        """All pairs that convert profits of these symbols, as far as there are any."""
        found: set[str] = set()
        for symbol in symbols if self.terms.currency else ():
            with suppress(RateError):
                found.update(name for name, _ in self.route(symbol, available))
        return found

    def _slipping(self, told: Specification) -> Specification:
        return replace(told, slippage_points=self.slippage_points, **asdict(self.slippage))


def market_of(
    file: Path | None,
    plain: Terms,
    latency_ms: int,
    slippage: float | str,
    magic: int = MAGIC,
) -> Market:
    """The account of a file, a hedging one where the file or `plain` says so; that of `plain`
    without a file. `slippage` is points, or a text as that of `--slippage`. AccountFileError,
    OSError; SlippageError for such a text.
    """
    points, more = slippage_of(slippage)
    account = None if file is None else read_account(file)
    terms = plain if account is None else account.terms(hedging=plain.hedging)
    return Market(terms, latency_ms, points, magic, account=account, slippage=more)


NEXT_TICK = Market()
"""A netting account; orders fill at the next tick."""
