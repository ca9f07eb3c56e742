"""Times as programs have them, in ms UTC.

Taken are whole numbers, `datetime` and pandas' `Timestamp`, NumPy's `datetime64`, and columns of
them. A time with a zone is converted to UTC, one without is UTC. Refused, with row and remedy, is
what would have to be guessed or rounded: no time at all, parts of a millisecond, text, and times
outside the years 1970 to 9999, which are nearly always seconds or microseconds.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cep.engine.columns import is_column
from cep.engine.encode import InputError

LAST_MSC = 253_402_300_799_999
"""The end of the year 9999."""

Time: TypeAlias = int | datetime | np.datetime64 | np.integer[Any]
Times: TypeAlias = NDArray[np.int64]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)
WANTED = "give ms UTC as a whole number, a datetime or a datetime64"


def msc(time: Any, where: str) -> int:
    """One time in ms UTC; InputError, which begins with `where`, when it is none."""
    try:
        found = _msc(time)
    except ValueError as problem:
        raise InputError(f"{where}: {problem}") from None
    if not 0 <= found <= LAST_MSC:
        raise InputError(f"{where}: {_outside(found)}")
    return found


def _msc(time: Any) -> int:
    """The time, of whatever year; ValueError for what is no time."""
    if isinstance(time, np.datetime64):
        return _from_numpy64(time)
    is_nothing = time is None or (isinstance(time, datetime | float) and time != time)
    if is_nothing:  # NaT and NaN are not equal to themselves
        raise ValueError(f"no time; {WANTED}")
    if isinstance(time, datetime):
        return _from_datetime(time)
    if isinstance(time, float | np.floating) and float(time).is_integer():
        return int(time)
    if isinstance(time, bool | np.bool_) or not hasattr(time, "__index__"):
        raise ValueError(f"{time!r} is no time; {WANTED}")
    return operator.index(time)


def _from_numpy64(time: np.datetime64) -> int:
    if np.isnat(time):
        raise ValueError(f"no time; {WANTED}")
    if not _is_near(np.array([time]))[0]:
        raise ValueError(f"{time} is outside the years 1970 to 9999")
    whole = time.astype("datetime64[ms]")
    if whole.astype(time.dtype) != time:
        raise ValueError(_finer(time))
    return int(whole.astype(np.int64))


def _from_datetime(time: datetime) -> int:
    aware = time.replace(tzinfo=UTC) if time.utcoffset() is None else time
    found, rest = divmod(aware - EPOCH, MILLISECOND)
    nanosecond: int = getattr(time, "nanosecond", 0)  # a pandas Timestamp has them
    if rest or nanosecond:
        raise ValueError(_finer(time))
    return found


def _from_numpy(times: NDArray[Any]) -> Times:
    """A `datetime64` of any unit; ValueError names the row of what is no time."""
    _need_all(np.isnat(times))
    far = np.flatnonzero(~_is_near(times))
    if len(far):
        raise ValueError(f"row {far[0]}: {times[far[0]]} is outside the years 1970 to 9999")
    whole = times.astype("datetime64[ms]")
    finer = np.flatnonzero(whole.astype(times.dtype) != times)
    if len(finer):
        raise ValueError(f"row {finer[0]}: {_finer(times[finer[0]])}")
    return whole.astype(np.int64)


def _is_near(times: NDArray[Any]) -> NDArray[np.bool_]:
    """Which times of a `datetime64` can be told in ms at all, and lie in years that are taken."""
    years = times.astype("datetime64[Y]").astype(np.int64)
    return (years >= 0) & (years < 10_000 - EPOCH.year)


def column_msc(column: Any, where: str) -> Times:
    """A column of times in ms UTC; InputError names the first row, from 0, that is none."""
    try:
        times = _column(column)
        outside = np.flatnonzero((times < 0) | (times > LAST_MSC))
        if len(outside):
            raise ValueError(f"row {outside[0]}: {_outside(int(times[outside[0]]))}")
    except (ValueError, TypeError, OverflowError, pa.ArrowException) as problem:
        raise InputError(f"{where}: {problem}") from None
    return times


def _column(column: Any) -> Times:
    if isinstance(column, pa.Array | pa.ChunkedArray):
        return from_arrow(column)
    if not is_column(column):
        raise ValueError(f"a column of type {type(column).__name__}; give a list or array of times")
    if not isinstance(column, np.ndarray):
        if hasattr(column, "__array__"):  # a pandas column; zones are known to Arrow only
            return from_arrow(pa.array(column, from_pandas=True))
        column = list(column)
        whole = np.array(column)
        return whole if whole.dtype == np.int64 else _from_values(column)
    if column.ndim != 1:
        raise ValueError(f"a column of {column.ndim} dimensions")
    if column.dtype.kind == "M":
        return _from_numpy(column)
    if column.dtype.kind in "iu":
        return column.astype(np.int64)
    return _from_values(column.tolist())


def _from_values(values: Sequence[Any]) -> Times:
    found = np.empty(len(values), np.int64)
    for row, value in enumerate(values):
        try:
            found[row] = value if type(value) is int else _msc(value)
        except OverflowError:
            raise ValueError(f"row {row}: {_outside(value)}") from None
        except ValueError as problem:
            raise ValueError(f"row {row}: {problem}") from None
    return found


def from_arrow(column: pa.Array | pa.ChunkedArray) -> Times:
    """Timestamps or whole numbers of Arrow; ValueError names the row of what is no time."""
    _need_all(column.is_null().to_numpy(zero_copy_only=False))
    if pa.types.is_integer(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False), np.int64)
    if not pa.types.is_timestamp(column.type):
        return _from_values(column.to_pylist())
    found = column.cast(pa.int64()).to_numpy(zero_copy_only=False)
    return _from_numpy(found.astype(f"datetime64[{column.type.unit}]"))


def _need_all(missing: NDArray[np.bool_]) -> None:
    rows = np.flatnonzero(missing)
    if len(rows):
        raise ValueError(f"row {rows[0]}: no time; {WANTED}")


def _finer(time: Any) -> str:
    return f"{time} is finer than a millisecond; round it, and keep the rest in an attribute"


def _outside(time_msc: int) -> str:
    place = "before 1970" if time_msc < 0 else "after the year 9999"
    return f"{time_msc} ms is {place}; give milliseconds UTC since 1970"
