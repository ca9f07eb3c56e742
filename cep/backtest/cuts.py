"""Records behind which a run is cut: some of them by chance, the same ones for the same seed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cep.archive.parts import int64
from cep.backtest.errors import BacktestError
from cep.backtest.records import clock_tables, shown_tables
from cep.backtest.selection import Selection
from cep.engine.kernels.state import Ints
from cep.plan.nodes import Plan

GOLDEN = 0x9E3779B97F4A7C15
WORD = (1 << 64) - 1


class Place(NamedTuple):
    """A record: its ingest number, which others may share, its time in ms UTC, and its symbol."""

    ingest: int
    time_msc: int
    symbol: str


def cut_places(selection: Selection, plan: Plan, count: int, seed: int) -> list[Place]:
    """So many of the records that a run reads, but not the last, in order. BacktestError when there
    are not so many.

    Each has the same chance, whatever files it lies in: those are taken whose numbers, mixed with
    the seed, are the smallest.
    """
    smallest: dict[int, tuple[int, Place]] = {}
    last = -1
    for table in _tables(selection, plan):
        ingest = int64(table, "ingest")
        last = max(last, int(ingest[-1]))
        keys = mixed(ingest, seed)
        rows = np.sort(np.argsort(keys, kind="stable")[: _shares(ingest) * (count + 1)])
        found = table.select(["ingest", "time_msc", "symbol"]).take(pa.array(rows)).to_pylist()
        for key, row in zip(keys[rows].tolist(), found, strict=True):
            smallest.setdefault(row["ingest"], (key, Place(**row)))
        kept = sorted(smallest.items(), key=lambda one: one[1][0])[: count + 1]
        smallest = dict(kept)
    smallest.pop(last, None)
    places = [place for _, place in sorted(smallest.values())[:count]]
    if len(places) < count:
        _too_few(len(places), count)
    return sorted(places)


def mixed(numbers: Ints, seed: int) -> NDArray[np.uint64]:
    """Each number by chance, the same for the same seed (the finalizer of SplitMix64)."""
    found = numbers.astype(np.uint64) + np.uint64(((seed + 1) * GOLDEN) & WORD)
    found = (found ^ (found >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    found = (found ^ (found >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed_numbers: NDArray[np.uint64] = found ^ (found >> np.uint64(31))
    return mixed_numbers


def records_before(selection: Selection, place: Place) -> int:
    """About how many records a run reads up to a place, as the manifest tells."""
    parts = (
        file.rows * (place.ingest + 1 - file.first_ingest)
        / (file.last_ingest + 1 - file.first_ingest)
        for file in selection.files
    )  # fmt: skip
    return sum(
        round(min(max(part, 0.0), file.rows))
        for part, file in zip(parts, selection.files, strict=True)
    )


def _tables(selection: Selection, plan: Plan) -> Iterator[pa.Table]:
    streams = (shown_tables(selection, stream.name, set()) for stream in plan.sources)
    yield from chain.from_iterable(streams)
    if selection.is_lived:
        yield from clock_tables(selection)


def _shares(ingest: Ints) -> int:
    """How many records share a number at most."""
    return int(np.unique(ingest, return_counts=True)[1].max())


def _too_few(found: int, count: int) -> None:
    if not found:
        raise BacktestError(
            "there is no record behind which anything could be cut off",
            "all that is read comes at once: read more of the archive",
        )
    raise BacktestError(
        f"{count:,} cuts are more than there are records to cut behind, {found:,}",
        f"ask for {found:,} at most",
    )
