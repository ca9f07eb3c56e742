"""Which column of a tick file means what, by the names in its header."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mt5bridge.history.block import HistoryError
from mt5bridge.history.errors import clipped
from mt5bridge.history.zones import UTC, ServerTime

DELIMITERS = ("\t", ";", ",")
NUMBERS = ("bid", "ask", "last", "volume", "flags")
ALIASES = {
    "datetime": "time", "timestamp": "time_msc", "vol": "volume", "volume_real": "volume",
    "bidprice": "bid", "askprice": "ask",
    "gmt time": "time", "local time": "time", "time (utc)": "time", "time (gmt)": "time",
    "time (eet)": "time",
}  # fmt: skip
CLOCKS = {"gmt time": UTC, "time (utc)": UTC, "time (gmt)": UTC}
"""What names of columns say about the clock of their times."""

SAMPLE_LINES = 200
TIMES = ("time_msc", "time", "date")
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+", re.ASCII)
ONCE = {"bid", "ask", "symbol", *TIMES}
"""Of what a column means, nothing else may mean; real volumes may stand beside others."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Columns in file order under their usual names; a column not used is called `_N`.

    `server` is the clock, where the file's format tells it; with `midnight_msc` times count from
    there. Symbols that are a pair, such as EUR/USD, lose the stroke.
    """

    names: tuple[str, ...]
    delimiter: str = ","
    has_header: bool = True
    decimal_point: str = "."
    server: ServerTime | None = None
    midnight_msc: int | None = None
    is_pair: bool = False

    @property
    def times(self) -> tuple[str, ...]:
        """The columns that make up the time: the most exact one wins."""
        if "time_msc" in self.names:
            return ("time_msc",)
        return ("date", "time") if "date" in self.names else ("time",)

    @property
    def numbers(self) -> tuple[str, ...]:
        return tuple(name for name in NUMBERS if name in self.names)

    @property
    def used(self) -> tuple[str, ...]:
        symbol = ("symbol",) if "symbol" in self.names else ()
        return (*self.times, *self.numbers, *symbol)


def layout_of(path: Path, lines: Sequence[str], *, decimal_comma: bool = False) -> Layout:
    """The layout that a header line describes, and lines after it that show how numbers look.

    HistoryError when prices or time are missing, or commas may part thousands; with
    `decimal_comma` they do not.
    """
    header = lines[0].strip() if lines else ""
    _check_header(path, header)
    delimiter = next((mark for mark in DELIMITERS if mark in header), ",")
    layout = of_names(path, next(csv.reader([header], delimiter=delimiter), []), delimiter)
    if not _has_commas(layout, lines[1:]):
        return layout
    if not decimal_comma:
        _refuse_doubt(path, layout, lines[1:])
    return replace(layout, decimal_point=",")


def _check_header(path: Path, header: str) -> None:
    """HistoryError for what no line of text has."""
    if "\r" in header:
        raise HistoryError(
            f"{path}:1: lines end with a carriage return alone; save the file with the line ends "
            "of Windows or Unix"
        )
    odd = next((c for c in header if not (c.isprintable() or c == "\t")), None)
    if odd is not None:
        raise HistoryError(
            f"{path}:1: the character U+{ord(odd):04X} in the first line; the file is damaged or "
            "not text: export it again as UTF-8 or UTF-16"
        )


def _has_commas(layout: Layout, lines: Sequence[str]) -> bool:
    """Whether the first price with decimals among these lines is written with a comma."""
    if layout.delimiter == ",":
        return False
    marks = (re.search("[.,]", text) for _, text in _numbers(layout, lines))
    first = next(filter(None, marks), None)
    return first is not None and first[0] == ","


def _numbers(layout: Layout, lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The numbers of some lines behind the header, each with that of its line."""
    places = [layout.names.index(name) for name in layout.numbers]
    for number, line in enumerate(lines[:SAMPLE_LINES], 2):
        fields = line.split(layout.delimiter)
        for place in places:
            if place < len(fields):
                yield number, fields[place].strip()


def _refuse_doubt(path: Path, layout: Layout, lines: Sequence[str]) -> None:
    """HistoryError where each comma stands as one between thousands would."""
    found = [(number, text) for number, text in _numbers(layout, lines) if "," in text]
    if all(_THOUSANDS.fullmatch(text) for _, text in found):
        number, text = found[0]
        raise HistoryError(
            f"{path}:{number}: {text} may have a decimal comma, or one between thousands, and no "
            "other number near it tells; give --decimal-comma, or write numbers as 1000.5"
        )


def of_names(path: Path, raw: Sequence[str], delimiter: str = ",") -> Layout:
    """The layout of columns called `raw`; angle brackets and case do not matter."""
    names: list[str] = []
    known = {*NUMBERS, *TIMES, "symbol"}
    read = known | ALIASES.keys()
    plain = [text.strip().strip("<>").lower() for text in raw]
    for position, text in enumerate(plain):
        name = ALIASES.get(text, text)
        names.append(name if name in known and name not in names else f"_{position}")
    twice = next((name for name in plain if name in read and plain.count(name) > 1), None)
    shown = clipped(", ".join(raw)) or "no columns"
    if twice is not None:
        raise HistoryError(
            f"{path}:1: more than one column {twice} among {shown}; leave one of them, or "
            "rename the others"
        )
    meant = [ALIASES.get(text, text) for text in plain]
    if both := next((name for name in meant if name in ONCE and meant.count(name) > 1), None):
        same = [text for text, name in zip(plain, meant, strict=True) if name == both]
        raise HistoryError(
            f"{path}:1: {' and '.join(same)} mean the same; leave one of them, or rename the others"
        )
    problem = _problem(names, set(plain))
    if problem:
        raise HistoryError(
            f"{path}:1: {problem} among {shown}; the first line must name bid, ask and time_msc, "
            "time, or <DATE> and <TIME>, with a comma, semicolon or tab between them"
        )
    clock = next((CLOCKS[name] for name in plain if name in CLOCKS), None)
    return Layout(tuple(names), delimiter, server=clock)


def _problem(names: list[str], plain: set[str]) -> str:
    if "time_msc" not in names and "time" not in names:
        return "no time column"
    if {"open", "high", "low", "close"} <= plain and "bid" not in names:
        return "no bid and ask (these are bars, not ticks)"
    missing = [name for name in ("bid", "ask") if name not in names]
    return f"no column {missing[0]}" if missing else ""
