"""Imported history -> archive files, in the order (time_msc, order in its source)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cep.archive.archive import Archive
from cep.archive.errors import ArchiveError
from cep.archive.ingest import INGEST_BITS
from cep.archive.manifest import File, Mode, save
from cep.archive.parts import int64, read_part, write_part
from cep.archive.paths import DAY_MS, date_of
from cep.archive.schema import SCHEMAS, TICKS
from cep.archive.tables import as_table
from mt5bridge.history.block import TickBlock
from mt5bridge.records import Records
from mt5bridge.validate import Quality, each, quality_counts, tick_quality

Ints = npt.NDArray[np.int64]
_NEVER = -(1 << 62)
"""Before any day and ingest number."""


class Imported(msgspec.Struct, frozen=True):
    """Totals of one import; `source` is the name its rows carry.

    `marks` counts odd ticks by what is odd; `repeated` are those that the archive had before,
    with the same time and prices; `doubled` those that came in this import before, with the same
    time, prices and volume.
    """

    source: str
    files: int
    rows: int
    symbols: tuple[str, ...]
    marks: dict[str, int] = {}
    repeated: int = 0
    doubled: int = 0


@dataclass(slots=True)
class _Symbol:
    """Days of one symbol that are not written yet, and where its sequence stands."""

    days: dict[int, list[TickBlock]] = field(default_factory=dict)
    written_day: int = _NEVER
    sequence: int = 1
    ingest: int = _NEVER


def import_history(
    archive: Archive,
    blocks: Iterable[TickBlock],
    source: str = "history",
    *,
    allow_overlap: bool = False,
    on_rows: Callable[[int], None] | None = None,
) -> Imported:
    """Archive `blocks`; all of them become visible at once, or none.

    Ticks may be out of order by up to a day. Refuses times of a symbol that the archive already
    covers unless `allow_overlap`; then the new ticks of a millisecond follow those there.
    """
    with archive.writing():
        writer = _Writer(archive, _run_name(archive, source), allow_overlap)
        files = list(_write_days(writer, blocks, on_rows))
        if files:
            archive.manifest = save(
                archive.directory,
                msgspec.structs.replace(archive.manifest, files=(*archive.manifest.files, *files)),
            )
    rows = sum(file.rows for file in files)
    symbols = tuple(sorted({file.symbol for file in files}))
    return Imported(
        writer.source, len(files), rows, symbols, dict(writer.marks), writer.repeated,
        writer.doubled,
    )  # fmt: skip


def _run_name(archive: Archive, source: str) -> str:
    """Each import is a source of its own, so that its sequence begins at 1."""
    names = {r.source for file in archive.manifest.files for r in file.sequences}
    run = 1
    while f"{source}/{run}" in names:
        run += 1
    return f"{source}/{run}"


def _write_days(
    writer: _Writer, blocks: Iterable[TickBlock], on_rows: Callable[[int], None] | None
) -> Iterator[File]:
    symbols: dict[str, _Symbol] = {}
    for block in blocks:
        symbol = symbols.setdefault(block.symbol, _Symbol())
        newest = _take(symbol, block)
        for day in sorted(day for day in symbol.days if day < newest - 1):
            yield writer.write(block.symbol, symbol, day)
        if on_rows:
            on_rows(len(block.ticks))
    for name in sorted(symbols):
        for day in sorted(symbols[name].days):
            yield writer.write(name, symbols[name], day)


def _take(symbol: _Symbol, block: TickBlock) -> int:
    """Sort `block` into days; the newest day it has."""
    days = block.utc_msc // DAY_MS
    for day in np.unique(days).tolist():
        if day <= symbol.written_day:
            raise ArchiveError(
                f"{block.symbol}: ticks of {date_of(day)} come more than a day after later ones; "
                "sort the source by time"
            )
        part = TickBlock(block.symbol, block.ticks[days == day], block.utc_offset_ms)
        symbol.days.setdefault(day, []).append(part)
    return int(days.max()) if len(days) else symbol.written_day


@dataclass(slots=True)
class _Writer:
    archive: Archive
    source: str
    allow_overlap: bool
    marks: Counter[str] = field(default_factory=Counter)
    repeated: int = 0
    doubled: int = 0

    def write(self, name: str, symbol: _Symbol, day: int) -> File:
        """Write one day of one symbol and step its sequence and ingest numbers on."""
        blocks = symbol.days.pop(day)
        ticks = np.concatenate([block.ticks for block in blocks])
        times = np.concatenate([block.utc_msc for block in blocks])
        order = np.argsort(times, kind="stable")
        times, ticks = times[order], ticks[order]
        there = self._there(name, int(times[0]), int(times[-1]))
        ingest = ingest_numbers(times, np.sort(int64(there, "ingest")), symbol.ingest)
        self.repeated += repeated(times, ticks, there)
        self.doubled += doubled(times, ticks)
        marked, _ = tick_quality(ticks, int(ticks["time_msc"].min()))
        # They are sorted now, so that none is late: at most, a clock went back.
        quality = each(marked, len(ticks)) & ~np.uint8(Quality.LATE)
        self.marks.update(quality_counts(quality))
        raw = ticks["time_msc"].astype(np.int64)
        columns = {
            "ingest": ingest,
            "seq": symbol.sequence + np.arange(len(ticks)),
            "time_msc": times,
            "raw_time_msc": raw,
            "utc_offset_ms": raw - times,
            "quality": quality.astype(np.int64),
            "source": np.zeros(len(ticks), np.int64),
        }
        symbol.sequence += len(ticks)
        symbol.ingest, symbol.written_day = int(ingest[-1]), day
        table = as_table(TICKS, name, columns, ticks, [self.source])
        tag = "-" + self.source.rpartition("/")[2]
        return write_part(
            self.archive.directory, TICKS, name, date_of(day), table, Mode.SORTED, tag
        )

    def _there(self, name: str, first_msc: int, last_msc: int) -> pa.Table:
        """The archive's rows of the files of `name` that reach into the interval."""
        files = self.archive.files(TICKS, {name}, first_msc, last_msc + 1)
        if files and not self.allow_overlap:
            raise ArchiveError(
                f"{name}: the archive already has ticks between {first_msc} and {last_msc} "
                f"({files[0].path}); import other times, or allow the overlap "
                "(`archive import --allow-overlap`)"
            )
        tables = [read_part(self.archive.directory, file) for file in files]
        return pa.concat_tables([SCHEMAS[TICKS].empty_table(), *tables]).unify_dictionaries()


