"""PostgreSQL's binary format of COPY, for numbers without NULL, written by NumPy.

https://www.postgresql.org/docs/current/sql-copy.html, "Binary Format"
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

_HEAD = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_TAIL = b"\xff\xff"
_FORMATS = {"int8": ">i8", "int4": ">i4", "int2": ">i2", "float8": ">f8", "float4": ">f4"}


def binary_rows(columns: Sequence[Sequence[Any]], types: Sequence[str]) -> bytes | None:
    """All rows as one block; None when a column is not of numbers, or has NULL."""
    if not columns or not all(type_ in _FORMATS for type_ in types):
        return None
    arrays = [_numbers(column, type_) for column, type_ in zip(columns, types, strict=True)]
    if any(array is None for array in arrays):
        return None
    fields: list[tuple[str, str]] = [("count", ">i2")]
    for place, type_ in enumerate(types):
        fields += [(f"size{place}", ">i4"), (f"value{place}", _FORMATS[type_])]
    rows = np.zeros(len(columns[0]), fields)
    rows["count"] = len(columns)
    for place, (array, type_) in enumerate(zip(arrays, types, strict=True)):
        rows[f"size{place}"] = np.dtype(_FORMATS[type_]).itemsize
        rows[f"value{place}"] = array
    return _HEAD + rows.tobytes() + _TAIL


def _numbers(column: Sequence[Any], type_: str) -> np.ndarray[Any, Any] | None:
    """A column as an array of its own type; None when a value is not of it."""
    wanted = np.int64 if type_.startswith("int") else np.float64
    try:
        found = np.asarray(column)
    except OverflowError:
        return None
    if found.dtype == wanted or (wanted is np.float64 and found.dtype == np.int64):
        return found
    return None
