"""Parquet files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from cep.inputs.errors import InputError, check_columns
from cep.inputs.time import time_column
from cep.inputs.types import ARROW


def read(path: Path, types: Mapping[str, str]) -> tuple[pa.Table, str]:
    """Columns `types` plus the time column of a Parquet file, and the time column's name."""
    try:
        # Read as one file: folders named key=value above it are not columns.
        with pq.ParquetFile(path) as file:
            names = file.schema_arrow.names
            time = time_column(path, names)
            check_columns(path, names, (time, *types))
            table = file.read(list(dict.fromkeys((time, *types))))
    except (pa.ArrowException, OSError) as error:
        raise InputError(path, f"not a Parquet file ({error})", "write it again") from error
    for name, type_ in types.items():
        table = _cast(path, table, name, type_)
    return table, time


def _cast(path: Path, table: pa.Table, name: str, type_: str) -> pa.Table:
    column = table.column_names.index(name)
    try:
        values = table[name].cast(ARROW[type_])
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(
            path, f"{table[name].type} cannot be read as {type_} ({error})",
            "change the file or the attribute's type", column=name,
        ) from error  # fmt: skip
    return table.set_column(column, pa.field(name, values.type), values)


def names(path: Path) -> list[str]:
    """The columns of a Parquet file; none when it is not one (reading it says why)."""
    try:
        return list(pq.read_schema(path).names)
    except (pa.ArrowException, OSError):
        return []
