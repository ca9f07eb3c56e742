"""What a run knows of its account and symbols: what an archive was told, a file's keys over it.

Terminals are heard from some time on: what one tells first counts for the time before as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from cep.account.account_file import (
    OTHERS,
    AccountFile,
    AccountPart,
    SymbolPart,
    check_account,
    check_symbol,
    laid_over,
    read_account,
)
from cep.account.specifications import Version, file_keys, part_of, without_nulls

Keys = Mapping[str, Any]
Parts = tuple[tuple[int, SymbolPart], ...]
"""What is told of a symbol from times on, UTC ms."""


class SpecificationError(ValueError):
    """What was told does not go together; `hint` says what to do about it."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Known:
    """`account` is None where nothing but sizes of points is known; it `has_account` where files
    speak of one. `points` are those that an archive tells. `tellers` says who told it of symbols,
    and of the account under an empty name; `unused` are terminals whose account is not taken, as
    nobody told how much money there is. `named` are symbols of a file. `changes` is
    what becomes of symbols within the run.
    """

    account: AccountFile | None = None
    has_account: bool = False
    unused: tuple[str, ...] = ()
    points: Mapping[str, float] = field(default_factory=dict)
    tellers: Mapping[str, str] = field(default_factory=dict)
    changes: Mapping[str, Parts] = field(default_factory=dict)
    named: tuple[str, ...] = ()


class _Told(NamedTuple):
    """What an archive was told of a symbol, or the account, and the keys that are put over it."""

    versions: list[Version]
    steps: list[tuple[int, Keys]]
    over: Keys

    @classmethod
    def of(cls, versions: list[Version], over: Keys, interval_msc: tuple[int, int]) -> _Told:
        return cls(versions, list(_steps(versions, interval_msc)), over)

    @property
    def keys(self) -> set[str]:
        """All that are told within the run."""
        return {key for _, found in self.steps for key in found}

    @property
    def tellers(self) -> str:
        """Who told, for people."""
        names = sorted({one.source or "a file" for one in self.versions})
        return " and ".join([*names, *(["--account"] if self.over else [])])

    def parts(self, name: str) -> Parts:
        """As parts of an account's file. SpecificationError."""
        found: list[tuple[int, SymbolPart]] = []
        for since_msc, keys in self.steps:
            try:
                part = part_of(laid_over(keys, self.over), SymbolPart)
                check_symbol(name, part)
            except ValueError as problem:
                raise SpecificationError(
                    f"what the archive was told of {name} does not go together: {problem}", _MEND
                ) from None
            if not found or found[-1][1] != part:
                found.append((since_msc, part))
        return tuple(found)


_MEND = "see `mt5cep archive specifications`, and say what holds: `mt5cep archive specify`"


def known(
    file: Path | None,
    versions: Iterable[Version] = (),
    interval_msc: tuple[int, int] = (0, 0),
    given_points: Mapping[str, float] | None = None,
) -> Known:
    """Of an account's file, if any, and what an archive was told, for a run over an interval, both
    ends included. The keys of the file are put over those of the archive, `given_points` over all.

    AccountFileError, OSError; SpecificationError where what was told does not go together.
    """
    own, keys = AccountFile(), dict[str, dict[str, Any]]()
    if file is not None:
        own, keys = read_account(file), file_keys(file)
    grouped: dict[str, list[Version]] = {}
    for one in versions:
        grouped.setdefault(one.symbol, []).append(one)
    terms, unused = _terms(grouped.pop("", []), keys.pop("", {}), interval_msc)
    symbols: dict[str, _Told] = {}
    for name, told in grouped.items():
        over = dict(keys.get(name) or keys.get(OTHERS) or {})
        if given_points and name in given_points:
            over["point"] = given_points[name]
        if (found := _Told.of(told, over, interval_msc)).keys:
            symbols[name] = found
    parts = {name: one.parts(name) for name, one in symbols.items()}
    firsts = {name: found[0][1] for name, found in parts.items()}
    tellers = {name: one.tellers for name, one in symbols.items()}
    if terms.keys:
        tellers[""] = terms.tellers
    has_account = file is not None or bool(terms.keys)
    is_any = has_account or any(one.keys - {"point"} for one in symbols.values())
    if is_any:
        all_symbols = {**own.symbols, **firsts}
        account = _account(terms, interval_msc)
        own = msgspec.structs.replace(own, account=account, symbols=all_symbols)
    points = {
        name: part.point
        for name, part in firsts.items()
        if part.point and "point" not in symbols[name].over
    }
    changes = {name: found[1:] for name, found in parts.items() if found[1:]}
    named = tuple(sorted(keys.keys() - {OTHERS}))
    return Known(own if is_any else None, has_account, unused, points, tellers, changes, named)


