"""What a source told of a symbol, or of its account, and from when on it holds: a line of JSON.

The words are those of an account's file. What is not told is not there, and nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import msgspec

from cep.account.account_file import (
    OTHERS,
    AccountPart,
    SymbolPart,
    check_account,
    check_symbol,
)
from mt5bridge.settings_errors import told as explained

Part = TypeVar("Part", SymbolPart, AccountPart)
FILE = "specifications.jsonl"
"""In the folder of a spool: a version a line, appended as terminals tell them."""


class Version(
    msgspec.Struct,
    frozen=True,
    forbid_unknown_fields=True,
    kw_only=True,
    omit_defaults=True,
    tag_field="entry",
    tag="specification",
):
    """From `since_msc` on, UTC ms (0: always), these keys of `[symbols.NAME]` hold, or of
    `[account]` where `symbol` is empty, until the same key is told again.

    `symbol` is named as in rules; `source` is who told it, a terminal, or empty for a file of the
    user's. A key that is null is not told any more.
    """

    symbol: str = ""
    since_msc: int = 0
    source: str = ""
    told: dict[str, Any]


def check(version: Version) -> None:
    """ValueError for keys or values that an account's file could not have."""
    if version.symbol == OTHERS:
        raise ValueError(f"symbols.{OTHERS}: an archive keeps what is told of symbols by name")
    if version.symbol:
        check_symbol(version.symbol, _part(version.told, SymbolPart))
    else:
        check_account(_part(version.told, AccountPart))


def _part(told: Mapping[str, Any], kind: type[Part]) -> Part:
    """What is told as a section of an account's file. ValueError."""
    try:
        return msgspec.convert(without_nulls(told), kind)
    except msgspec.ValidationError as problem:
        raise ValueError(explained(problem, kind)) from None


def without_nulls(told: Mapping[str, Any]) -> dict[str, Any]:
    """The keys that are told."""
    return {key: value for key, value in told.items() if value is not None}


def encode(version: Version) -> bytes:
    """Its line, with the line's end; the same for the same version."""
    return msgspec.json.encode(version, order="deterministic") + b"\n"


def decode(line: bytes) -> Version:
    """A line read again. ValueError says what is wrong with it."""
    try:
        version = msgspec.json.decode(line, type=Version)
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise ValueError(str(problem)) from None
    check(version)
    return version


def held(versions: Iterable[Version], symbol: str, source: str) -> dict[str, Any]:
    """What a source has told of a symbol (empty: the account), the newest of each key."""
    own = [one for one in versions if (one.symbol, one.source) == (symbol, source)]
    found: dict[str, Any] = {}
    for version in sorted(own, key=lambda one: one.since_msc):
        found |= version.told
    return without_nulls(found)


def news(
    before: Mapping[str, Any], told: Mapping[str, Any], symbol: str, since_msc: int, source: str
) -> Version | None:
    """The version that a source adds which `held` one thing and tells another now, its whole word:
    keys that are no more are null. None where it is the same. Tuples are lists here.
    """
    now = msgspec.json.decode(msgspec.json.encode(told))
    if now == dict(before):
        return None
    keys = dict.fromkeys(before) | now
    return Version(symbol=symbol, since_msc=since_msc, source=source, told=keys)
