"""Which column says when a row happened, and its values as UTC milliseconds.

Streams need not be markets: small numbers, as tests and examples have them, are times too. What is
refused is a number that can only be a mistake of its unit; a text says what it means.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from cep.inputs.errors import InputError
from mt5bridge.history.epochs import (
    PAST_SECOND,
    REMEDIES,
    UNITS,
    BadRow,
    Ints,
    scaled,
    unit_of,
)
from mt5bridge.history.times import is_text, text_times, whole_numbers

TIME_COLUMNS = {"time_msc": "ms", "timestamp": "ms", "time": "s"}
"""Unit of each time column, when it holds whole numbers; the first present wins."""

SECONDS_FROM = 978_307_200
"""2001-01-01 in seconds. Milliseconds of that size are days in January 1970."""

FIRST_MSC, PAST_MSC = 0, 253_402_300_800_000
"""The years 1970 to 9999, the end excluded: records have no times before."""


def time_column(path: Path, names: Sequence[str]) -> str:
    """The column of `names` that holds the time."""
    found = [name for name in TIME_COLUMNS if name in names]
    if not found:
        raise InputError(
            path,
            f"no time column among {', '.join(names) or 'no columns'}",
            "add time_msc (UTC milliseconds), or timestamp (milliseconds or ISO 8601), "
            "or time (seconds or ISO 8601)",
            line=1,
        )
    return found[0]


def as_msc(
    path: Path, column: str, values: pa.ChunkedArray, line_of: Callable[[int], int]
) -> pa.ChunkedArray:
    """`values` as int64 UTC ms; texts without a zone are UTC. InputError names a bad row.

    `line_of` tells the line, or row, of a value.
    """
    try:
        if values.null_count:
            row = int(np.argmax(values.is_null().to_numpy()))
            raise BadRow(row, "the time is missing", "every row needs one")
        msc = _as_msc(values, TIME_COLUMNS[column])
    except BadRow as bad:
        raise InputError(path, bad.what, bad.remedy, line_of(bad.row), column) from None
    except pa.ArrowException as error:
        row, value = _first_bad(values, TIME_COLUMNS[column])
        raise InputError(
            path, f"{value!r} is no time", "give whole milliseconds or ISO 8601", line_of(row),
            column,
        ) from error  # fmt: skip
    return pa.chunked_array([pa.array(msc, pa.int64())])


def _as_msc(values: pa.ChunkedArray, unit: str) -> Ints:
    type_ = values.type
    if pa.types.is_timestamp(type_):
        return _dated(values.cast(pa.int64()).to_numpy(), type_.unit)
    if not (pa.types.is_string(type_) or pa.types.is_large_string(type_)):
        return _counted(whole_numbers(values), unit)
    texts = values.cast(pa.string())
    if is_text(texts):
        return _dated(text_times(texts).msc, "ms")
    return _counted(texts.cast(pa.int64()).to_numpy(), unit)


def _dated(numbers: Ints, unit: str) -> Ints:
    """Timestamps as ms."""
    low, high = FIRST_MSC * UNITS[unit] // 1000, PAST_MSC * UNITS[unit] // 1000
    _check(numbers, low, min(high, 2**63 - 1), "the time is not in the years 1970 to 9999")
    return scaled(numbers, unit)


def _counted(numbers: Ints, unit: str) -> Ints:
    """Numbers of a unit as ms. BadRow when they can only be numbers of another one."""
    per_second = UNITS[unit]
    _check(numbers, FIRST_MSC * per_second // 1000, PAST_SECOND * per_second, "")
    if unit == "ms" and len(numbers):
        first, last = int(numbers.min()), int(numbers.max())
        if first >= SECONDS_FROM and last < PAST_SECOND:
            raise BadRow(
                0, f"{int(numbers[0])} and all others are days of January 1970 as milliseconds, "
                "and times from 2001 on as seconds",
                f"{REMEDIES['s']}, or write 1970-01-20T10:00:00Z if you mean it",
            )  # fmt: skip
    return scaled(numbers, unit)


def _check(numbers: Ints, low: int, high: int, what: str) -> None:
    bad = (numbers < low) | (numbers >= high)
    if not bad.any():
        return
    row = int(np.argmax(bad))
    likely = unit_of(int(numbers[row]))
    raise BadRow(
        row,
        what or f"{int(numbers[row])} is not in the years 1970 to 2099",
        REMEDIES[likely] if likely and not what else "correct it; later times are ISO 8601 text",
    )


def _first_bad(values: pa.ChunkedArray, unit: str) -> tuple[int, object]:
    """The first row that cannot be read alone, or else that cannot be read with those before."""
    low, high = 1, len(values)
    while low < high:
        middle = (low + high) // 2
        try:
            _as_msc(values.slice(0, middle), unit)
            low = middle + 1
        except (pa.ArrowException, BadRow):
            high = middle
    return low - 1, values[low - 1].as_py()
