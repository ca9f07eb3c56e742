"""One JSON object a line; read by Arrow, and once more by line when something is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.json as pj

from cep.inputs.errors import InputError
from cep.inputs.time import time_column
from cep.inputs.types import ARROW, REMEDIES, is_valid
from mt5bridge.arrow import reader
from mt5bridge.history.jsonl import repeated_name


def read(path: Path, data: bytes, types: Mapping[str, str]) -> tuple[pa.Table, str]:
    """Columns `types` plus the time column of a JSONL file, and the time column's name."""
    if not data.strip():
        schema = pa.schema([("time_msc", pa.int64()), *_schema(types, "time_msc")])
        return schema.empty_table(), "time_msc"
    time = time_column(path, list(_first_object(path, data)))
    try:
        return _fast(data, types, time), time
    except pa.ArrowInvalid as error:
        raise _explain(path, data, types) or InputError(
            path, f"not a JSONL file ({error})", "give one JSON object a line"
        ) from error


def _schema(types: Mapping[str, str], time: str) -> list[tuple[str, pa.DataType]]:
    return [(name, ARROW[type_]) for name, type_ in types.items() if name != time]


def _fast(data: bytes, types: Mapping[str, str], time: str) -> pa.Table:
    """The time column keeps the type Arrow finds, unless it is an attribute too."""
    known = [(time, ARROW[types[time]])] if time in types else []
    options = pj.ParseOptions(
        explicit_schema=pa.schema([*known, *_schema(types, time)]),
        unexpected_field_behavior="infer",
    )
    blocks = pj.ReadOptions(block_size=max(1 << 20, min(len(data) + 1, 1 << 30)))
    table = pj.read_json(reader(data), read_options=blocks, parse_options=options)
    names = list(dict.fromkeys((time, *types)))
    return table.select(names)


def _first_object(path: Path, data: bytes) -> dict[str, object]:
    line = next(line for line in data.splitlines() if line.strip())
    return _object(path, line, data[: data.index(line)].count(b"\n") + 1)


def _object(path: Path, line: bytes, number: int) -> dict[str, object]:
    try:
        return msgspec.json.decode(line, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(
            path, f"not a JSON object ({error})", "give one object a line", number
        ) from error


def _explain(path: Path, data: bytes, types: Mapping[str, str]) -> InputError | None:
    """The first line that cannot be read, one line at a time."""
    for number, line in enumerate(data.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            values = _object(path, line, number)
        except InputError as error:
            return error
        if twice := repeated_name(line):
            what = f"{twice} is there more than once"
            return InputError(path, what, "leave one of them", number)
        for name, type_ in types.items():
            value = values.get(name)
            if (isinstance(value, str) and type_ != "string") or not is_valid(value, type_):
                return InputError(
                    path, f"{value!r} is no {type_}", _remedy(value, type_), number, name
                )
    return None


def _remedy(value: object, type_: str) -> str:
    quoted = isinstance(value, str) and type_ != "string"
    return REMEDIES[type_] + (", without quotes" if quoted else ", in quotes" * (type_ == "string"))


def line_of(data: bytes, row: int) -> int:
    """The line of a row, blank lines being no rows."""
    filled = (n for n, line in enumerate(data.splitlines(), start=1) if line.strip())
    return next(islice(filled, row, None))


def names(first: bytes) -> list[str]:
    """The keys of a first line; none when it is no object (reading it says why)."""
    try:
        return list(msgspec.json.decode(first, type=dict[str, object]))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return []