def _terms(
    versions: list[Version], over: Keys, interval_msc: tuple[int, int]
) -> tuple[_Told, tuple[str, ...]]:
    """What is told of the account, and the terminals whose word does not count: margin and results
    in a currency mean nothing where nobody told how much money there is.
    """
    has_money = "balance" in over or any("balance" in one.told for one in versions)
    sources = sorted({one.source for one in versions} - {""})
    if not has_money:
        versions = [one for one in versions if not one.source]
    return _Told.of(versions, over, interval_msc), () if has_money else tuple(sources)


def _steps(
    versions: Iterable[Version], interval_msc: tuple[int, int]
) -> Iterator[tuple[int, Keys]]:
    """What holds of a symbol at the first time of an interval, and from each on that is told in it.

    Files go before terminals, as they are told on purpose.
    """
    first_msc, last_msc = interval_msc
    ordered = sorted(versions, key=lambda one: one.since_msc)
    early, heard, filed = dict[str, Any](), dict[str, Any](), dict[str, Any]()
    for one in ordered:
        if one.source:
            early = without_nulls(one.told) | early
    times = {one.since_msc for one in ordered if first_msc < one.since_msc <= last_msc}
    at = 0
    for time_msc in sorted({first_msc, *times}):
        while at < len(ordered) and ordered[at].since_msc <= time_msc:
            if ordered[at].source:
                heard |= ordered[at].told
            else:
                filed = laid_over(filed, ordered[at].told)
            at += 1
        yield time_msc, without_nulls(laid_over(early | heard, filed))


def _account(told: _Told, interval_msc: tuple[int, int]) -> AccountPart:
    """The one account of a run. SpecificationError where several are told, or it changes."""
    filed = [one for one in told.versions if not one.source]
    sources = sorted({one.source for one in told.versions} - {""}) or [""]
    found: dict[str, tuple[str, Any]] = {}
    for source in sources:
        own = [one for one in told.versions if one.source and one.source == source]
        for since_msc, keys in _steps([*own, *filed], interval_msc):
            for key, value in keys.items():
                who = f"{source or 'a file'} since {time_text(since_msc)}"
                if found.setdefault(key, (who, value))[1] != value and key not in told.over:
                    before, other = found[key]
                    raise SpecificationError(
                        f"the archive knows more than one account: `{key}` is {other} by {before}, "
                        f"{value} by {who}",
                        f"say which: --account FILE with `{key}` in [account]; where it changed, "
                        "run the times apart: --from, --to",
                    )
    keys = {key: value for key, (_, value) in found.items()}
    try:
        part = part_of({**keys, **told.over}, AccountPart)
        check_account(part)
    except ValueError as problem:
        raise SpecificationError(
            f"what the archive was told of the account does not go together: {problem}", _MEND
        ) from None
    return part


def time_text(msc: int) -> str:
    """`2024-03-01T09:30:00.250`, UTC."""
    return datetime.fromtimestamp(msc / 1000, UTC).isoformat(timespec="milliseconds")[:-6]
