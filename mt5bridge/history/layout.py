"""Which column of a tick file means what, by the names in its header."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mt5bridge.history.block import HistoryError

DELIMITERS = ("\t", ";", ",")
NUMBERS = ("bid", "ask", "last", "volume", "flags")
ALIASES = {"datetime": "time", "timestamp": "time_msc", "vol": "volume", "volume_real": "volume"}
TIMES = ("time_msc", "time", "date")


@dataclass(frozen=True, slots=True)
class Layout:
    """Columns in file order under their usual names; a column not used is called `_N`."""

    names: tuple[str, ...]
    delimiter: str = ","

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


def layout_of(path: Path, header: str) -> Layout:
    """The layout that a CSV header line describes. HistoryError when prices or time are missing."""
    delimiter = next((mark for mark in DELIMITERS if mark in header), ",")
    return of_names(path, next(csv.reader([header.strip()], delimiter=delimiter), []), delimiter)


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
    if twice is not None:
        raise HistoryError(
            f"{path}:1: more than one column {twice} among {', '.join(raw)}; leave one of them, or "
            "rename the others"
        )
    problem = _problem(names, set(plain))
    if problem:
        raise HistoryError(
            f"{path}:1: {problem} among {', '.join(raw) or 'no columns'}; the first line must name "
            "bid, ask and time_msc, time, or <DATE> and <TIME>"
        )
    return Layout(tuple(names), delimiter)


def _problem(names: list[str], plain: set[str]) -> str:
    if "time_msc" not in names and "time" not in names:
        return "no time column"
    if {"open", "high", "low", "close"} <= plain and "bid" not in names:
        return "no bid and ask (these are bars, not ticks)"
    missing = [name for name in ("bid", "ask") if name not in names]
    return f"no column {missing[0]}" if missing else ""
