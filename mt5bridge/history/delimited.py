"""Tick CSV: MetaTrader's export, its look-alikes and plain files, block by block."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv

from mt5bridge.arrow import reader
from mt5bridge.history.block import TickBlock
from mt5bridge.history.errors import Broken
from mt5bridge.history.layout import SAMPLE_LINES, Layout, layout_of
from mt5bridge.history.lines import Fault, LineReader, tick_blocks
from mt5bridge.history.text import BLOCK_BYTES, Lines, line_blocks
from mt5bridge.history.ticks import Assembler
from mt5bridge.history.vendors import layout_without_header
from mt5bridge.history.zones import ServerTime, the_clock

_NUMBER = re.compile(
    r"\s*[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|nan|inf(inity)?)\s*", re.IGNORECASE | re.ASCII
)
"""What Arrow reads as one; Python reads more, such as `1_000` and digits of other scripts."""
NUMBERS_REMEDY = "write numbers as 1000.5: digits 0 to 9, a point, and nothing between thousands"


class Form(NamedTuple):
    """What a file does not tell by itself: which one in a zip file, and what its commas are."""

    member: str | None = None
    decimal_comma: bool = False


PLAIN = Form()


def read_csv(
    path: Path,
    symbol: str | None,
    server: ServerTime | None,
    broken: Broken,
    block_bytes: int = BLOCK_BYTES,
    form: Form = PLAIN,
) -> Iterator[TickBlock]:
    """Ticks of a CSV file with a header line, or of a vendor's without one, a block at a time."""
    assembler: Assembler | None = None
    for lines in line_blocks(path, block_bytes, form.member):
        if assembler is None:
            layout = _layout(path, form, lines)
            assembler = Assembler(path, layout, symbol, the_clock(path, server, layout.server))
            if layout.has_header:
                lines = Lines(2, lines.data.partition(b"\n")[2])
        if lines.data.strip():
            yield from tick_blocks(assembler, lines, broken, _reader(assembler.layout))
    if assembler is None:
        layout_of(path, [])
    else:
        assembler.finish()


def _layout(path: Path, form: Form, lines: Lines) -> Layout:
    first = lines.data.split(b"\n", SAMPLE_LINES)[:SAMPLE_LINES]
    texts = [line.decode() for line in first]
    name = Path(form.member or path.name).name
    vendor = layout_without_header(path, name, texts[0])
    return vendor or layout_of(path, texts, decimal_comma=form.decimal_comma)


def _reader(layout: Layout) -> LineReader:
    return LineReader(partial(as_table, layout=layout), partial(_fault, layout))


def as_table(data: bytes, layout: Layout) -> pa.Table:
    """The used columns of CSV lines: prices as double, the rest as text."""
    types = dict.fromkeys(layout.used, pa.string()) | dict.fromkeys(layout.numbers, pa.float64())
    table = pcsv.read_csv(
        reader(data),
        read_options=pcsv.ReadOptions(column_names=list(layout.names), block_size=len(data) + 1),
        parse_options=pcsv.ParseOptions(delimiter=layout.delimiter),
        convert_options=pcsv.ConvertOptions(
            column_types=types,
            include_columns=list(layout.used),
            null_values=[""],
            strings_can_be_null=True,
            decimal_point=layout.decimal_point,
        ),
    )
    return _usual(table, layout)


def _usual(table: pa.Table, layout: Layout) -> pa.Table:
    """A vendor's times and symbols in the usual form."""
    changed = {}
    if layout.midnight_msc is not None:
        # some markets have fractions of a millisecond, which MetaTrader has not
        whole = pc.floor(table["time_msc"].cast(pa.float64())).cast(pa.int64())
        changed["time_msc"] = pc.add(whole, layout.midnight_msc)
    if layout.is_pair:
        changed["symbol"] = pc.replace_substring(table["symbol"], "/", "")
    for name, column in changed.items():
        table = table.set_column(table.column_names.index(name), name, column)
    return table


def _fault(layout: Layout, line: bytes) -> Fault | None:
    """What is wrong with the fields of one line."""
    text = line.decode(errors="replace").strip("\r\n")
    try:
        fields = next(csv.reader([text], delimiter=layout.delimiter), [])
    except csv.Error as error:
        return Fault(str(error))
    if len(fields) != len(layout.names):
        return Fault(f"{len(fields)} fields where the header has {len(layout.names)}")
    for name, value in zip(layout.names, fields, strict=False):
        if name in layout.numbers and value and not _is_number(value, layout.decimal_point):
            return Fault(f"{name} {value!r} is no number", NUMBERS_REMEDY)
    return None


def _is_number(value: str, decimal_point: str) -> bool:
    if decimal_point != "." and "." in value:
        return False
    return _NUMBER.fullmatch(value.replace(decimal_point, ".")) is not None
