"""The one way to read a stream's rows from a file, whatever its format."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import pyarrow as pa

from cep.inputs import columnar, delimited, jsonl
from cep.inputs.errors import InputError
from cep.inputs.time import as_msc
from mt5bridge.history.text import encoding_of
from mt5bridge.local import local

HEADER_BYTES = 65_536
UTF_32 = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
CSV, JSONL, PARQUET = (".csv", ".tsv", ".txt"), (".jsonl", ".ndjson"), (".parquet", ".pq")


def rows(path: Path | str, attributes: Iterable[tuple[str, str]]) -> pa.Table:
    """Rows of `path` in file order: column `time_msc` (int64, UTC ms), then `attributes`.

    An attribute is (name, type), type being string, int, long, float, double or bool; other
    columns of the file are not read. CSV and JSONL may be UTF-16, and compressed with gzip.
    InputError names file, line and column.
    """
    path = local(path)
    types = dict(attributes)
    suffix = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
    _need_file(path)
    line_of: Callable[[int], int] = (1).__add__
    if suffix in PARQUET:
        table, time = columnar.read(path, types)
    elif suffix in JSONL:
        table, time = jsonl.read(path, data := _bytes(path), types)
        line_of = partial(jsonl.line_of, data)
    elif suffix in CSV:
        table, time = delimited.read(path, data := _bytes(path), types)
        line_of = partial(delimited.line_of, data)
    else:
        known = ", ".join(CSV + JSONL + PARQUET)
        raise InputError(path, f"unknown format {suffix!r}", f"name the file with one of {known}")
    times = as_msc(path, time, table[time], line_of)
    columns = {"time_msc": times, **{name: table[name] for name in types if name != "time_msc"}}
    return pa.table(columns)


def _need_file(path: Path) -> None:
    if path.is_dir():
        raise InputError(path, "a folder, not a file", "name a file in it")
    if path.exists() and not path.is_file():
        raise InputError(path, "no regular file", "write the rows to a file and name that")
    if not path.is_file():
        raise InputError(path, "no such file", "check the path")


def _bytes(path: Path) -> bytes:
    """A text file as UTF-8, with its mark if it has one; it may be UTF-16, as Windows writes."""
    try:
        with pa.input_stream(path, compression="detect") as stream:
            data = bytes(stream.read())
    except (OSError, pa.ArrowException) as error:
        raise InputError(path, f"cannot be read ({error})", "check the path") from error
    if data.startswith(UTF_32):
        raise InputError(path, "not text: it is UTF-32", "save the file as UTF-8")
    try:
        return _utf8(data)
    except UnicodeDecodeError as error:
        line = 1 + _utf8(data[: error.start], "replace").count(b"\n")
        what = f"not text ({error.reason} in {error.encoding})"
        raise InputError(path, what, "save the file as UTF-8", line) from error


def _utf8(data: bytes, errors: str = "strict") -> bytes:
    encoding, mark = encoding_of(data[:4])
    return data if encoding == "utf-8" else data[mark:].decode(encoding, errors).encode()


def column_names(path: Path | str) -> list[str]:
    """Names of a file's columns, as its first row tells; empty for an unreadable file."""
    path = Path(path)
    suffix = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
    if not path.is_file():
        return []
    if suffix in PARQUET:
        return columnar.names(path)
    try:
        with pa.input_stream(path, compression="detect") as stream:
            first = _utf8(bytes(stream.read(HEADER_BYTES)), "replace").split(b"\n", 1)[0]
    except (OSError, pa.ArrowException):
        return []
    return jsonl.names(first) if suffix in JSONL else delimited.names(first)
