"""What people have rows in: dictionaries of columns, pandas frames, Arrow tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cep.engine.encode import Column, InputError

TIME = "time_msc"

Frame: TypeAlias = Any
"""A mapping of columns, an Arrow table or batch, or a pandas frame."""


def columns(frame: Frame) -> dict[str, Column]:
    """The columns of a frame by name. InputError for anything that has none."""
    if isinstance(frame, Mapping):
        return dict(frame)
    if isinstance(frame, pa.Table | pa.RecordBatch):
        return {name: frame.column(name) for name in frame.schema.names}
    if hasattr(frame, "columns") and hasattr(frame, "__dataframe__"):
        return {str(name): _series(frame[name]) for name in frame.columns}
    raise InputError(
        f"rows in a {type(frame).__name__}: give a dictionary of columns, an Arrow table or a "
        "pandas frame"
    )


def _series(series: Any) -> Column:
    """A pandas column; nulls of its own kind become Arrow's."""
    return pa.array(series, from_pandas=True)


def times(frame: Mapping[str, Column], time_msc: Column | str | None) -> NDArray[np.int64]:
    """Times in ms UTC: given, or the column of that name, or the column `time_msc`.

    Timestamps are converted; those without a zone are UTC.
    """
    given = TIME if time_msc is None else time_msc
    if isinstance(given, str):
        if given not in frame:
            raise InputError(f"no column {given!r}: give `time_msc`, ms UTC per row")
        given = frame[given]
    if isinstance(given, pa.Array | pa.ChunkedArray):
        if pa.types.is_timestamp(given.type):
            given = given.cast(pa.timestamp("ms", given.type.tz)).cast(pa.int64())
        return np.asarray(given.to_numpy(zero_copy_only=False), np.int64)
    array = np.asarray(given)
    if array.dtype.kind == "M":
        return array.astype("datetime64[ms]").astype(np.int64)
    return array.astype(np.int64)


def values(row: Mapping[str, Any] | Sequence[Any], names: tuple[str, ...]) -> tuple[Any, ...]:
    """The values of one row in the order of the stream's attributes; a missing one is null."""
    if not isinstance(row, Mapping):
        return tuple(row)
    unknown = next((name for name in row if name not in names and name != TIME), None)
    if unknown is not None:
        raise InputError(f"no attribute {unknown!r}; there are {', '.join(names)}")
    return tuple(row.get(name) for name in names)
