"""Which pairs convert the currency of a symbol's profits into that of the account."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from cep.account.account_file import section
from mt5bridge.broker import Specification
from mt5bridge.broker.rates import DIRECT, INVERSE

Route = tuple[tuple[str, int], ...]
"""Symbols and their ways (`mt5bridge.broker.rates`): none, a pair, or two of a cross."""
QUOTED = Specification(0.0)
"""Of a pair that nobody trades."""
PAIR = re.compile(r"([A-Z]{3})([A-Z]{3})(?![A-Z0-9])")
SUFFIX = re.compile(r"(?![A-Z0-9]).*")
"""What brokers write behind the currencies of a pair, as in EURUSD.m."""
FIRST = ("USD", "EUR", "GBP", "JPY", "CHF")
"""The currencies that crosses go through first; others follow by their names."""


class RateError(ValueError):
    """A currency that cannot be converted; `hint` says what to do about it."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def currencies(name: str) -> tuple[str, str] | None:
    """The two of a pair by its name, such as EURUSD or XAUEUR.m; None: it looks like none."""
    match = PAIR.match(name)
    return None if match is None else (match[1], match[2])


def profit_currency(name: str, told: str) -> str:
    """What a symbol's profits are in: what is told of it, else what its name says. RateError."""
    pair = currencies(name)
    if told or pair:
        return told or (pair[1] if pair else "")
    raise RateError(
        f"the currency of {name}'s profits is not known",
        f'say profit_currency = "EUR" or such in {section(name)} of the account\'s file',
    )


def route_of(name: str, told: str, account: str, available: Iterable[str]) -> Route:
    """From a symbol's profits to the currency `account`, at pairs that are `available`; none where
    no currency is said. A direct pair is taken before an inverse one, both before a cross.

    RateError says which rate is missing.
    """
    if not account or (profit := profit_currency(name, told)) == account:
        return ()
    names = sorted(available, key=lambda one: (len(one), one))
    if step := _step(profit, account, names):
        return (step,)
    for between in _between(names):
        first, second = _step(profit, between, names), _step(between, account, names)
        if first and second and between not in (profit, account):
            return (first, second)
    raise RateError(
        f"{name} brings {profit}, the account has {account}, and there are no ticks of "
        f"{profit}{account}, {account}{profit} or two pairs that lead from one to the other",
        f"import ticks of {profit}{account}, or say another profit_currency in {section(name)} of "
        'the account\'s file, or `currency = ""` in [account]: then nothing is converted',
    )


def _step(given: str, wanted: str, names: Sequence[str]) -> tuple[str, int] | None:
    """The first pair of two currencies, however long their names are."""
    for way, pair in ((DIRECT, given + wanted), (INVERSE, wanted + given)):
        for name in names:
            if name.startswith(pair) and SUFFIX.fullmatch(name, len(pair)):
                return name, way
    return None


def _between(names: Sequence[str]) -> list[str]:
    """Currencies that a cross may go through."""
    known = {currency for name in names for currency in currencies(name) or ()}
    return sorted(known, key=lambda one: (FIRST.index(one) if one in FIRST else len(FIRST), one))
