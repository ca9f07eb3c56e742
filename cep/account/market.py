"""How orders are filled, apart from what the ticks say."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from cep.account.account_file import MODES, SIDES, AccountFile, SymbolPart, read_account, section
from cep.account.harsher import AS_TOLD, Harsher
from cep.account.known import Known, Parts, SpecificationError, time_text
from cep.account.rates import RateError, Route, route_of
from cep.account.slippage import NONE, Slippage, slippage_of
from mt5bridge.broker import Specification, Terms
from mt5bridge.orders import Limits

MAGIC = 77
"""Of orders, where nobody says another: that of the daemon's settings."""
FIXED = ("point", "contract_size", "profit_currency", "commission_side", "swap_mode")
"""What a run has one of for a symbol: what is open would be worth something else."""
NAMED_MAX = 5
"""Symbols that are named where the same is missing of many."""


@dataclass(frozen=True, slots=True)
class Market:
    """At which account, how much later than their cause, how many points worse than the quote, and
    what comes to these.

    `symbols` are specifications that are known, others are as `account` says. Where nobody says
    anything, only the point of a symbol is known. `harsher` is how much dearer than all that.
    `tellers`, `changes` and `unused` are those of an archive, `named` of a file (`Known`).
    """

    terms: Terms = field(default_factory=Terms)
    latency_ms: int = 0
    slippage_points: float = 0.0
    magic: int = MAGIC
    symbols: Mapping[str, Specification] = field(default_factory=dict)
    account: AccountFile | None = None
    harsher: Harsher = AS_TOLD
    slippage: Slippage = NONE
    tellers: Mapping[str, str] = field(default_factory=dict)
    changes: Mapping[str, Parts] = field(default_factory=dict)
    unused: tuple[str, ...] = ()
    named: tuple[str, ...] = ()

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
        return self.described(symbol, Specification(point, point), point)

    def later(self, symbol: str, first: Specification) -> list[tuple[int, Specification]]:
        """What becomes of a symbol's specification within the run, each from a time on, UTC ms.

        SpecificationError where that is more than a run can change.
        """
        found = []
        for since_msc, part in self.changes.get(symbol, ()):
            point = part.point or first.point
            then = self.harsher.specification(self._of(part, Specification(point, point)))
            for name in FIXED:
                before, after = getattr(first, name), getattr(then, name)
                if before != after:
                    raise SpecificationError(
                        f"{symbol}: its {name} is {_shown(name, before)}, and "
                        f"{_shown(name, after)} from {time_text(since_msc)} on, within the run",
                        "run the times apart: --from, --to; or say what holds for all of it: "
                        f"--account FILE with {name} in {section(symbol)}",
                    )
            found.append((since_msc, then))
        return found

    def described(
        self, symbol: str, told: Specification, point: float | None = None
    ) -> Specification:
        """Of a symbol that a terminal has described: what the account's file says of it counts, key
        by key, and `point` before that.
        """
        part = self.part(symbol)
        return self._of(part, replace(told, point=point or part.point or told.point))

    def knowing(self, symbol: str, part: SymbolPart) -> Market:
        """The same where the account's file says this of a symbol."""
        account = self.account or AccountFile()
        symbols = {**account.symbols, symbol: part}
        return replace(self, account=msgspec.structs.replace(account, symbols=symbols))

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

    def check_told(self, symbols: Iterable[str]) -> None:
        """SpecificationError where these symbols cannot be traded by what is told. Money is
        reckoned with a contract size where the account has money, a loss is limited, or a lot of
        the symbol costs an amount; rates of swap mean nothing without their mode.
        """
        for name in sorted(symbols):
            part = self.part(name)
            if part.swap_mode is None and (part.swap_long or part.swap_short):
                raise SpecificationError(
                    f"a rate of swap is told of {name}, and not what it is",
                    f'say swap_mode = "points", "money", "percent" or "none" in {section(name)} of '
                    "the file of --account",
                )
        untold = [name for name in sorted(symbols) if self._lacks_contract(name)]
        if untold:
            more = f" and {len(untold) - NAMED_MAX:,} more" if len(untold) > NAMED_MAX else ""
            raise SpecificationError(
                f"nobody has told the contract size of {', '.join(untold[:NAMED_MAX])}{more}, and "
                "so not what a lot is worth",
                f"say contract_size in {section(untold[0])} of the file of --account, as the "
                "broker has it: 100000 of most pairs, 1 of most shares; or tell the archive such a "
                "file once: `mt5cep archive specify ARCHIVE FILE`",
            )

    def _lacks_contract(self, symbol: str) -> bool:
        part, account = self.part(symbol), self.account
        is_reckoned = account is not None and (account.has_money or account.limits_losses)
        return not part.has_contract and (is_reckoned or part.costs_money)

    def part(self, symbol: str) -> SymbolPart:
        """What the account's file says of a symbol."""
        found = None if self.account is None else self.account.part(symbol)
        return found or SymbolPart()

    def _of(self, part: SymbolPart, told: Specification) -> Specification:
        return part.specification(told, self.slippage_points, self.slippage)


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
    told = Known(None if file is None else read_account(file), file is not None)
    return market_at(told, plain, latency_ms, slippage, magic)


def market_at(
    told: Known, plain: Terms, latency_ms: int, slippage: float | str, magic: int = MAGIC
) -> Market:
    """As `market_of`, where more may be known than a file says."""
    points, more = slippage_of(slippage)
    account = told.account
    terms = plain
    if account is not None and told.has_account:
        terms = account.terms(plain)
    return Market(
        terms, latency_ms, points, magic, account=account, slippage=more, tellers=told.tellers,
        changes=told.changes, unused=told.unused, named=told.named,
    )  # fmt: skip


def _shown(name: str, value: object) -> str:
    """A value of `FIXED` as an account's file has it."""
    names = {"commission_side": SIDES, "swap_mode": MODES}.get(name, {})
    return next((text for text, code in names.items() if code == value), str(value))


NEXT_TICK = Market()
"""A netting account; orders fill at the next tick."""
