"""Cutting a run into slices of the total order, so that no more than one is in memory at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np

from cep.archive import File
from cep.engine.input_rows import InputRows
from cep.engine.kernels.state import OUT_ORDER, Floats, Ints

SLICE_ROWS = 1 << 22


def cuts(files: Sequence[File], slice_rows: int = SLICE_ROWS) -> list[int]:
    """Ingest numbers at which to cut, ascending, so that slices hold about `slice_rows` records.

    Only the manifest is read: records are taken to lie evenly in their files.
    """
    total = sum(file.rows for file in files)
    if total <= slice_rows:
        return []
    edges, rows = _course(files)
    wanted = np.arange(slice_rows, total, slice_rows)
    # relative to the first edge: ingest numbers are beyond the whole numbers of a float
    steps = np.interp(wanted, rows, edges - edges[0]).astype(np.int64)
    return [int(cut) for cut in np.unique(steps + edges[0])]


def rows_before(files: Sequence[File], numbers: Ints) -> Floats:
    """About how many records of the files have smaller ingest numbers; there is a file at least."""
    edges, rows = _course(files)
    found: Floats = np.interp(numbers - edges[0], edges - edges[0], rows)
    return found


def _course(files: Sequence[File]) -> tuple[Ints, Floats]:
    """Ingest numbers in order, and how many records are in front of each."""
    first = np.array([file.first_ingest for file in files], np.int64)
    past = np.array([file.last_ingest + 1 for file in files], np.int64)
    density = np.array([file.rows for file in files]) / (past - first)
    edges, places = np.unique(np.concatenate([first, past]), return_inverse=True)
    slope = np.zeros(len(edges))
    np.add.at(slope, places, np.concatenate([density, -density]))
    return edges, np.concatenate([[0.0], np.cumsum(np.cumsum(slope)[:-1] * np.diff(edges))])


def sliced(batches: Iterator[InputRows], bounds: Ints) -> Iterator[tuple[int, Iterator[InputRows]]]:
    """(slice, its batches) in order; slice i holds orders from `bounds[i - 1]` below `bounds[i]`.

    Slices without records have no batches. Those of a slice must be taken before the next slice is
    asked for.
    """
    done = 0
    for index, group in groupby(_pieces(batches, bounds), key=lambda piece: piece[0]):
        yield from ((empty, iter(())) for empty in range(done, index))
        yield index, (rows for _, rows in group)
        done = index + 1
    yield from ((empty, iter(())) for empty in range(done, len(bounds) + 1))


def _pieces(batches: Iterator[InputRows], bounds: Ints) -> Iterator[tuple[int, InputRows]]:
    for batch in batches:
        orders = batch.ints[:, OUT_ORDER]
        places = np.searchsorted(bounds, orders[[0, -1]], side="right")
        inner = bounds[places[0] : places[1]]
        edges = [0, *np.searchsorted(orders, inner).tolist(), len(batch)]
        for index, start, stop in zip(
            range(int(places[0]), int(places[1]) + 1), edges[:-1], edges[1:], strict=True
        ):
            if start < stop:
                yield index, batch.part(start, stop)
