"""Imported history -> archive files, in the order (time_msc, order in its source)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import count, groupby

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cep.archive.archive import Archive, chosen
from cep.archive.errors import ArchiveError
from cep.archive.ingest import INGEST_BITS
from cep.archive.levels import far, middle_of, middles
from cep.archive.manifest import File, Mode, save
from cep.archive.overlap import Overlap, doubled, repeated, repeats, table_keys, tick_keys
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

    `marks` counts odd ticks by what is odd. Of ticks with the time, prices and volume of another,
    `repeated` are those that the archive has too, `doubled` those that came in this import before,
    and `left_out` those that are not archived, as only what is new was asked for. `unsorted` stood
    behind later ones of their export. Prices that are `far` are not of their day or the day before,
    `far_first` being the symbol, time and price of the first.
    """

    source: str
    files: int
    rows: int
    symbols: tuple[str, ...]
    marks: dict[str, int] = {}
    repeated: int = 0
    doubled: int = 0
    left_out: int = 0
    unsorted: int = 0
    far: int = 0
    far_first: tuple[str, int, float] | None = None


@dataclass(slots=True)
class _Symbol:
    """Days of one symbol that are not written yet, and where its sequence stands."""

    days: dict[int, list[TickBlock]] = field(default_factory=dict)
    written_day: int = _NEVER
    sequence: int = 1
    ingest: int = _NEVER
    level: float | None = None
    """The middle price of the day before; None: the archive has not been asked for it."""
    newest_msc: int = _NEVER
    unsorted: int = 0


def import_history(
    archive: Archive,
    blocks: Iterable[TickBlock],
    source: str = "history",
    *,
    overlap: Overlap = "refuse",
    on_rows: Callable[[int], None] | None = None,
) -> Imported:
    """Archive `blocks`; all of them become visible at once, or none.

    Ticks may be out of order by up to a day. Times of a symbol that the archive covers already are
    refused, unless `overlap` says otherwise; then new ticks of a millisecond follow those there.
    """
    with archive.writing():
        writer = _Writer(archive, overlap)
        for _, export in groupby(blocks, key=lambda block: block.export):
            # A source of its own, whose sequence begins at 1: exports may go back in time.
            writer.source = writer.free_name(source)
            _write_days(writer, export, on_rows)
        files = writer.files
        if files:
            archive.manifest = save(
                archive.store,
                msgspec.structs.replace(archive.manifest, files=(*archive.manifest.files, *files)),
            )
    return Imported(
        writer.source, len(files), sum(file.rows for file in files),
        tuple(sorted({file.symbol for file in files})), dict(writer.marks),
        writer.repeated, writer.doubled, writer.left_out, writer.unsorted, writer.far,
        writer.far_first,
    )  # fmt: skip


def _write_days(
    writer: _Writer, blocks: Iterable[TickBlock], on_rows: Callable[[int], None] | None
) -> None:
    symbols: dict[str, _Symbol] = {}
    for block in blocks:
        symbol = symbols.setdefault(block.symbol, _Symbol())
        newest = _take(symbol, block)
        for day in sorted(day for day in symbol.days if day < newest - 1):
            writer.write(block.symbol, symbol, day)
        if on_rows:
            on_rows(len(block.ticks))
    for name in sorted(symbols):
        writer.unsorted += symbols[name].unsorted
        for day in sorted(symbols[name].days):
            writer.write(name, symbols[name], day)


def _take(symbol: _Symbol, block: TickBlock) -> int:
    """Sort `block` into days; the newest day it has."""
    times = block.utc_msc
    newest = np.maximum.accumulate(np.maximum(times, symbol.newest_msc))
    symbol.unsorted += int(np.count_nonzero(times < newest))
    symbol.newest_msc = int(newest[-1]) if len(newest) else symbol.newest_msc
    days = times // DAY_MS
    for day in np.unique(days).tolist():
        if day <= symbol.written_day:
            raise ArchiveError(
                f"{block.symbol}: ticks of {date_of(day)} come more than a day after later ones; "
                "sort the source by time"
            )
        part = replace(block, ticks=block.ticks[days == day])
        symbol.days.setdefault(day, []).append(part)
    return int(days.max()) if len(days) else symbol.written_day


