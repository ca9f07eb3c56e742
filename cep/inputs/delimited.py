"""CSV with a header line; read by Arrow, and once more by line when something is wrong."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc

from cep.inputs.errors import InputError, check_columns
from cep.inputs.time import time_column
from cep.inputs.types import ARROW, FALSE, REMEDIES, TRUE, is_valid
from mt5bridge.arrow import reader

DELIMITERS = ("\t", ";", ",")
_PLAIN = re.compile(r"-?[0-9]+(\.[0-9]+)?")
"""Numbers that every reader takes alike."""


def read(path: Path, data: bytes, types: Mapping[str, str]) -> tuple[pa.Table, str]:
    """Columns `types` plus the time column of a CSV file, and the time column's name."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputError(path, "not UTF-8", "save the file as UTF-8", line) from error
    first = text.split("\n", 1)[0]
    delimiter = next((mark for mark in DELIMITERS if mark in first), ",")
    if "\r" in first.rstrip("\r"):
        remedy = "save the file with the line ends of Windows or Unix"
        raise InputError(path, "lines end with a carriage return alone", remedy, 1)
    names = next(csv.reader([first.rstrip("\r")], delimiter=delimiter), [])
    time = time_column(path, names)
    check_columns(path, names, (time, *types), line=1)
    try:
        return _fast(text + "\n" * (text.count("\n") == 0), delimiter, types, time), time
    except pa.ArrowInvalid as error:
        raise _explain(path, text, delimiter, names, types) or InputError(
            path, f"not a CSV file ({error})", "give one header line and one line a row"
        ) from error


def _fast(text: str, delimiter: str, types: Mapping[str, str], time: str) -> pa.Table:
    columns = {name: ARROW[type_] for name, type_ in types.items()}
    convert = pc.ConvertOptions(
        column_types={time: pa.string(), **columns},
        include_columns=list(dict.fromkeys((time, *columns))),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        true_values=TRUE,
        false_values=FALSE,
    )
    parse = pc.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    buffer = reader(text.encode())
    return pc.read_csv(buffer, parse_options=parse, convert_options=convert)


def _explain(
    path: Path, text: str, delimiter: str, names: list[str], types: Mapping[str, str]
) -> InputError | None:
    """The first line that cannot be read, found by the csv module."""
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        return _first_fault(path, lines, names, types)
    except csv.Error as error:
        return InputError(path, str(error), "correct the line", lines.line_num)


def _first_fault(
    path: Path, lines: Any, names: list[str], types: Mapping[str, str]
) -> InputError | None:
    next(lines, None)
    for row in lines:
        if row and len(row) != len(names):
            return InputError(
                path, f"{len(row)} fields where the header has {len(names)}",
                "correct the line or quote the field", lines.line_num,
            )  # fmt: skip
        for name, value in zip(names, row, strict=False):
            type_ = types.get(name)
            if type_ and value and not _is_read(value, type_):
                return InputError(
                    path, f"{value!r} is no {type_}", REMEDIES[type_], lines.line_num, name
                )
    return None


def _is_read(value: str, type_: str) -> bool:
    """Whether Arrow, whose word counts, takes a text; Python takes `1_000` and digits of others."""
    if type_ == "string" or (is_valid(value, type_) and _PLAIN.fullmatch(value)):
        return True
    cell = io.StringIO()
    csv.writer(cell).writerows([["value"], [value]])
    try:
        _fast(cell.getvalue(), ",", {"value": type_}, "value")
    except pa.ArrowInvalid:
        return False
    return True


def line_of(data: bytes, row: int) -> int:
    """The line on which a row ends, blank lines and the header being no rows."""
    lines = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""))
    filled = (lines.line_num for fields in lines if fields)
    return next(islice(filled, row + 1, None))


def names(header: bytes) -> list[str]:
    """The columns of a CSV file by its first line."""
    first = header.decode("utf-8-sig", errors="replace").rstrip("\r")
    delimiter = next((mark for mark in DELIMITERS if mark in first), ",")
    try:
        return next(csv.reader([first], delimiter=delimiter), [])
    except csv.Error:
        return []