def repeated(times_msc: Ints, ticks: Records, there: pa.Table) -> int:
    """How many ticks the archived rows `there` have too: the same time, bid and ask."""
    if not there.num_rows:
        return 0
    named = [("time_msc", np.int64), ("bid", np.float64), ("ask", np.float64)]
    known, new = np.empty(there.num_rows, named), np.empty(len(ticks), named)
    for name, _ in named:
        known[name] = there[name].to_numpy()
        new[name] = times_msc if name == "time_msc" else ticks[name]
    return int(np.count_nonzero(np.isin(as_keys(new), as_keys(known))))


def doubled(times_msc: Ints, ticks: Records) -> int:
    """How many ticks, sorted by time, came before: the same time, prices and volume."""
    is_same = times_msc[1:] == times_msc[:-1]
    shared = np.flatnonzero(np.append(is_same, False) | np.append(False, is_same))
    named: list[tuple[str, type]] = [("time_msc", np.int64)]
    named += [(name, np.float64) for name in ("bid", "ask", "last", "volume_real")]
    rows = np.empty(len(shared), named)
    for name, _ in named:
        rows[name] = (times_msc if name == "time_msc" else ticks[name])[shared]
    return len(rows) - len(np.unique(as_keys(rows)))


def as_keys(rows: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
    """Rows as bytes, which can be sorted whatever they hold."""
    return np.ascontiguousarray(rows).view(f"V{rows.dtype.itemsize}")


def ingest_numbers(times_msc: Ints, there: Ints, previous: int) -> Ints:
    """Strictly increasing numbers above `previous` that follow time.

    A tick gets `time_msc << INGEST_BITS`, or the next free number after those of its millisecond:
    the sorted numbers `there` of earlier imports and its own predecessors.
    """
    lowest = times_msc << INGEST_BITS
    if len(there):
        before = np.searchsorted(there, (times_msc + 1) << INGEST_BITS) - 1
        taken = np.where(before >= 0, there[np.maximum(before, 0)], _NEVER)
        lowest = np.maximum(lowest, taken + 1)
    steps = np.arange(len(lowest))
    return np.maximum.accumulate(np.maximum(lowest - steps, previous + 1)) + steps
