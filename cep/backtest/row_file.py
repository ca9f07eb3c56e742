"""The rows of a run in a file, to compare those of another run with, which may end earlier."""

from __future__ import annotations

from collections.abc import Sequence
from tempfile import TemporaryFile
from types import TracebackType
from typing import NamedTuple

import numpy as np

from cep.backtest.records import ingest_of
from cep.engine.rows import Rows


class Unequal(NamedTuple):
    """The first row that is another one: its number, from 1, and both as JSON, each behind the
    ingest number of the record that caused it; empty where there is none.
    """

    number: int
    whole: str
    cut: str


class RowFile:
    """Rows with the records that caused them, and where in the file each of `bounds` ends.

    `bounds` are ingest numbers, ascending.
    """

    def __init__(self, bounds: Sequence[int]) -> None:
        self.rows = 0
        self._bounds = np.array(bounds, np.int64)
        self._ends = np.zeros(len(bounds), np.int64)
        self._size = 0

    def __enter__(self) -> RowFile:
        self.file = TemporaryFile()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.file.close()

    def take(self, rows: Rows) -> None:
        """Write the next rows."""
        lines = lines_of(rows)
        if not lines:
            return
        self.file.writelines(lines)
        ends = np.concatenate([[0], np.cumsum([len(line) for line in lines])])
        counts = np.searchsorted(ingest_of(rows.orders), self._bounds, side="right")
        self._ends = np.where(counts > 0, self._size + ends[counts], self._ends)
        self._size += int(ends[-1])
        self.rows += len(lines)

    def against(self, bound: int) -> Against:
        """What compares the rows of a run that ends with one of the bounds."""
        self.file.seek(0)
        return Against(self, int(self._ends[self._bounds.tolist().index(bound)]))


class Against:
    """Compares rows with those of a file, up to its end."""

    def __init__(self, whole: RowFile, end: int) -> None:
        self.found: Unequal | None = None
        self._file, self._left = whole.file, end
        self._rows = 0

    def take(self, rows: Rows) -> None:
        """The next rows; of those behind the first that differs nothing is said."""
        mine = lines_of(rows)
        theirs = self._file.read(min(self._left, sum(map(len, mine))))
        self._left -= len(theirs)
        if self.found is None and theirs != b"".join(mine):
            # one that the end of what was read has cut is read to its own
            self.found = self._first(theirs + self._rest_of_line(theirs), mine)
        self._rows += len(mine)

    def ended(self) -> None:
        """No more rows come."""
        if self.found is None and self._left:
            self.found = Unequal(self._rows + 1, self._file.readline().decode().rstrip(), "")

    def _rest_of_line(self, read: bytes) -> bytes:
        found = b"" if read.endswith(b"\n") or not self._left else self._file.readline()
        self._left -= len(found)
        return found

    def _first(self, theirs: bytes, mine: Sequence[bytes]) -> Unequal:
        others = theirs.splitlines(keepends=True)
        at = 0
        while at < min(len(others), len(mine)) and others[at] == mine[at]:
            at += 1
        whole, cut = (
            some[at].decode().rstrip() if at < len(some) else "" for some in (others, mine)
        )
        return Unequal(self._rows + at + 1, whole, cut)


def lines_of(rows: Rows) -> list[bytes]:
    """Each row as JSON behind the ingest number of the record that caused it, on a line."""
    ingest = ingest_of(rows.orders).tolist()
    return [b"%d %b\n" % pair for pair in zip(ingest, rows.json_lines(), strict=True)]
