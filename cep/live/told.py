"""What frames say of a symbol or an account, in the words of an account's file.

What a file could not say is left out: a size of nothing, a currency that is none.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from cep.account.account_file import CURRENCY, MOST
from mt5bridge.wire import AccountMode, Hello, Symbol

_FOK, _IOC = 1, 2  # bits of SYMBOL_FILLING_MODE; without any an order's rest stays
_SIZES = ("point", "tick_size", "contract_size")
_VOLUMES = ("volume_min", "volume_max", "volume_step")


class Spoken(NamedTuple):
    """The keys that a frame speaks of, and what it says; a key without a word is not told."""

    names: frozenset[str]
    words: dict[str, Any]


def words_of(part: Symbol | Hello) -> Spoken:
    """What a part of what a terminal tells says."""
    match part:
        case Symbol():
            return Spoken(_OF_SYMBOL, _symbol(part))
        case Hello():
            return Spoken(_OF_HELLO, _account(part))


_OF_SYMBOL = frozenset({*_SIZES, *_VOLUMES, "filling_modes"})
_OF_HELLO = frozenset({"hedging", "currency", "leverage"})


def _symbol(symbol: Symbol) -> dict[str, Any]:
    sizes = {name: size for name in _SIZES if 0 < (size := getattr(symbol, name)) <= MOST}
    volumes = {name: size for name in _VOLUMES if (size := getattr(symbol, name)) <= MOST}
    if 0 < symbol.volume_max < symbol.volume_min:  # nothing could be traded
        volumes.clear()
    modes = [name for name, bit in (("fok", _FOK), ("ioc", _IOC)) if symbol.filling_modes & bit]
    return {**sizes, **volumes, "filling_modes": modes or ["return"]}


def _account(hello: Hello) -> dict[str, Any]:
    words: dict[str, Any] = {"hedging": hello.account_mode is AccountMode.HEDGING}
    if hello.currency and CURRENCY.fullmatch(hello.currency):
        words["currency"] = hello.currency
    if hello.leverage:
        words["leverage"] = float(hello.leverage)
    return words
