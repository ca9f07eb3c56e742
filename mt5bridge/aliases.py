"""What rules call a symbol that a terminal calls otherwise: `EURUSD.m` there, `EURUSD` here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mt5bridge.records import SYMBOL_BYTES
from mt5bridge.wire import WireError
from mt5bridge.wire.checks import check_name

STAR = "*"


class AliasError(ValueError):
    """An alias, or the name that it makes, cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Alias:
    """One line of the settings: a name, or a pattern with one `*`, and what becomes of it."""

    theirs: str
    ours: str

    @property
    def precedence(self) -> tuple[bool, int]:
        """Names come before patterns, and the more of a name is fixed, the earlier."""
        return STAR in self.theirs, -len(self.theirs)

    def applied(self, name: str) -> str | None:
        """What the rules call a terminal's symbol; None when this is not about it."""
        before, star, after = self.theirs.partition(STAR)
        if not star:
            return self.ours if name == self.theirs else None
        is_long = len(name) > len(before) + len(after)
        if not (is_long and name.startswith(before) and name.endswith(after)):
            return None
        return self.ours.replace(STAR, name[len(before) : len(name) - len(after)])


@dataclass(frozen=True, slots=True)
class Aliases:
    """Those of a terminal; the first that is about a name counts, once."""

    lines: tuple[Alias, ...] = ()

    def symbol_of(self, name: str) -> str:
        """What the rules call a terminal's symbol. AliasError when that is no name of a symbol."""
        for line in self.lines:
            symbol = line.applied(name)
            if symbol is not None:
                _check_name(symbol, f"symbol {name}: [aliases] make it")
                return symbol
        return name


NO_ALIASES = Aliases()


@dataclass(frozen=True, slots=True)
class AliasTable:
    """Those of all terminals, and those of an identity and its programs, which come first."""

    of_all: tuple[Alias, ...] = ()
    of_one: Mapping[str, tuple[Alias, ...]] = field(default_factory=dict)

    def of(self, identity: str) -> Aliases:
        """What is said about a terminal; `demo` is also said about `demo/trader`."""
        about = [one for one in self.of_one if identity == one or identity.startswith(f"{one}/")]
        own = [line for one in sorted(about, key=len, reverse=True) for line in self.of_one[one]]
        return Aliases((*own, *self.of_all)) if own or self.of_all else NO_ALIASES


def alias_table(written: Mapping[str, str | Mapping[str, str]]) -> AliasTable:
    """Aliases as the settings have them. AliasError names the one that cannot be used."""
    named = {name: lines for name, lines in written.items() if not isinstance(lines, str)}
    of_all = {theirs: ours for theirs, ours in written.items() if isinstance(ours, str)}
    return AliasTable(_lines(of_all), {name: _lines(lines) for name, lines in named.items()})


def _lines(written: Mapping[str, str]) -> tuple[Alias, ...]:
    lines = [_checked(Alias(theirs, ours)) for theirs, ours in written.items()]
    return tuple(sorted(lines, key=lambda line: line.precedence))


def _checked(line: Alias) -> Alias:
    place = f'"{line.theirs}" = "{line.ours}"'
    if line.theirs.count(STAR) > 1 or line.ours.count(STAR) != line.theirs.count(STAR):
        raise AliasError(
            f'{place}: use one `*` on both sides, such as "*.m" = "*", or none, such as '
            '"GOLD" = "XAUUSD"'
        )
    for text in (line.theirs, line.ours):
        _check_name(text, f"{place}:")
    return line


def _check_name(name: str, place: str) -> None:
    try:
        check_name(name, "symbol", SYMBOL_BYTES)
    except WireError as problem:
        raise AliasError(f"{place} {name!r}, and {problem.detail}") from None
