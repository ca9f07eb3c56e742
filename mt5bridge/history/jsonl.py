"""Ticks as one JSON object a line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.json as pj

from mt5bridge.arrow import reader
from mt5bridge.history.block import HistoryError, TickBlock
from mt5bridge.history.errors import Broken
from mt5bridge.history.layout import Layout, of_names
from mt5bridge.history.text import BLOCK_BYTES, Lines, line_blocks
from mt5bridge.history.ticks import Assembler
from mt5bridge.history.zones import ServerTime


def read_jsonl(
    path: Path,
    symbol: str | None,
    server: ServerTime | None,
    broken: Broken,
    block_bytes: int = BLOCK_BYTES,
) -> Iterator[TickBlock]:
    """Ticks of a JSONL file; the first line's names are those of the whole file."""
    assembler: Assembler | None = None
    names: tuple[str, ...] = ()
    for lines in line_blocks(path, block_bytes):
        if not lines.data.strip():
            continue
        if assembler is None:
            names = _names(path, lines)
            assembler = Assembler(path, of_names(path, names), symbol, server)
        yield from _parse(assembler, names, lines, broken)


def _names(path: Path, lines: Lines) -> tuple[str, ...]:
    for number, line in enumerate(lines.data.splitlines(), lines.first):
        if line.strip():
            try:
                return tuple(msgspec.json.decode(line, type=dict[str, object]))
            except msgspec.DecodeError as error:
                raise HistoryError(
                    f"{path}:{number}: not a JSON object ({error}); the first line must be one tick"
                ) from error
    return ()


def _parse(
    assembler: Assembler, names: tuple[str, ...], lines: Lines, broken: Broken
) -> Iterator[TickBlock]:
    before = {symbol: dict(values) for symbol, values in assembler.previous.items()}
    try:
        blocks = list(assembler.blocks(as_table(lines.data, names, assembler.layout)))
    except pa.ArrowInvalid:
        assembler.previous = before
        good = b"".join(_whole_lines(assembler, names, lines, broken))
        blocks = list(assembler.blocks(as_table(good, names, assembler.layout))) if good else []
    yield from blocks


def as_table(data: bytes, names: tuple[str, ...], layout: Layout) -> pa.Table:
    """The used columns of JSON lines; times keep the type they are written in."""
    fields = [
        (raw, pa.float64() if name in layout.numbers else pa.string())
        for raw, name in zip(names, layout.names, strict=True)
        if name in layout.used and name not in layout.times
    ]
    options = pj.ParseOptions(explicit_schema=pa.schema(fields), unexpected_field_behavior="infer")
    table = pj.read_json(
        reader(data),
        read_options=pj.ReadOptions(block_size=len(data) + 1),
        parse_options=options,
    )
    missing = [raw for raw, name in zip(names, layout.names, strict=True)
               if name in layout.used and raw not in table.column_names]  # fmt: skip
    if missing:
        raise pa.ArrowInvalid(f"{missing[0]} is missing")
    columns = {name: table[raw] for raw, name in zip(names, layout.names, strict=True)
               if name in layout.used}  # fmt: skip
    return pa.table(columns)


def _whole_lines(
    assembler: Assembler, names: tuple[str, ...], lines: Lines, broken: Broken
) -> Iterator[bytes]:
    for number, line in enumerate(lines.data.splitlines(keepends=True), lines.first):
        if not line.strip():
            continue
        try:
            msgspec.json.decode(line, type=dict[str, object])
            assembler.check(as_table(line, names, assembler.layout))
        except (pa.ArrowInvalid, msgspec.DecodeError) as error:
            broken.add(assembler.path, number, str(error).split("\n")[0])
        else:
            yield line
