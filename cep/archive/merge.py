"""Rows of many files in the one order (ingest, symbol), with few files in memory at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from cep.archive.manifest import File
from cep.archive.parts import int64, read_part


def merged(archive: Path, files: Sequence[File]) -> Iterator[pa.Table]:
    """Tables of rows in order; `files` must be in order of first ingest.

    Rows up to the first ingest of the next unopened file are complete and can be handed out.
    """
    held: list[pa.Table] = []
    for i, file in enumerate(files):
        held.append(read_part(archive, file))
        following = files[i + 1].first_ingest if i + 1 < len(files) else None
        if following == file.first_ingest:
            continue
        ready, held = _cut(held, following)
        if ready:
            yield _ordered(ready)


def _cut(tables: list[pa.Table], bound: int | None) -> tuple[list[pa.Table], list[pa.Table]]:
    """Rows with an ingest number below `bound`, and the rest."""
    if bound is None:
        return tables, []
    ready, rest = [], []
    for table in tables:
        rows = int(np.searchsorted(int64(table, "ingest"), bound))
        ready += [table.slice(0, rows)] if rows else []
        rest += [table.slice(rows)] if rows < table.num_rows else []
    return ready, rest


def _ordered(tables: list[pa.Table]) -> pa.Table:
    if len(tables) == 1:
        return tables[0]
    # One symbol a file: ordering the files first makes the stable sort below end ties by symbol.
    tables = sorted(tables, key=lambda table: str(table["symbol"][0]))
    table = pa.concat_tables(tables).unify_dictionaries()
    return table.take(pa.array(np.argsort(int64(table, "ingest"), kind="stable")))
