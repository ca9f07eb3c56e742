"""What of an archive's ticks deserves a doubt, and marks on them, which backtests can mind."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cep.archive.archive import Archive
from cep.archive.levels import RATIO
from cep.archive.manifest import File
from cep.archive.oddities import (
    NEIGHBOURS,
    Floats,
    Ints,
    Mask,
    Odd,
    Sessions,
    Stretch,
    gaps,
    outliers,
    repeated,
    runs,
)
from cep.archive.overlap import table_keys
from cep.archive.parts import int64, part_batches, read_part, write_part
from cep.archive.replacing import forget_replaced, replace_files, tag_of
from cep.archive.schema import TICKS
from mt5bridge.history.zones import HOUR_MS
from mt5bridge.validate import Quality

GAP_MS = HOUR_MS
WEEKS_MIN = 2
PLACES = 5
UNPRICED = int(Quality.NAN | Quality.ZERO | Quality.NEGATIVE | Quality.FAR)
"""Marks of ticks that have no price, or no time, to look at."""
OWN = int(Odd.OUTLIER | Odd.REPEATED | Odd.GAP)

Marks = npt.NDArray[np.int16]


class Outlier(msgspec.Struct, frozen=True):
    """A tick far from its neighbours."""

    time_msc: int
    bid: float
    ask: float


class Level(msgspec.Struct, frozen=True):
    """A day (UTC) whose median price is `ratio` times that of the day before in the archive."""

    date: str
    ratio: float


@dataclass(slots=True)
class Findings:
    """What was found about one symbol; of places, the first few are kept by time.

    `weeks` says how many the history covers: of less than two, no sessions and no gaps are known.
    """

    symbol: str
    ticks: int = 0
    weeks: int = 0
    counts: dict[Odd, int] = field(default_factory=lambda: dict.fromkeys(Odd, 0))
    outliers: list[Outlier] = field(default_factory=list)
    crossed: int = 0
    crossed_runs: int = 0
    longest_crossed: Stretch | None = None
    gaps: list[Stretch] = field(default_factory=list)
    levels: list[Level] = field(default_factory=list)


class Examined(msgspec.Struct, frozen=True):
    """Findings by symbol, and how many files were marked anew."""

    findings: tuple[Findings, ...]
    marked_files: int = 0


def examine(
    archive: Archive,
    symbols: Collection[str] | None = None,
    *,
    gap_ms: int = GAP_MS,
    mark: bool = False,
    on_file: Callable[[int, int], None] | None = None,
) -> Examined:
    """Look at all ticks, of some symbols or all, and with `mark` write down which are odd.

    Marks of an earlier run are replaced. Who has opened the archive before reads on without them.
    ArchiveError for a file that cannot be read.
    """
    if mark:
        with archive.writing():
            found = _examine(archive, symbols, gap_ms, True, on_file)
            forget_replaced(archive)
            return found
    return _examine(archive, symbols, gap_ms, False, on_file)


def _examine(
    archive: Archive,
    symbols: Collection[str] | None,
    gap_ms: int,
    mark: bool,
    on_file: Callable[[int, int], None] | None,
) -> Examined:
    files = sorted(archive.files(TICKS, symbols), key=lambda file: (file.symbol, file.date))
    found, marked, done = [], 0, 0
    for symbol, group in groupby(files, key=lambda file: file.symbol):
        findings = Findings(symbol)
        old: list[File] = []
        new: list[File] = []
        for day, marks in _examined_days(archive, list(group), findings, gap_ms):
            if mark:
                for file, fresh in _marked(archive, day, marks):
                    old.append(file)
                    new.append(fresh)
            done += len(day.files)
            if on_file:
                on_file(done, len(files))
        if new:
            replace_files(archive, old, new)
        marked += len(new)
        found.append(findings)
    return Examined(tuple(found), marked)


@dataclass(slots=True)
class _Day:
    """All ticks of a symbol's day, of all its files, sorted by time."""

    files: list[File]
    tables: list[pa.Table]
    order: npt.NDArray[np.intp]
    times: Ints
    quality: Ints
    bid: Floats
    ask: Floats
    keys: npt.NDArray[np.void]

    @property
    def priced(self) -> npt.NDArray[np.intp]:
        """The ticks whose prices can be looked at."""
        return np.flatnonzero((self.quality & UNPRICED) == 0)


