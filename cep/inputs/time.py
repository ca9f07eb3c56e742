"""Which column says when a row happened, and its values as UTC milliseconds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from cep.inputs.errors import InputError

TIME_COLUMNS = {"time_msc": 1, "timestamp": 1, "time": 1000}
"""Milliseconds a unit of each time column, when it holds whole numbers; the first present wins."""

_ZONE = r":\d\d(\.\d*)?\s*(Z|[+-]\d\d(:?\d\d)?)$"


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


def as_msc(path: Path, column: str, values: pa.ChunkedArray, first_line: int) -> pa.ChunkedArray:
    """`values` as int64 UTC ms; texts without a zone are UTC. InputError names a bad row."""
    type_ = values.type
    if pa.types.is_timestamp(type_):
        return values.cast(pa.timestamp("ms", type_.tz), safe=False).cast(pa.int64())
    try:
        numbers = _as_numbers(values, column)
    except pa.ArrowInvalid as error:
        line, value = _first_bad(values, column, first_line)
        raise InputError(
            path, f"{value!r} is no time", "give whole milliseconds or ISO 8601", line, column
        ) from error
    if numbers.null_count:
        line = first_line + numbers.is_null().to_pylist().index(True)
        raise InputError(path, "the time is missing", "every row needs one", line, column)
    return numbers


def _as_numbers(values: pa.ChunkedArray, column: str) -> pa.ChunkedArray:
    if pa.types.is_string(values.type):
        return _from_text(values, TIME_COLUMNS[column])
    return pc.multiply_checked(values.cast(pa.int64()), TIME_COLUMNS[column])


def _from_text(values: pa.ChunkedArray, unit_ms: int) -> pa.ChunkedArray:
    try:
        return pc.multiply_checked(values.cast(pa.int64()), unit_ms)
    except pa.ArrowInvalid:
        zoned = pc.match_substring_regex(values, _ZONE)
        texts = pc.if_else(zoned, values, pc.binary_join_element_wise(values, "Z", ""))
        times = texts.cast(pa.timestamp("ns", "UTC"))
        return times.cast(pa.timestamp("ms", "UTC"), safe=False).cast(pa.int64())


def _first_bad(values: pa.ChunkedArray, column: str, first_line: int) -> tuple[int, object]:
    for i, value in enumerate(values):
        one = pa.chunked_array([pa.array([value.as_py()], values.type)])
        try:
            _as_numbers(one, column)
        except pa.ArrowInvalid:
            return first_line + i, value.as_py()
    return first_line, "a mixture of numbers and texts"
