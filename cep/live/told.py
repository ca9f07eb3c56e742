"""What frames say of a symbol or an account, in the words of an account's file.

What a file could not say is left out: a size of nothing, a currency that is none, swaps that are
reckoned in a way which our broker does not know, the value of a tick in another currency than that
of profits, which it is only at the rate of a moment.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, NamedTuple

from cep.account.account_file import CURRENCY, DAYS, MOST
from mt5bridge.orders.limits import MINUTES_A_DAY as A_DAY
from mt5bridge.wire import AccountMode, Hello, Properties, SwapMode, Symbol, TradeSession

_FOK, _IOC = 1, 2  # bits of SYMBOL_FILLING_MODE; without any an order's rest stays
_SIZES = ("point", "tick_size", "contract_size")
_VOLUMES = ("volume_min", "volume_max", "volume_step")
_SWAPS = ("swap_long", "swap_short")


class Spoken(NamedTuple):
    """The keys that a frame speaks of, and what it says; a key without a word is not told."""

    names: frozenset[str]
    words: dict[str, Any]


def words_of(part: Symbol | Properties | Hello, currency: str = "") -> Spoken:
    """What a part of what a terminal tells says, whose account has a currency."""
    match part:
        case Symbol():
            return Spoken(_OF_SYMBOL, _symbol(part))
        case Properties():
            return Spoken(_OF_PROPERTIES, _properties(part, currency))
        case Hello():
            return Spoken(_OF_HELLO, _account(part))


_OF_SYMBOL = frozenset({*_SIZES, *_VOLUMES, "filling_modes"})
_OF_PROPERTIES = frozenset(
    {"stops_level_points", "freeze_level_points", "profit_currency", "swap_mode", *_SWAPS,
     "swap_triple_day", "sessions", "tick_value"}
)  # fmt: skip
_OF_HELLO = frozenset({"hedging", "currency", "leverage"})


def _symbol(symbol: Symbol) -> dict[str, Any]:
    sizes = {name: size for name in _SIZES if 0 < (size := getattr(symbol, name)) <= MOST}
    volumes = {name: size for name in _VOLUMES if (size := getattr(symbol, name)) <= MOST}
    if 0 < symbol.volume_max < symbol.volume_min:  # nothing could be traded
        volumes.clear()
    modes = [name for name, bit in (("fok", _FOK), ("ioc", _IOC)) if symbol.filling_modes & bit]
    return {**sizes, **volumes, "filling_modes": modes or ["return"]}


def _properties(found: Properties, currency: str) -> dict[str, Any]:
    words: dict[str, Any] = {
        "stops_level_points": float(found.stops_level_points),
        "freeze_level_points": float(found.freeze_level_points),
    }
    if found.profit_currency and CURRENCY.fullmatch(found.profit_currency):
        words["profit_currency"] = found.profit_currency
        if found.profit_currency == currency and 0 < found.tick_value <= MOST:
            words["tick_value"] = found.tick_value
    if found.swap_mode is SwapMode.NONE:
        words["swap_mode"] = "none"
    elif found.swap_mode is not SwapMode.UNTOLD and max(map(abs, _swaps(found))) <= MOST:
        words["swap_mode"] = found.swap_mode.name.lower()
        words |= dict(zip(_SWAPS, _swaps(found), strict=True))
        words["swap_triple_day"] = DAYS[found.swap_triple_day]
    if found.sessions:
        words["sessions"] = list(_sessions(found.sessions))
    return words


def _swaps(found: Properties) -> tuple[float, float]:
    return found.swap_long, found.swap_short


def _sessions(sessions: Iterable[TradeSession]) -> Iterator[str]:
    """Such as `monday-friday 00:05-23:55`: days that follow each other and are alike together."""
    by_day = [
        (day, [(one.from_minute - day * A_DAY, one.to_minute - day * A_DAY) for one in own])
        for day, own in groupby(sessions, lambda one: one.from_minute // A_DAY)
    ]
    for _, alike in groupby(enumerate(by_day), lambda one: (one[1][0] - one[0], one[1][1])):
        run = [day for _, day in alike]
        (first, spans), (last, _) = run[0], run[-1]
        days = DAYS[first] if first == last else f"{DAYS[first]}-{DAYS[last]}"
        yield from (f"{days} {_clock(begin)}-{_clock(end)}" for begin, end in spans)


def _clock(minute: int) -> str:
    hours, minutes = divmod(minute, 60)
    return f"{hours:02}:{minutes:02}"


def _account(hello: Hello) -> dict[str, Any]:
    words: dict[str, Any] = {"hedging": hello.account_mode is AccountMode.HEDGING}
    if hello.currency and CURRENCY.fullmatch(hello.currency):
        words["currency"] = hello.currency
    if hello.leverage:
        words["leverage"] = float(hello.leverage)
    return words
