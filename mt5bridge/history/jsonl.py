"""Ticks as one JSON object a line."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.json as pj

from mt5bridge.arrow import reader
from mt5bridge.history.block import HistoryError, TickBlock
from mt5bridge.history.errors import Broken
from mt5bridge.history.layout import Layout, of_names
from mt5bridge.history.lines import Fault, LineReader, tick_blocks
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
    first: dict[str, object] = {}
    for lines in line_blocks(path, block_bytes):
        if not lines.data.strip():
            continue
        if assembler is None:
            first = _first(path, lines)
            assembler = Assembler(path, of_names(path, tuple(first)), symbol, server)
            fault = partial(_fault, first=first, layout=assembler.layout)
            how = LineReader(partial(as_table, first=first, layout=assembler.layout), fault)
        yield from tick_blocks(assembler, lines, broken, how)
    if assembler is not None:
        assembler.finish()


def _first(path: Path, lines: Lines) -> dict[str, object]:
    for number, line in enumerate(lines.data.splitlines(), lines.first):
        if line.strip():
            try:
                return msgspec.json.decode(line, type=dict[str, object])
            except msgspec.DecodeError as error:
                raise HistoryError(
                    f"{path}:{number}: not a JSON object ({error}); the first line must be one tick"
                ) from error
    return {}


def as_table(data: bytes, first: Mapping[str, object], layout: Layout) -> pa.Table:
    """The used columns of JSON lines like the `first`; times keep the type they are written in."""
    used = {raw: name for raw, name in zip(first, layout.names, strict=True) if name in layout.used}
    schema = {
        raw: pa.float64() if name in layout.numbers else pa.string()
        for raw, name in used.items()
        if name not in layout.times or isinstance(first[raw], str)
    }
    table = _read(data, schema)
    missing = [raw for raw in used if raw not in table.column_names]
    if missing:
        raise pa.ArrowInvalid(f"{missing[0]} is missing")
    # Arrow takes texts for timestamps and forgets whether they had a zone.
    guessed = [raw for raw in used if pa.types.is_timestamp(table[raw].type)]
    if guessed:
        table = _read(data, schema | dict.fromkeys(guessed, pa.string()))
    return pa.table({name: table[raw] for raw, name in used.items()})


def _read(data: bytes, schema: Mapping[str, pa.DataType]) -> pa.Table:
    return pj.read_json(
        reader(data),
        read_options=pj.ReadOptions(block_size=len(data) + 1),
        parse_options=pj.ParseOptions(
            explicit_schema=pa.schema(list(schema.items())), unexpected_field_behavior="infer"
        ),
    )


def _fault(line: bytes, first: Mapping[str, object], layout: Layout) -> Fault | None:
    """What is wrong with one object: with its names, or with the kind of a value."""
    try:
        values = msgspec.json.decode(line, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return Fault(str(error))
    if twice := repeated_name(line):
        return Fault(f"{twice} is there more than once", "leave one of them")
    for raw, name in zip(first, layout.names, strict=True):
        value = values.get(raw)
        if name in layout.used and value is not None and (kind := _no_kind(name, value, layout)):
            return Fault(f"{raw} {msgspec.json.encode(value).decode()} is no {kind}")
    return None


def _no_kind(name: str, value: object, layout: Layout) -> str | None:
    """The kind of value that the column `name` wants, unless `value` is of it."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if name in layout.numbers:
        return None if is_number else "number"
    if name in layout.times:
        return None if is_number or isinstance(value, str) else "time"
    return None if isinstance(value, str) else "text"


def repeated_name(line: bytes) -> str | None:
    """A name that an object of this line of JSON has more than once."""
    found: list[str] = []

    def look(pairs: list[tuple[str, object]]) -> None:
        found.extend(
            name for name, count in Counter(name for name, _ in pairs).items() if count > 1
        )

    json.loads(line, object_pairs_hook=look, parse_int=str, parse_float=str)
    return found[0] if found else None
