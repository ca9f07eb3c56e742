"""Blocks of lines -> ticks: all at once, and line by line only when something is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import pyarrow as pa

from mt5bridge.history.block import HistoryError, TickBlock
from mt5bridge.history.epochs import BadRow
from mt5bridge.history.errors import Broken
from mt5bridge.history.folds import Place
from mt5bridge.history.text import Lines
from mt5bridge.history.ticks import Assembler


class Fault(NamedTuple):
    """What is wrong with one line, and the remedy."""

    what: str
    remedy: str = "correct the line"


class LineReader(NamedTuple):
    """How lines of one file are read: as a table, and one of them to find its fault."""

    as_table: Callable[[bytes], pa.Table]
    fault: Callable[[bytes], Fault | None]


def tick_blocks(
    assembler: Assembler, lines: Lines, broken: Broken, reader: LineReader
) -> list[TickBlock]:
    """Ticks of `lines`; those that cannot be read go to `broken`."""
    before = {symbol: dict(values) for symbol, values in assembler.previous.items()}
    place = _places(assembler, lambda row: _filled(lines)[row][0])
    try:
        return list(assembler.blocks(reader.as_table(lines.data), place))
    except BadRow as bad:
        if bad.fatal:
            raise bad.at(place(bad.row)) from None
        if broken.on_error == "stop":
            broken.add(assembler.path, _filled(lines)[bad.row][0], bad.what, bad.remedy)
    except pa.ArrowException:
        pass
    assembler.previous = before
    good = list(_whole(assembler, lines, broken, reader))
    return _together(assembler, good, reader) if good else []


def _filled(lines: Lines) -> list[tuple[int, bytes]]:
    """Lines that are not blank, and their numbers."""
    numbered = enumerate(lines.data.splitlines(keepends=True), lines.first)
    return [(number, line) for number, line in numbered if line.strip()]


def _places(assembler: Assembler, line_of: Callable[[int], int]) -> Place:
    return lambda row: f"{assembler.path}:{line_of(row)}"


def _whole(
    assembler: Assembler, lines: Lines, broken: Broken, reader: LineReader
) -> Iterator[tuple[int, bytes]]:
    """The lines that can be read, one by one."""
    for number, line in _filled(lines):
        if found := _fault(assembler, line, reader):
            broken.add(assembler.path, number, found.what, found.remedy)
        else:
            yield number, line


def _fault(assembler: Assembler, line: bytes, reader: LineReader) -> Fault | None:
    if found := reader.fault(line):
        return found
    try:
        table = reader.as_table(line)
    except pa.ArrowException as error:
        return Fault(f"cannot be read ({_first_line(error)})")
    try:
        assembler.check(table)
    except BadRow as bad:
        if not bad.fatal:
            return Fault(bad.what, bad.remedy)
    except pa.ArrowException as error:
        shown = " ".join(str(table[name][0].as_py()) for name in assembler.layout.times)
        return Fault(f"time {shown!r} cannot be used ({_first_line(error)})")
    return None


def _together(
    assembler: Assembler, good: list[tuple[int, bytes]], reader: LineReader
) -> list[TickBlock]:
    """Ticks of lines each of which can be read. HistoryError when they do not go together."""
    data = b"".join(line for _, line in good)
    place = _places(assembler, lambda row: good[row][0])
    try:
        return list(assembler.blocks(reader.as_table(data), place))
    except BadRow as bad:
        raise bad.at(place(bad.row)) from None
    except pa.ArrowException as error:
        row = _first_other(assembler, good, reader)
        raise HistoryError(
            f"{place(row)}: cannot be read as the lines before it ({_first_line(error)}); "
            "write all lines of the file the same way"
        ) from error


def _first_other(assembler: Assembler, good: list[tuple[int, bytes]], reader: LineReader) -> int:
    """The first line that cannot be read together with all before it, by halving."""
    low, high = 1, len(good)
    while low < high:
        middle = (low + high) // 2
        try:
            assembler.check(reader.as_table(b"".join(line for _, line in good[:middle])))
            low = middle + 1
        except (pa.ArrowException, BadRow):
            high = middle
    return low - 1


def _first_line(error: Exception) -> str:
    return str(error).split("\n", 1)[0]
