"""What a source told of a symbol, or of its account, and from when on it holds: a line of JSON.

The words are those of an account's file. What is not told is not there, and nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

from cep.account.account_file import (
    OTHERS,
    AccountFileError,
    AccountPart,
    SymbolPart,
    check_account,
    check_symbol,
    read_account,
)
from mt5bridge.settings_errors import told as explained

Part = TypeVar("Part", SymbolPart, AccountPart)
FILE = "specifications.jsonl"
"""In the folder of a spool: a version a line, appended as terminals tell them."""

LATEST_MSC = 253_402_300_799_999
"""The last millisecond that a calendar has."""


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
    since_msc: Annotated[int, msgspec.Meta(ge=0, le=LATEST_MSC)] = 0
    source: str = ""
    told: dict[str, Any]


def check(version: Version) -> None:
    """ValueError for keys or values that an account's file could not have."""
    if version.symbol == OTHERS:
        raise ValueError(f"symbols.{OTHERS}: an archive keeps what is told of symbols by name")
    if version.symbol:
        check_symbol(version.symbol, part_of(version.told, SymbolPart))
    else:
        check_account(part_of(version.told, AccountPart))


def part_of(told: Mapping[str, Any], kind: type[Part]) -> Part:
    """Told keys as a section of an account's file. ValueError."""
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


def in_order(versions: Iterable[Version]) -> list[Version]:
    """Those of terminals by time, then those of files, which have the last word."""
    return sorted(versions, key=lambda one: (not one.source, one.since_msc))


def news(
    before: Mapping[str, Any], told: Mapping[str, Any], symbol: str, since_msc: int, source: str
) -> Version | None:
    """The version that a source adds whose whole word was one thing `before` and is another now:
    the keys that are others, null for those that are no more. None where it is the same. Tuples
    are lists here.
    """
    now = dict.fromkeys(before) | msgspec.json.decode(msgspec.json.encode(told))
    other = {key: value for key, value in now.items() if value != before.get(key)}
    if not other:
        return None
    return Version(symbol=symbol, since_msc=since_msc, source=source, told=other)


def versions_in(path: Path, since_msc: int = 0) -> list[Version]:
    """What an account's file says of symbols, then of its account. AccountFileError, OSError."""
    read_account(path)
    keys = file_keys(path)
    if OTHERS in keys:
        raise AccountFileError(
            f"{path}: symbols.{OTHERS}: an archive keeps what is told of symbols by name",
            "name each symbol, or give the file to runs: --account FILE",
        )
    return [
        Version(symbol=name, since_msc=since_msc, told=told) for name, told in keys.items() if told
    ]


def file_keys(path: Path) -> dict[str, dict[str, Any]]:
    """What stands in an account's file that can be read: the keys of symbols by their names, then
    the account's under an empty name.
    """
    plain = msgspec.toml.decode(path.read_text(encoding="utf-8"))
    return {**plain.get("symbols", {}), "": plain.get("account", {})}