def _days(archive: Archive, files: Iterable[File]) -> Iterator[_Day]:
    for _, group in groupby(files, key=lambda file: file.date):
        own = list(group)
        tables = [read_part(archive.store, file) for file in own]
        columns = {
            name: np.concatenate([table[name].to_numpy() for table in tables])
            for name in ("time_msc", "ingest", "quality", "bid", "ask")
        }
        order = np.lexsort((columns["ingest"], columns["time_msc"]))
        keys = np.concatenate([table_keys(table) for table in tables])
        yield _Day(
            own, tables, order, columns["time_msc"][order],
            columns["quality"][order].astype(np.int64), columns["bid"][order],
            columns["ask"][order], keys[order],
        )  # fmt: skip


def _examined_days(
    archive: Archive, files: list[File], findings: Findings, gap_ms: int
) -> Iterator[tuple[_Day, Ints]]:
    """Each day and the marks of its ticks, in order of time."""
    sessions = Sessions()
    for file in files:
        for table in part_batches(archive.store, file, ("time_msc",)):
            sessions.add(int64(table, "time_msc"))
    findings.weeks = sessions.weeks
    usual = sessions.usual if sessions.weeks >= WEEKS_MIN else None
    before: _Day | None = None
    days = _days(archive, files)
    day = next(days, None)
    while day is not None:
        after = next(days, None)
        marks = _marks(before, day, after, usual, gap_ms, findings)
        _tell(findings, before, day, marks)
        yield day, marks
        before, day = day, after


def _marks(
    before: _Day | None,
    day: _Day,
    after: _Day | None,
    usual: Mask | None,
    gap_ms: int,
    findings: Findings,
) -> Ints:
    marks = np.zeros(len(day.times), np.int64)
    marks[_far_ones(before, day, after)] |= Odd.OUTLIER
    marks[repeated(day.keys)] |= Odd.REPEATED
    if usual is not None:
        last = day.times[:1] if before is None else before.times[-1:]
        times = np.concatenate([last, day.times])
        for row in gaps(times, usual, gap_ms).tolist():
            marks[row - 1] |= Odd.GAP
            findings.gaps.append(Stretch(int(times[row - 1]), int(times[row]), 0))
    return marks


def _far_ones(before: _Day | None, day: _Day, after: _Day | None) -> npt.NDArray[np.intp]:
    """The ticks of a day far from their neighbours, those of the days around it among these."""
    priced = day.priced
    parts = [(day, priced)]
    if before is not None:
        parts.insert(0, (before, before.priced[-NEIGHBOURS:]))
    if after is not None:
        parts.append((after, after.priced[:NEIGHBOURS]))
    bid = np.concatenate([part.bid[rows] for part, rows in parts])
    ask = np.concatenate([part.ask[rows] for part, rows in parts])
    first = 0 if before is None else len(parts[0][1])
    far = outliers((bid + ask) / 2, np.abs(ask - bid))
    return priced[far[first : first + len(priced)]]


def _tell(findings: Findings, before: _Day | None, day: _Day, marks: Ints) -> None:
    """Count a day's oddities and keep the first places."""
    findings.ticks += len(day.times)
    for odd in Odd:
        findings.counts[odd] += int(np.count_nonzero(marks & odd))
    for row in np.flatnonzero(marks & Odd.OUTLIER)[: PLACES - len(findings.outliers)].tolist():
        findings.outliers.append(
            Outlier(int(day.times[row]), float(day.bid[row]), float(day.ask[row]))
        )
    for run in runs((day.quality & Quality.CROSSED) != 0, day.times):
        findings.crossed += run.ticks
        findings.crossed_runs += 1
        longest = findings.longest_crossed or run
        findings.longest_crossed = run if run.ticks > longest.ticks else longest
    if before is not None and len(before.priced) and len(day.priced):
        ratio = float(np.median(day.bid[day.priced]) / np.median(before.bid[before.priced]))
        if not 1 / RATIO < ratio < RATIO:
            findings.levels.append(Level(day.files[0].date, ratio))


def _marked(archive: Archive, day: _Day, marks: Ints) -> Iterator[tuple[File, File]]:
    """Files of a day whose marks are others now, and the files that take their place."""
    own = np.empty(len(marks), np.int64)
    own[day.order] = marks
    begin = 0
    for file, table in zip(day.files, day.tables, strict=True):
        quality = int64(table, "quality").astype(np.int64)
        fresh = (quality & ~OWN) | own[begin : begin + table.num_rows]
        begin += table.num_rows
        if np.array_equal(fresh, quality):
            continue
        place = table.column_names.index("quality")
        column = pa.array(fresh.astype(np.int16))
        assert file.mode is not None, "a manifest that is read has modes"
        marked = write_part(
            archive.store, TICKS, file.symbol, file.date,
            table.set_column(place, table.schema.field(place), column), file.mode,
            tag_of(archive, "d", file.mode),
        )  # fmt: skip
        yield file, msgspec.structs.replace(marked, name=file.name)
