"""Tick CSV: MetaTrader's export, its look-alikes and plain files, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pcsv

from mt5bridge.arrow import reader
from mt5bridge.history.block import TickBlock
from mt5bridge.history.errors import Broken
from mt5bridge.history.layout import Layout, layout_of
from mt5bridge.history.text import BLOCK_BYTES, Lines, line_blocks
from mt5bridge.history.ticks import Assembler
from mt5bridge.history.zones import ServerTime


def read_csv(
    path: Path,
    symbol: str | None,
    server: ServerTime | None,
    broken: Broken,
    block_bytes: int = BLOCK_BYTES,
) -> Iterator[TickBlock]:
    """Ticks of a CSV file with a header line, a block at a time."""
    assembler: Assembler | None = None
    for lines in line_blocks(path, block_bytes):
        if assembler is None:
            header, _, data = lines.data.partition(b"\n")
            assembler = Assembler(path, layout_of(path, header.decode()), symbol, server)
            lines = Lines(2, data)
        yield from _parse(assembler, lines, broken)


def _parse(assembler: Assembler, lines: Lines, broken: Broken) -> Iterator[TickBlock]:
    """Arrow reads the whole block; only when it cannot is each line looked at alone."""
    if not lines.data.strip():
        return
    before = {symbol: dict(values) for symbol, values in assembler.previous.items()}
    try:
        blocks = list(assembler.blocks(as_table(lines.data, assembler.layout)))
    except pa.ArrowInvalid:
        assembler.previous = before
        good = b"".join(whole_lines(assembler, lines, broken))
        blocks = list(assembler.blocks(as_table(good, assembler.layout))) if good else []
    yield from blocks


def as_table(data: bytes, layout: Layout) -> pa.Table:
    """The used columns of CSV lines: prices as double, the rest as text."""
    types = dict.fromkeys(layout.used, pa.string()) | dict.fromkeys(layout.numbers, pa.float64())
    return pcsv.read_csv(
        reader(data),
        read_options=pcsv.ReadOptions(column_names=list(layout.names), block_size=len(data) + 1),
        parse_options=pcsv.ParseOptions(delimiter=layout.delimiter),
        convert_options=pcsv.ConvertOptions(
            column_types=types,
            include_columns=list(layout.used),
            null_values=[""],
            strings_can_be_null=True,
        ),
    )


def whole_lines(assembler: Assembler, lines: Lines, broken: Broken) -> Iterator[bytes]:
    """The lines that can be read, one by one; the others go to `broken`."""
    for number, line in enumerate(lines.data.splitlines(keepends=True), lines.first):
        if not line.strip():
            continue
        problem = _problem(assembler, line)
        if problem:
            broken.add(assembler.path, number, problem)
        else:
            yield line


def _problem(assembler: Assembler, line: bytes) -> str:
    """What is wrong with one line; empty when nothing is."""
    layout = assembler.layout
    fields = line.decode(errors="replace").strip("\r\n").split(layout.delimiter)
    if len(fields) != len(layout.names) and b'"' not in line:
        return f"{len(fields)} fields where the header has {len(layout.names)}"
    for name, value in zip(layout.names, fields, strict=False):
        if name in layout.numbers and value and not _is_number(value):
            return f"{name} {value!r} is no number"
    try:
        table = as_table(line, layout)
    except pa.ArrowInvalid as error:
        return f"cannot be read ({error})"
    try:
        assembler.check(table)
    except pa.ArrowInvalid as error:
        shown = " ".join(str(table[name][0].as_py()) for name in layout.times)
        return f"time {shown!r} cannot be used ({error})"
    return ""


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True
