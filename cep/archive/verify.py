"""Proof that an archive holds each record once and in order, or the names of what is wrong.

Every file is cut into runs of consecutive sequence numbers; what then remains to be checked is
that the runs of one stream, put in order, touch each other and appear in the same order in time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cep.archive.archive import Archive
from cep.archive.errors import ArchiveError
from cep.archive.manifest import End, File, Lost
from cep.archive.parts import int64, read_part
from cep.archive.schema import CLOCK

Stream = tuple[str, ...]


class Problem(msgspec.Struct, frozen=True):
    """One thing that is wrong and where."""

    where: str
    what: str


class Report(msgspec.Struct, frozen=True):
    """Result of a verification; `lost` are the gaps that their source declared."""

    files: int
    rows: int
    streams: int
    lost: tuple[Lost, ...]
    problems: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        return not self.problems


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive sequence numbers in one file."""

    first: int
    last: int
    first_ingest: int
    last_ingest: int
    path: str


Runs = dict[tuple[str, Stream], list[Run]]


def verify(archive: Archive, *, on_file: Callable[[int, int], None] | None = None) -> Report:
    """Check every file and every sequence of `archive`."""
    files = archive.manifest.files
    problems: list[Problem] = []
    runs: Runs = {}
    for done, file in enumerate(files, start=1):
        problems += _check_file(archive, file, runs)
        if on_file:
            on_file(done, len(files))
    for damaged in archive.manifest.damaged:
        problems.append(Problem(damaged.segment, f"bytes {damaged.offset}-{damaged.end} of the "
                                                 "spool segment could not be read"))  # fmt: skip
    problems += _missing_ends(archive.manifest.ends, runs)
    for (source, stream), found in sorted(runs.items()):
        lost = [x for x in archive.manifest.lost if (x.source, x.stream) == (source, stream)]
        name = " ".join((source, *stream))
        problems += (Problem(name, what) for what in _sequence_problems(found, lost))
    return Report(
        len(files), sum(file.rows for file in files), len(runs), archive.manifest.lost,
        tuple(problems),
    )  # fmt: skip


def _missing_ends(ends: Iterable[End], runs: Runs) -> Iterator[Problem]:
    """Streams whose last records were archived once and are there no more."""
    for end in ends:
        last = max((run.last for run in runs.get((end.source, end.stream), ())), default=0)
        if last < end.sequence:
            name = " ".join((end.source, *end.stream))
            yield Problem(name, f"sequence {last + 1}-{end.sequence} was archived and is missing")


def _check_file(archive: Archive, file: File, runs: Runs) -> Iterator[Problem]:
    try:
        table = read_part(archive.store, file)
    except ArchiveError as error:
        yield Problem(file.path, str(error))
        return
    ingest = int64(table, "ingest")
    if table.num_rows != file.rows:
        yield Problem(file.path, f"{table.num_rows} rows, the manifest says {file.rows}")
    if (ingest[0], ingest[-1]) != (file.first_ingest, file.last_ingest):
        yield Problem(file.path, "its ingest numbers are not those of the manifest")
    if len(ingest) > 1 and not bool((np.diff(ingest) > 0).all()):
        yield Problem(file.path, "its rows are not in ingest order")
    if file.stream != CLOCK:
        _collect(table, file, runs)


def _collect(table: pa.Table, file: File, runs: Runs) -> None:
    sources = table["source"].combine_chunks()
    codes = sources.indices.to_numpy()
    seq, ingest = int64(table, "seq"), int64(table, "ingest")
    for code, source in enumerate(sources.dictionary.to_pylist()):
        rows = np.flatnonzero(codes == code)
        if len(rows):
            found = runs.setdefault((source, file.own_stream), [])
            found += _runs(seq[rows], ingest[rows], file.path)


def _runs(seq: npt.NDArray[np.int64], ingest: npt.NDArray[np.int64], path: str) -> list[Run]:
    starts = np.concatenate([[0], np.flatnonzero(np.diff(seq) != 1) + 1])
    ends = np.concatenate([starts[1:], [len(seq)]]) - 1
    columns = np.stack([seq[starts], seq[ends], ingest[starts], ingest[ends]], axis=1)
    return [Run(a, b, c, d, path) for a, b, c, d in columns.tolist()]


def _sequence_problems(runs: list[Run], lost: Iterable[Lost]) -> Iterator[str]:
    """Duplicates, holes that nobody declared, and disorder among the runs of one stream."""
    ordered = sorted(runs, key=lambda run: (run.first, run.last))
    earlier = ordered[0]  # that which reaches furthest
    for later in ordered[1:]:
        if later.first <= earlier.last:
            last = min(earlier.last, later.last)
            yield f"sequence {later.first}-{last} is there twice: {earlier.path}, {later.path}"
        elif later.first_ingest <= earlier.last_ingest:
            yield f"sequence {later.first} ({later.path}) stands before {earlier.last}"
        for first, last in _undeclared(earlier.last + 1, later.first - 1, lost):
            yield f"sequence {first}-{last} is missing and was not declared lost"
        earlier = max(earlier, later, key=lambda run: run.last)
    for first, last in _undeclared(1, ordered[0].first - 1, lost):
        yield f"sequence {first}-{last} is missing at the start and was not declared lost"


def _undeclared(first: int, last: int, lost: Iterable[Lost]) -> Iterator[tuple[int, int]]:
    """Parts of the interval `first`..`last` that no declared gap covers."""
    for gap in sorted(lost, key=lambda gap: gap.first):
        if gap.last < first or gap.first > last:
            continue
        if gap.first > first:
            yield first, gap.first - 1
        first = gap.last + 1
    if first <= last:
        yield first, last
