"""Columns of times, in whatever form, as milliseconds."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from mt5bridge.history.epochs import FORMS, BadRow, Ints, as_msc, check_msc, scaled

DATE_BYTES = 12
"""More than a date has, and less than one with hours and minutes."""
_DATE = re.compile(r"\s*\d{4}[-./]\d\d[-./]\d\d|\s*\d{8}[ T]\d\d|\s*\d\d\.\d\d\.\d{4}")
_FORMS = (
    (r"^(\d{4})[./]?(\d\d)[./]?(\d\d)\b", r"\1-\2-\3"),
    (r"^(\d\d)\.(\d\d)\.(\d{4})\b", r"\3-\2-\1"),
    (r"^(\S+)[ T](\d\d)(\d\d)(\d\d)\b", r"\1 \2:\3:\4"),
    (r"^(\S+)[ T](\d\d)(\d\d)(\d\d)(\d\d\d)\b", r"\1 \2:\3:\4.\5"),
)
"""Dates with dots or nothing between their parts, or with the day first, times with nothing, as
ISO 8601."""
_ZONES = (
    (r"(:\d\d(?:\.\d*)?)\s*(?:UTC|GMT|Z|z)$", r"\1Z"),
    (r"(:\d\d(?:\.\d*)?)\s*(?:UTC|GMT)?([+-]\d\d):?(\d\d)?$", r"\1\2:\3"),
    (r"([+-]\d\d):$", r"\1:00"),
)
"""Zones with names or without a colon as ISO 8601."""
_ZONED = r"(Z|:\d\d(\.\d*)?[+-]\d\d:\d\d)$"


class Times(NamedTuple):
    """Times in ms: UTC when they are `zoned`, else what a clock shows.

    `zoned` is None for numbers, which are UTC unless something else is known about them.
    """

    msc: Ints
    zoned: bool | None


def times_of(column: pa.ChunkedArray, unit: str) -> Times:
    """The times of a column whose numbers count `unit`s.

    BadRow names a row whose time is missing, of another unit, or finer than a millisecond;
    pa.ArrowInvalid is for what cannot be read at all.
    """
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    type_ = column.type
    if column.null_count:
        row = int(np.argmax(column.is_null().to_numpy()))
        raise BadRow(row, "the time is missing, so it cannot be used", "every tick needs one")
    if pa.types.is_timestamp(type_):
        numbers = column.cast(pa.int64()).to_numpy()
        return Times(as_msc(numbers, type_.unit, is_typed=True), type_.tz is not None)
    if not (pa.types.is_string(type_) or pa.types.is_large_string(type_)):
        return Times(as_msc(whole_numbers(column), unit), None)
    texts = column.cast(pa.string())
    if not is_text(texts):
        return Times(as_msc(texts.cast(pa.int64()).to_numpy(), unit), None)
    found = text_times(texts)
    _check_clock(texts)
    check_msc(found.msc)
    return found


def is_text(texts: pa.ChunkedArray) -> bool:
    """Whether times are written as dates, not as numbers; the first one decides."""
    return len(texts) > 0 and _DATE.match(texts[0].as_py()) is not None


def _check_clock(texts: pa.ChunkedArray) -> None:
    """BadRow for a date without a time of day, which would be midnight."""
    if pc.min(pc.binary_length(texts)).as_py() > DATE_BYTES:
        return
    bare = pc.match_substring_regex(texts, r"^\s*\S+\s*$")
    bare = pc.and_(bare, pc.invert(pc.match_substring(texts, ":")))
    if (row := bare.index(True).as_py()) >= 0:
        raise BadRow(row, f"{texts[row].as_py()!r} has no time of day", f"give {FORMS}")


def whole_numbers(column: pa.ChunkedArray) -> Ints:
    """A column of numbers as int64. BadRow for fractions and for what is no number."""
    type_ = column.type
    if not (pa.types.is_integer(type_) or pa.types.is_floating(type_)):
        if not pa.types.is_decimal(type_):
            raise BadRow(0, f"a column of {type_} holds no times", f"give {FORMS}", fatal=True)
        column = column.cast(pa.float64())
    if pa.types.is_floating(column.type):
        values = column.cast(pa.float64()).to_numpy()
        bad = ~(np.abs(values) < 2.0**63) | (np.floor(values) != values)
        if bad.any():
            row = int(np.argmax(bad))
            raise BadRow(row, f"{float(values[row])!r} is no whole number", f"give {FORMS}")
    numbers: Ints = column.cast(pa.int64()).to_numpy()
    return numbers


def text_times(texts: pa.ChunkedArray) -> Times:
    """Times such as `2024.01.31 23:59:59.123` or `2024-01-31T23:59:59+02:00`."""
    iso, first = (pc.utf8_trim_whitespace(part) for part in (texts, texts.slice(0, 1)))
    # Failing is slow in Arrow, so the first one tells what all of them need.
    for rewrite in (None, *_FORMS, *_ZONES):
        if rewrite is not None:
            iso, first = (pc.replace_substring_regex(part, *rewrite) for part in (iso, first))
        if (zone := _zone(first)) is not False:
            break
    try:
        return Times(_exact(iso, zone or None), zone == "UTC")
    except pa.ArrowInvalid:
        for rewrite in (*_FORMS, *_ZONES):
            iso = pc.replace_substring_regex(iso, *rewrite)
        return _mixed(iso)


def _zone(first: pa.ChunkedArray) -> str | Literal[False] | None:
    """How ISO 8601 times are to be read: as UTC, without a zone, or not at all."""
    for zone in ("UTC", None):
        try:
            first.cast(pa.timestamp("ns", zone))
        except pa.ArrowInvalid:
            continue
        return zone
    return False


def _mixed(iso: pa.ChunkedArray) -> Times:
    """Times in several forms; BadRow when some have a zone and some have none."""
    mask = pc.match_substring_regex(iso, _ZONED)
    zoned: npt.NDArray[np.bool_] = mask.to_numpy()
    if zoned.all() or not zoned.any():
        return Times(_exact(iso, "UTC" if zoned.all() else None), bool(zoned.all()))
    _exact(iso.filter(mask), "UTC")
    _exact(iso.filter(pc.invert(mask)), None)
    raise BadRow(
        int(np.argmax(zoned != zoned[0])), "some times have a zone and others have none",
        "write all times of the file the same way", fatal=True,
    )  # fmt: skip


def _exact(iso: pa.ChunkedArray, zone: str | None) -> Ints:
    """ISO 8601, all with a zone or none, as ms. BadRow for one that is finer."""
    return scaled(iso.cast(pa.timestamp("ns", zone)).cast(pa.int64()).to_numpy(), "ns")
