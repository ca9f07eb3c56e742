"""The article's queries over 100,000 events: our engine and three databases, result by result.

`python -m benchmarks.jepc_answers [EVENTS]`. Compared are the times and values of every query's
results, in their order; what is shown is their number and the first digits of their checksum.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks.jepc_engines import DATABASES, NATIVE, Urls, databases, provider
from benchmarks.measure import table, write_results
from benchmarks.paper import DENSE, KINDS, MIXED, Load
from cep.database.batches import Found
from cep.engine.results import Results

EVENTS = 100_000
QUERIES = 80
CHUNK = 10_000
MATCHING = 100
"""Values below this, so that patterns have results, too."""
SHOWN = 12
LOADS = (
    *(Load(kind, QUERIES, DENSE) for kind in KINDS),
    Load("pattern", QUERIES, MATCHING),
    Load(MIXED, QUERIES, MATCHING),
)
Matrix = npt.NDArray[np.int64]


class Answers:
    """Checksums of the results of each query: times and values, in order."""

    def __init__(self, load: Load) -> None:
        self._digests = {rule.name: hashlib.sha256() for rule in load.rules}
        self.count = 0

    def add(self, results: Found | Results) -> None:
        """Take the results of a batch."""
        for query, rows in _native(results) if isinstance(results, Results) else _database(results):
            self.count += len(rows)
            self._digests[query].update(np.ascontiguousarray(rows).tobytes())

    @property
    def digest(self) -> str:
        """One checksum of all queries."""
        whole = hashlib.sha256()
        for query, digest in self._digests.items():
            whole.update(f"{query} {digest.hexdigest()}\n".encode())
        return whole.hexdigest()


def _native(results: Results) -> Iterator[tuple[str, Matrix]]:
    """Times and values by query; all attributes are whole numbers without nulls."""
    for one in results.columns():
        yield one.stream, np.column_stack([one.times, *one.cells])


def _database(found: Found) -> Iterator[tuple[str, Matrix]]:
    fetch = found.fetch
    seqs, *columns = (_array(column) for column in found.columns)
    times = found.times[seqs - found.first]
    members = columns.pop(0) if fetch.has_member else np.zeros(len(seqs), np.int64)
    width = len(fetch.types)
    for place, name in enumerate(fetch.members):
        if fetch.is_wide:
            yield name, np.column_stack([times, *columns[place * width : (place + 1) * width]])
        else:
            own = members == place
            yield name, np.column_stack([times[own], *(column[own] for column in columns)])


def _array(column: Any) -> Matrix:
    if isinstance(column, pa.ChunkedArray | pa.Array):
        column = column.to_numpy()
    return np.asarray(column, np.int64)


def answers(name: str, load: Load, urls: Urls, events: int) -> Answers:
    """What an engine says to so many events."""
    engine, found = provider(name, urls), Answers(load)
    try:
        engine.change(load.catalog().plan(), [rule.name for rule in load.rules])
        for batch in load.batches(0, events, CHUNK):
            for results in engine.push_columns(batch):
                for one in results:
                    found.add(one)
    finally:
        engine.close()
    return found


def line(load: Load, urls: Urls, events: int) -> list[str]:
    """A row of the table; AssertionError where a database answers otherwise."""
    expected = answers(NATIVE, load, urls, events)
    cells = [load.kind, f"0..{load.values - 1}", f"{expected.count:,}", expected.digest[:SHOWN]]
    for name in DATABASES:
        found = answers(name, load, urls, events)
        same = (found.count, found.digest) == (expected.count, expected.digest)
        assert same, f"{name}, {load.kind}: {found.count:,} results, {expected.count:,} expected"
        cells.append("the same")
    print(*cells, flush=True)
    return cells


def main() -> None:
    events = int(sys.argv[1]) if sys.argv[1:] else EVENTS
    with databases() as urls:
        lines = [line(load, urls, events) for load in LOADS]
    head = ["queries", "values", "results of our engine", "checksum", *DATABASES]
    write_results(
        "jepc_answers",
        "The same answers from four engines",
        f"{events:,} events, {QUERIES} queries of listing 1 (mixed: 20 of each kind), in batches "
        "as each engine prefers them.",
        table(head, lines),
        how="Counted, not timed.",
    )


if __name__ == "__main__":
    main()
