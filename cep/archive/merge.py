"""Rows of many files in the one order (ingest, symbol), with one batch of each file in memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from cep.archive.manifest import File
from cep.archive.parts import int64, part_batches
from cep.archive.store import Store

BATCH_ROWS = 1 << 16


class _Reader:
    """One file being read: `head` holds its next rows and is None at its end."""

    def __init__(
        self, store: Store, file: File, columns: Sequence[str] | None, batch_rows: int
    ) -> None:
        self.order = (file.symbol, file.first_ingest, file.path)
        self._rows_min = max(1, batch_rows // 2)
        self._batches = part_batches(store, file, columns, self._rows_min)
        self.head: pa.Table | None = next(self._batches, None)

    @property
    def last_ingest(self) -> int:
        assert self.head is not None, "the file is at its end"
        return int(self.head["ingest"][-1].as_py())

    def take(self, bound: int) -> pa.Table:
        """Rows with ingest numbers up to `bound`, removed from `head`."""
        assert self.head is not None, "the file is at its end"
        count = int(np.searchsorted(int64(self.head, "ingest"), bound, side="right"))
        taken, rest = self.head.slice(0, count), self.head.slice(count)
        # a short rest would make the next step as short, one after another for every file
        if rest.num_rows < self._rows_min and (more := next(self._batches, None)) is not None:
            rest = pa.concat_tables([rest, more]) if rest.num_rows else more
        self.head = rest if rest.num_rows else None
        return taken


def merged(
    store: Store,
    files: Sequence[File],
    columns: Sequence[str] | None = None,
    batch_rows: int = BATCH_ROWS,
) -> Iterator[pa.Table]:
    """Tables of rows in order; `files` must be in order of first ingest.

    Each step hands out all rows up to the nearest end of a head: no file can hold earlier ones.
    """
    waiting = deque(files)
    readers: list[_Reader] = []
    while waiting or readers:
        bound = min((reader.last_ingest for reader in readers), default=None)
        while waiting and (bound is None or waiting[0].first_ingest <= bound):
            reader = _Reader(store, waiting.popleft(), columns, batch_rows)
            readers.append(reader)
            bound = reader.last_ingest if bound is None else min(bound, reader.last_ingest)
        assert bound is not None, "something is left to read"
        # Files in order of their symbols: the stable sort then ends ties by symbol.
        readers.sort(key=lambda reader: reader.order)
        parts = [reader.take(bound) for reader in readers]
        yield _ordered([part for part in parts if part.num_rows])
        readers = [reader for reader in readers if reader.head is not None]


def _ordered(tables: list[pa.Table]) -> pa.Table:
    if len(tables) == 1:
        return tables[0]
    table = pa.concat_tables(tables).unify_dictionaries()
    return table.take(pa.array(np.argsort(int64(table, "ingest"), kind="stable")))
