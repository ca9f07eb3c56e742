"""Archived records as the groups that they were in a spool: what rules can warm up on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cep.archive.archive import Archive
from cep.archive.ingest import INGEST_BITS
from cep.archive.manifest import File, Mode
from cep.archive.merge import merged
from cep.archive.parts import int64, within
from cep.archive.schema import CLOCK, DEALS, FIELDS, TICKS
from mt5bridge.records import DEAL, TICK
from mt5bridge.spool import CLOCK as CLOCK_RECORD
from mt5bridge.spool import Group, RecordKind
from mt5bridge.validate import Quality

Ints = npt.NDArray[np.int64]
_KINDS = {TICKS: RecordKind.TICKS, DEALS: RecordKind.DEALS, CLOCK: RecordKind.CLOCK}
"""In the order of records that share a number."""
_DTYPES = {TICKS: TICK, DEALS: DEAL, CLOCK: CLOCK_RECORD}
_TEXTS = ("comment", "external_id")
_MARKS = int(sum(Quality))
"""Those that a daemon makes; others are those of `archive doctor`."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a spool begins: its name, and the number and time of its first record.

    Records of the archive from `from_msc` (UTC) on are wanted that come before it.
    """

    spool: str
    first_ingest: int
    first_msc: int
    from_msc: int


class Earlier:
    """What an archive has of before a spool begins, as the rules of a daemon would have seen it.

    Records of this spool have their own numbers. Others come before them all, numbered on up to
    there: below 1 where this spool's own first records are in the archive.
    """

    def __init__(self, archive: Archive, place: Place) -> None:
        self._store = archive.store
        self._from_msc = place.from_msc
        origin = next((o for o in archive.manifest.origins if o.spool == place.spool), None)
        self._base = None if origin is None else origin.base
        self._end = (
            place.first_msc << INGEST_BITS
            if self._base is None
            else self._base + place.first_ingest
        )
        self._files = [file for file in archive.manifest.files if self._is_wanted(file)]
        self.rows_max = sum(file.rows for file in self._files)
        """At most so many records come."""
        own = [f.first_ingest for f in self._files if self._is_own(f.mode, f.first_ingest)]
        self._own_first = min(own, default=self._end)
        first = place.first_ingest if not own else self._own_first - (self._base or 0)
        self._next = first - sum(f.rows for f in self._files if f.first_ingest < self._own_first)

    def _is_wanted(self, file: File) -> bool:
        return file.last_msc >= self._from_msc and file.first_ingest < self._end

    def _is_own(self, mode: Mode | None, ingest: int) -> bool:
        return self._base is not None and mode is Mode.LIVED and ingest > self._base

    def __iter__(self) -> Iterator[Group]:
        """Groups in order, from an archive that stays as it is meanwhile."""
        for step in self._steps():
            yield from self._groups(step)

    def _steps(self) -> Iterator[dict[tuple[str, bool], pa.Table]]:
        """Tables by stream and whether they are sorted history; a step's come before the next's."""
        rest = {
            (stream, is_sorted): self._tables(stream, is_sorted)
            for stream in _KINDS
            for is_sorted in (False, True)
        }
        heads = {name: next(tables, None) for name, tables in rest.items()}
        while there := {name: table for name, table in heads.items() if table is not None}:
            bound = min(int(table["ingest"][-1].as_py()) for table in there.values())
            step = {}
            for name, table in there.items():
                count = int(np.searchsorted(int64(table, "ingest"), bound, side="right"))
                if count:
                    step[name] = table.slice(0, count)
                left = table.slice(count)
                heads[name] = left if left.num_rows else next(rest[name], None)
            yield step

    def _tables(self, stream: str, is_sorted: bool) -> Iterator[pa.Table]:
        """Rows of a stream in order, those of history only where they precede this spool's."""
        wanted = (Mode.SORTED,) if is_sorted else (Mode.LIVED,)
        files = [one for one in self._files if one.stream == stream and one.mode in wanted]
        files.sort(key=lambda file: (file.first_ingest, file.symbol, file.path))
        end = self._own_first if is_sorted else self._end
        for table in merged(self._store, files):
            kept = within(table, self._from_msc, None)
            count = int(np.searchsorted(int64(kept, "ingest"), end, side="left"))
            if count:
                yield kept.slice(0, count)

    def _groups(self, step: dict[tuple[str, bool], pa.Table]) -> Iterator[Group]:
        parts = [_Rows.of(stream, table) for (stream, _), table in step.items()]
        widths = [len(part.ingest) for part in parts]
        ingest = np.concatenate([part.ingest for part in parts])
        rank = np.repeat([list(_KINDS).index(stream) for stream, _ in step], widths)
        places = np.lexsort((rank, ingest))  # of rows, counted through all parts
        is_history = np.repeat([is_sorted for _, is_sorted in step], widths)
        numbers = self._numbered(ingest[places], is_history[places])
        part_of = np.repeat(np.arange(len(parts)), widths)[places]
        before = np.cumsum([0, *widths])
        for first, end in _runs(parts, places, part_of, numbers):
            part = int(part_of[first])
            row = int(places[first] - before[part])
            yield parts[part].group(row, row + end - first, int(numbers[first]))

    def _numbered(self, ingest: Ints, is_history: npt.NDArray[np.bool_]) -> Ints:
        """The numbers that records have in the spool, or count up to it."""
        others = is_history if self._base is None else is_history | (ingest <= self._base)
        others = others | (self._base is None)
        numbers = ingest - (self._base or 0)
        count = int(np.count_nonzero(others))
        numbers[others] = self._next + np.arange(count)
        self._next += count
        return numbers


