"""Rows as a file: CSV, Parquet or JSON, as its name says."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv, parquet

from cep.sweep.errors import SweepError

FORMATS = (".csv", ".parquet", ".json")


def table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str] = ()) -> pa.Table:
    """With these columns, and one for whatever else any row has."""
    names = list(dict.fromkeys([*columns, *(name for row in rows for name in row)]))
    return pa.table({name: [row.get(name) for row in rows] for name in names})


def content(rows: Sequence[Mapping[str, Any]], path: Path, columns: Sequence[str] = ()) -> bytes:
    """The bytes of a file of that name, with these columns also where there are no rows.

    SweepError for another format.
    """
    need_format(path)
    sink = BytesIO()
    if path.suffix == ".csv":
        csv.write_csv(table(rows, columns), sink)
    elif path.suffix == ".parquet":
        parquet.write_table(table(rows, columns), sink)
    else:
        sink.write(json.dumps(rows, indent=1).encode() + b"\n")
    return sink.getvalue()


def need_format(path: Path) -> None:
    """SweepError for a file whose name says no format."""
    if path.suffix not in FORMATS:
        raise SweepError(f"{path}: no format", f"name it with one of {', '.join(FORMATS)}")
