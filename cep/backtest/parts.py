"""The distributed way: stage 1 a symbol at a time anywhere, then stage 2 on its parts here.

Parts go from one to the other through files. They can be larger than all ticks together, and the
JVM, through which Spark would carry them, takes many times their size of memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from tempfile import NamedTemporaryFile

import msgspec
import numpy as np
import pyarrow as pa

from cep.archive import File
from cep.backtest.by_time import ALL, Period, cuts_at_silences, read_in
from cep.backtest.places import Places, at_times, ends_msc
from cep.backtest.records import ingest_of, order_of
from cep.backtest.selection import Selection
from cep.backtest.slices import SLICE_ROWS, cuts, sliced
from cep.backtest.told import Told
from cep.clocks import Mode
from cep.dropped import Ended, Reason, nobody
from cep.engine.apart import begun_apart, is_distributable, mode_of
from cep.engine.distributed import Merge
from cep.engine.input_rows import InputRows
from cep.engine.kernels.state import OUT_ORDER
from cep.engine.native import Compiled
from cep.engine.part import EVER, Begun, End, run_part, shipped, warmed
from cep.engine.rows import Rows
from cep.functions import FunctionFile, load_texts, loaded_files
from cep.market import TICK_STREAM
from cep.plan import compile_rules
from cep.plan.elapsed import put_out_by_time
from cep.plan.nodes import Origin

SYMBOL = "symbol"
SLICE_BYTES = 64 << 20
SLICE_ROWS_MIN = 1 << 12


class Job(msgspec.Struct, frozen=True):
    """All that tasks have in common: the rules as text, every symbol in order, where to cut.

    `functions` are the user's files as they are here, so that other machines need not have them.

    `clock` are the files that say how time passed for all symbols.

    `folder` is where they leave their parts, the same for all machines. `ends_msc` is up to when
    time passes in each slice of sorted history.
    """

    text: str
    outputs: tuple[str, ...]
    jit: bool
    keys: tuple[str, ...]
    cuts: tuple[int, ...]
    folder: str = ""
    functions: tuple[FunctionFile, ...] = ()
    mode: Mode = "sorted"
    ends_msc: tuple[int, ...] = ()
    clock: tuple[File, ...] = ()

    @classmethod
    def of(
        cls,
        rules: Compiled,
        keys: Sequence[str],
        selection: Selection | None = None,
        folder: str = "",
        slice_rows: int | None = None,
        silence_ms: int = 0,
    ) -> Job:
        """The job over a selection of an archive, cut into slices of so many rows, of history only
        behind silences that are longer; over rows that are not from an archive if there is none.
        """
        outputs = tuple(sorted(rules.outputs))
        job = cls(rules.plan.text, outputs, rules.jit, tuple(keys), (), folder, loaded_files())
        if selection is None:
            return job
        mode = mode_of(lived=selection.is_lived)
        found = cuts(selection.files, slice_rows or slice_rows_for(rules, mode))
        if mode == "lived":
            return msgspec.structs.replace(job, cuts=tuple(found), mode=mode, clock=selection.clock)
        if silence_ms:
            found = cuts_at_silences(found, selection, rules.plan, silence_ms)
        return job.cut_at(at_times(found), selection)

    def cut_at(self, found: Sequence[int], selection: Selection) -> Job:
        """The job over history, cut at ingest numbers that begin a millisecond."""
        ends = ends_msc(found, selection)
        return msgspec.structs.replace(self, cuts=tuple(found), mode="sorted", ends_msc=ends)

    def end(self, index: int) -> End:
        """How far a slice goes."""
        order = EVER
        if index < len(self.cuts):
            order = int(order_of(np.array(self.cuts[index]), TICK_STREAM))
        return End(order, self.ends_msc[index] if self.ends_msc else None)

    def compiled(self) -> Compiled:
        """The rules in parts, compiled once a process."""
        return _compiled(self.text, self.outputs, self.jit, self.functions)


class Task(msgspec.Struct, frozen=True):
    """A period of a symbol: what of its records is read for it, warm-up included.

    `place` is that of the symbol among all, by name.
    """

    place: int
    symbol: str
    selection: Selection
    period: Period = ALL

    @classmethod
    def of(cls, job: Job, place: int, own: Selection, period: Period = ALL) -> Task:
        """The task of a period, of all records of a symbol."""
        return cls(place, own.symbols[0], read_in(own, period, job.cuts), period)


class PartRow(msgspec.Struct, frozen=True):
    """What one symbol gave in one slice: where its part lies, or the error that ended it."""

    place: int
    slice: int
    symbol: str
    rows: int
    first_ingest: int
    last_ingest: int
    file: str
    offset: int
    size: int
    error: str = ""
    is_full: bool = False
    """Whether something was dropped, then or before, as there was no room for more."""

    def part(self) -> bytes:
        with Path(self.file).open("rb") as file:
            file.seek(self.offset)
            return unpacked(file.read(self.size))


@lru_cache(maxsize=4)
def _compiled(
    text: str, outputs: tuple[str, ...], jit: bool, functions: tuple[FunctionFile, ...]
) -> Compiled:
    load_texts(functions)
    return Compiled(compile_rules(text), outputs=outputs, jit=jit)


def slice_rows_for(rules: Compiled, mode: Mode) -> int:
    """How many records a slice may hold so that what they put out fits into memory.

    Every record may put out a row of each query and of each `every` event; events on edges,
    complex events and signals are few.
    """
    rules, _ = rules.in_parts(mode)
    needed, ids = shipped(rules), rules.ids
    made = [stream.name for stream in rules.plan.streams if stream.origin is Origin.QUERY]
    often = sum(bool(needed[ids.of(name)]) for name in made)
    often += sum(event.every for event in rules.plan.events)
    if not often:
        return SLICE_ROWS
    return max(SLICE_ROWS_MIN, SLICE_BYTES // (often * 8 * sum(rules.stages.row_widths)))


def packed(part: bytes) -> bytes:
    """A part compressed, its size before it: rows of one stream are much alike."""
    compressed: bytes = pa.compress(part, codec="lz4", asbytes=True)
    return len(part).to_bytes(8, "little") + compressed


def unpacked(data: bytes) -> bytes:
    size = int.from_bytes(data[:8], "little")
    part: bytes = pa.decompress(data[8:], decompressed_size=size, codec="lz4", asbytes=True)
    return part


def why_sequential(
    rules: Compiled, *, lived: bool = False, ends_sorted: bool = False
) -> str | None:
    """None when symbols can be run apart; otherwise the reason why not. `lived`: records are as
    they came; `ends_sorted`: but for the last ones, which are history.
    """
    by = rules.stages.by
    others = [f"{name} of {stream}" for stream, name in by.keys.items() if name != SYMBOL]
    if others:
        return f"the key is {others[0]}, the archive is kept by symbol"
    for stream in rules.plan.sources:
        if lived and stream.name == TICK_STREAM and stream.key != SYMBOL:
            return f"{stream.name} has no symbol, by which terminals tell how time passes"
    for event in rules.plan.events:
        if event.key is not None and not by.is_keyed(event):
            return f"{event.name} is made for each {event.key.name} across symbols"
    if lived and ends_sorted and not rules.is_generated("lived"):
        for name, why in put_out_by_time(rules.plan):
            return f"{name}: {why}, and history stands behind what was lived"
    return is_distributable(rules, lived=lived, places_times=True)


def run_task(job: Job, task: Task, rules: Compiled | None = None) -> Iterator[PartRow]:
    """Stage 1 over one symbol's records, one slice at a time in memory; the parts of all slices go
    into one file. `rules` stand in for those of the job's text.
    """
    symbol, period = task.symbol, task.period
    run = begun_apart(rules or job.compiled(), job.keys, job.mode)
    told = Told(msgspec.structs.replace(task.selection, clock=job.clock))
    bounds = order_of(np.array(job.cuts, np.int64), TICK_STREAM)
    number = job.keys.index(symbol) if symbol in job.keys else len(job.keys)
    entered: Counter[str] = Counter()
    # a name of its own: Spark may run a task twice at the same time
    with NamedTemporaryFile(dir=job.folder, suffix=".parts", delete=False) as file:
        for index, batches in sliced(told.records(run), bounds):
            end = job.end(index)
            if index < period.first:
                entered.update(warmed(run, batches, told.before, end))
                continue
            if index == period.past:
                break
            seen, offset, begun = _Seen(batches), file.tell(), Begun(period.number, entered)
            size = file.write(packed(run_part(run, seen, told.before, end, number, begun)))
            file.flush()
            yield PartRow(
                task.place, index, symbol, seen.rows, seen.first_ingest, seen.last_ingest,
                file.name, offset, size,
                is_full=any(why is Reason.BOUND for _, why, _ in run.dropped),
            )  # fmt: skip


class _Seen:
    """Batches on their way, counted."""

    def __init__(self, batches: Iterable[InputRows]) -> None:
        self._batches = batches
        self.rows = 0
        self.first_ingest = self.last_ingest = 0

    def __iter__(self) -> Iterator[InputRows]:
        for batch in self._batches:
            first, last = ingest_of(batch.ints[[0, -1], OUT_ORDER]).tolist()
            self.first_ingest = self.first_ingest if self.rows else first
            self.last_ingest = last
            self.rows += len(batch)
            yield batch


def merged_rows(
    rules: Compiled,
    keys: Sequence[str],
    parts: Iterable[PartRow],
    selection: Selection,
    ended: Ended = nobody,
) -> Iterator[Rows]:
    """Output rows in order, a slice at a time, from parts in any order.

    `ended` is told what all of them have dropped.
    """
    mode = mode_of(lived=selection.is_lived)
    place_of = None if selection.is_lived else Places(selection, rules.plan)
    merge = Merge(rules, keys, mode, place_of)
    ordered = sorted(parts, key=lambda row: (row.slice, row.place))
    for _, group in groupby(ordered, key=lambda row: row.slice):
        yield merge.push((row.place, row.part()) for row in group)
    ended(merge.dropped)