class _Rows(NamedTuple):
    """Rows of one stream as records, and what groups of them have in common."""

    stream: str
    records: npt.NDArray[Any]
    ingest: Ints
    seq: Ints
    offset: Ints
    quality: Ints
    names: list[tuple[str, str]]
    name: Ints
    """Source and symbol of each row, by their place in `names`."""

    @classmethod
    def of(cls, stream: str, table: pa.Table) -> _Rows:
        names, name = _names(table)
        seq, offset = int64(table, "seq"), int64(table, "utc_offset_ms")
        quality = int64(table, "quality").astype(np.int64) & _MARKS
        records = _records(stream, table)
        return cls(stream, records, int64(table, "ingest"), seq, offset, quality, names, name)

    def group(self, first: int, end: int, ingest: int) -> Group:
        source, symbol = self.names[int(self.name[first])]
        quality = self.quality[first:end].astype(np.uint8)
        return Group(
            ingest,
            _KINDS[self.stream],
            source,
            (self.stream, symbol) if self.stream == TICKS else (self.stream,),
            int(self.seq[first]),
            self.records[first:end],
            int(self.offset[first]),
            quality if quality.any() else quality[:0],
        )


def _runs(
    parts: list[_Rows], places: Ints, part_of: Ints, numbers: Ints
) -> Iterator[tuple[int, int]]:
    """Where neighbours make one group: of one stream, source and offset, each behind the other."""
    is_new = (np.diff(places) != 1) | (np.diff(part_of) != 0) | (np.diff(numbers) != 1)
    for columns, step in (
        ([part.seq for part in parts], 1),
        ([part.offset for part in parts], 0),
        ([part.name for part in parts], 0),
    ):
        is_new |= np.diff(np.concatenate(columns)[places]) != step
    cuts = (np.flatnonzero(is_new) + 1).tolist()
    yield from zip([0, *cuts], [*cuts, len(places)], strict=True)


def _names(table: pa.Table) -> tuple[list[tuple[str, str]], Ints]:
    """Pairs of source and symbol, and which of them each row has."""
    sources, symbols = (
        table[name].unify_dictionaries().combine_chunks() for name in ("source", "symbol")
    )
    width = len(symbols.dictionary)
    names = [(a, b) for a in sources.dictionary.to_pylist() for b in symbols.dictionary.to_pylist()]
    codes = sources.indices.to_numpy().astype(np.int64) * width + symbols.indices.to_numpy()
    return names, codes


def _records(stream: str, table: pa.Table) -> npt.NDArray[Any]:
    """Rows as the records that a terminal has sent, in its own time."""
    records = np.zeros(table.num_rows, _DTYPES[stream])
    raw = int64(table, "raw_time_msc")
    records["time_msc"] = raw
    for name in FIELDS[stream]:
        if name in _TEXTS:
            records[name] = [text.encode() for text in table[name].to_pylist()]
        else:
            records[name] = table[name].to_numpy().astype(records.dtype[name], casting="unsafe")
    if stream == TICKS:
        records["time"] = raw // 1000
    elif stream == DEALS:
        records["symbol"] = [text.encode() for text in table["symbol"].to_pylist()]
    return records
