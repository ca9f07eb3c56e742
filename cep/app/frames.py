"""What people have rows in: dictionaries of columns, pandas frames, Arrow tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import pyarrow as pa

from cep.engine.columns import Column
from cep.engine.encode import InputError
from cep.engine.times import Times, column_msc

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
        f"rows of type {type(frame).__name__}: give a dictionary of columns, an Arrow table or a "
        "pandas frame"
    )


def _series(series: Any) -> Column:
    """A pandas column; nulls of its own kind become Arrow's.

    What Arrow has no type for stays a list, which is read by the attribute's type.
    """
    try:
        return pa.array(series, from_pandas=True)
    except (pa.ArrowException, OverflowError):
        return list(series)


def times(frame: Mapping[str, Column], time_msc: Column | str | None, stream: str) -> Times:
    """Times in ms UTC: given, or the column of that name, or the column `time_msc`."""
    given = TIME if time_msc is None else time_msc
    if not isinstance(given, str):
        return column_msc(given, f"{stream}.{TIME}")
    if given not in frame:
        raise InputError(f"{stream}: no column {given!r}: give `time_msc`, ms UTC per row")
    return column_msc(frame[given], f"{stream}.{given}")


def values(
    row: Mapping[str, Any] | Sequence[Any], names: tuple[str, ...], stream: str
) -> tuple[Any, ...]:
    """The values of one row in the order of the stream's attributes; a missing one is null."""
    if not isinstance(row, Mapping):
        if isinstance(row, str | bytes) or not isinstance(row, Iterable):
            wanted = f"a dictionary, or the values of {', '.join(names)} in order"
            raise InputError(f"{stream}: a row of type {type(row).__name__}; give {wanted}")
        return tuple(row)
    unknown = next((name for name in row if name not in names and name != TIME), None)
    if unknown is not None:
        raise InputError(f"{stream}: no attribute {unknown!r}; there are {', '.join(names)}")
    return tuple(row.get(name) for name in names)