@dataclass(slots=True)
class _Writer:
    archive: Archive
    overlap: Overlap
    source: str = ""
    files: list[File] = field(default_factory=list)
    marks: Counter[str] = field(default_factory=Counter)
    repeated: int = 0
    doubled: int = 0
    left_out: int = 0
    unsorted: int = 0
    far: int = 0
    far_first: tuple[str, int, float] | None = None

    def free_name(self, source: str) -> str:
        """`source` with the first number that no rows carry."""
        files = (*self.archive.manifest.files, *self.files)
        names = {found.source for file in files for found in file.sequences}
        return next(name for run in count(1) if (name := f"{source}/{run}") not in names)

    def write(self, name: str, symbol: _Symbol, day: int) -> None:
        """Write one day of one symbol and step its sequence and ingest numbers on."""
        blocks = symbol.days.pop(day)
        ticks = np.concatenate([block.ticks for block in blocks])
        times = np.concatenate([block.utc_msc for block in blocks])
        order = np.argsort(times, kind="stable")
        times, ticks = times[order], ticks[order]
        self._look(name, symbol, times, ticks)
        there = self._there(name, int(times[0]), int(times[-1]))
        if there.num_rows:
            times, ticks = self._beside(there, times, ticks)
        self.doubled += doubled(times, ticks)
        symbol.written_day = day
        if len(times):
            ingest = ingest_numbers(times, np.sort(int64(there, "ingest")), symbol.ingest)
            self.files.append(self._file(name, symbol, day, ingest, times, ticks))

    def _look(self, name: str, symbol: _Symbol, times: Ints, ticks: Records) -> None:
        """Note prices that are far from those of their day, or all from those of the day before."""
        prices = middles(ticks)
        own = middle_of(prices)
        if symbol.level is None:
            symbol.level = self._level(name, int(times[0]))
        rows = np.flatnonzero(far(prices, own) | far(prices, symbol.level))
        if len(rows) and self.far_first is None:
            self.far_first = name, int(times[rows[0]]), float(prices[rows[0]])
        self.far += len(rows)
        symbol.level = symbol.level if np.isnan(own) else own

    def _level(self, name: str, before_msc: int) -> float:
        """The middle price of the last day that the archive has before; NaN when it has none."""
        files = [file for file in self.archive.files(TICKS, {name}) if file.last_msc < before_msc]
        if not files:
            return np.nan
        table = read_part(self.archive.store, max(files, key=lambda file: file.last_msc))
        return middle_of((table["bid"].to_numpy() + table["ask"].to_numpy()) / 2)

    def _beside(self, there: pa.Table, times: Ints, ticks: Records) -> tuple[Ints, Records]:
        """The ticks, sorted by time, that are to be archived beside the rows that are there."""
        keys, known = tick_keys(times, ticks), table_keys(there)
        if self.overlap == "new":
            fresh = ~repeats(known, keys)
            self.left_out += int(np.count_nonzero(~fresh))
            return times[fresh], ticks[fresh]
        self.repeated += repeated(known, keys)
        return times, ticks

    def _file(
        self, name: str, symbol: _Symbol, day: int, ingest: Ints, times: Ints, ticks: Records
    ) -> File:
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
        symbol.ingest = int(ingest[-1])
        table = as_table(TICKS, name, columns, ticks, [self.source])
        tag = "-" + self.source.rpartition("/")[2]
        return write_part(self.archive.store, TICKS, name, date_of(day), table, Mode.SORTED, tag)

    def _there(self, name: str, first_msc: int, last_msc: int) -> pa.Table:
        """Rows of the files of `name` that reach into the interval, of earlier exports too."""
        wanted = (TICKS, {name}, first_msc, last_msc + 1)
        files = [*self.archive.files(*wanted), *chosen(self.files, *wanted)]
        if files and self.overlap == "refuse":
            raise ArchiveError(
                f"{name}: the archive already has ticks between {np.datetime64(first_msc, 'ms')} "
                f"and {np.datetime64(last_msc, 'ms')} UTC "
                f"({files[0].path}); import other times, or say what to do "
                "with them (`archive import --overlap new`)"
            )
        tables = [read_part(self.archive.store, file) for file in files]
        return pa.concat_tables([SCHEMAS[TICKS].empty_table(), *tables]).unify_dictionaries()


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
