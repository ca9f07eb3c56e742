"""Ticks that rules have read, held for the fills of their signals: no file is read twice."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from msgspec.structs import replace

from cep.backtest.selection import Selection

HELD_ROWS = 1 << 22
"""Of 40 bytes each. More are read again, beside the fills, which costs less than their memory."""
COLUMNS = ("ingest", "symbol", "time_msc", "bid", "ask")


class Held:
    """The ticks of a selection, as far as rules have passed them; none where they are many."""

    def __init__(self, selection: Selection) -> None:
        self._selection = selection
        self._tables: list[pa.Table] = []
        self._is_whole = False

    def passing(self, tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
        """The same tables, which are all of the selection's, on their way to the rules."""
        if self._selection.rows > HELD_ROWS:
            yield from tables
            return
        self._tables, self._is_whole = [], False
        for table in tables:
            self._tables.append(table.select(COLUMNS))
            yield table
        self._is_whole = True

    def tables(self, wanted: Selection) -> Iterator[pa.Table] | None:
        """The ticks of a part of the files that has all their symbols, and perhaps of files before;
        None: they have to be read. They are let go one by one.
        """
        if not self._is_whole:
            return None
        held = self._selection
        is_part = wanted.symbols == held.symbols and set(wanted.files) <= set(held.files)
        is_same = replace(wanted, files=(), clock=()) == replace(held, files=(), clock=())
        if not (is_part and is_same):
            return None
        self._is_whole = False
        return self._taken()

    def _taken(self) -> Iterator[pa.Table]:
        self._tables.reverse()
        while self._tables:
            yield self._tables.pop()
