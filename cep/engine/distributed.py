"""Stage 1 elsewhere, one key or some keys at a time, and its results put together again.

A keyed stage gives the same rows for a key whether it sees that key alone or among others; only
`seq` counts over all keys of an engine. So the parts are merged in the one order of the records,
`seq` is counted anew, and what crosses keys runs on the merged rows (`Compiled.in_parts`): the
sequential answer, byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from cep.clocks import Mode
from cep.dropped import Dropped, SavedCounts
from cep.engine.chunks import Chunks
from cep.engine.clock_cells import tell_clocks
from cep.engine.encode import InputRows
from cep.engine.kernels.state import (
    LEVEL,
    OUT_ATTRIBUTES,
    OUT_ORDER,
    OUT_STREAM,
    Ints,
)
from cep.engine.layout import has_cells, row_cells
from cep.engine.native import Compiled, Run
from cep.engine.output_rows import OutputRows
from cep.engine.rows import Rows
from cep.engine.splice import LEVELS, found_by, passed_on, spliced
from cep.engine.stage_run import StageRun
from cep.engine.stages import CROSSING, KEYED, Stages
from cep.engine.watermarks import Placed
from cep.plan.nodes import Chained, Complex, Event
from cep.plan.types import Type


class KeysOutput(msgspec.Struct, frozen=True):
    """Output of stage 1 for some keys, as plain bytes: int64 and float64 in C order.

    `dropped` is what was dropped meanwhile.
    """

    ints: bytes
    floats: bytes
    lists: bytes
    widths: tuple[int, int]
    strings: list[str]
    dropped: SavedCounts

    def rows(self) -> OutputRows:
        return OutputRows(
            np.frombuffer(self.ints, np.int64).reshape(-1, self.widths[0]).copy(),
            np.frombuffer(self.floats, np.float64).reshape(-1, self.widths[1]).copy(),
            np.frombuffer(self.lists, np.int64).copy(),
        )


def is_distributable(rules: Compiled, *, lived: bool = False) -> str | None:
    """None when stage 1 can run elsewhere; otherwise the reason why it cannot.

    `lived`: records are as they came, so that a clock of all keys shows what no single key tells.
    """
    mode: Mode = "lived" if lived else "sorted"
    if lived and rules.plan.compat:
        return f"of compat('{rules.plan.compat}') all keys have one clock"
    for name, why in rules.why_not_generated(mode).items():
        return f"{name}: {why}; so a program runs the rules, and has all keys in one"
    stages = Stages.of(rules.plan, apart=True)
    if KEYED not in stages.used():
        return "nothing in the rules works per key"
    for stream in rules.plan.sources:
        readers = stages.readers(stream.name, CROSSING)
        if readers:
            return f"{readers[0].name} reads {stream.name} across all keys"
    for (_, name), cell in stages.clocks.of_part.items():
        if lived and not stages.clocks.clocks[cell].is_by_key:
            return f"{name} goes by the lived records of all keys"
    for one, other, met in _torn(stages):
        return f"engines {one} and {other}, which crosses keys, both lead to {met}"
    return None


def _torn(stages: Stages) -> Iterator[tuple[str, str, str]]:
    """Engines of different stages whose finds meet, and where: in one stage both hand over in turn.

    Only the first of them, which is in the earlier stage and leads to the other, could be moved.
    """
    chunks = Chunks(stages.plan)
    for one in stages.plan.engines:
        for other in stages.plan.engines:
            if stages.engine(one.name) < stages.engine(other.name):
                met = chunks.meeting(one.name, other.name)
                if met is not None:
                    yield one.name, other.name, met


def run_part(
    run: Run,
    batches: Iterable[InputRows],
    told: Callable[[int], Iterable[Placed]] = lambda order: (),
) -> bytes:
    """Run stage 1 over the records of some keys; `run` was started with all keys there are.

    It is one of the first of rules in parts (`Compiled.in_parts`). `told` gives what is told of
    these keys before a place in the order, and was not given yet.
    """
    kept: list[OutputRows] = []
    needed = shipped(run.rules)
    offset = 0
    before = run.dropped
    for batch in batches:
        passed = told(int(batch.ints[-1, OUT_ORDER])) if len(batch) else ()
        for rows in run.feed_raw(batch, passed):
            places = np.flatnonzero(needed[rows.ints[:, OUT_STREAM]])
            ints = rows.ints[places]
            tell_clocks(ints, run.rules.stages.clocks, batch.ints)
            _move_lists(run, ints, offset)
            offset += len(rows.lists)
            kept.append(OutputRows(ints, rows.floats[places], rows.lists))
    merged = _concatenated(run, kept)
    part = KeysOutput(
        merged.ints.tobytes(),
        merged.floats.tobytes(),
        merged.lists.tobytes(),
        (merged.ints.shape[1], merged.floats.shape[1]),
        run.strings.values,
        (run.dropped - before).state(),
    )
    return msgspec.msgpack.encode(part)


class Merge:
    """Puts parts together, counts `seq` anew and runs stage 2: the sequential run's rows.

    Parts may come in slices: each push brings what all keys gave in one stretch of the order, each
    part under its origin, the same for all parts of one run of `run_part`. Where records of two
    origins share a place in the order, the one of the lower origin is first.
    """

    def __init__(self, rules: Compiled, keys: Sequence[str] = ()) -> None:
        first, second = rules.in_parts
        self.run = (second or first).begun(keys)
        self._is_more = second is not None
        self._passed = passed_on(first.stages, first.ids)
        self._found = found_by(rules.plan, first.ids)
        self._entries = _entries(first)
        self._handed_on = 0
        self._counts = dict.fromkeys(self._entries, 0)
        self._numbers: dict[tuple[str, int], Ints] = {}
        self._dropped = Dropped()

    @property
    def dropped(self) -> Dropped:
        """What was dropped so far, by all parts and by stage 2."""
        return self._dropped + self.run.dropped if self._is_more else self._dropped

    def push(self, parts: Iterable[tuple[int, bytes]]) -> Rows:
        """The rows of the next slice, from (origin, part) pairs in order of their origins."""
        rows, origins = self._joined(parts)
        for engine, streams in self._entries.items():
            self._count_anew(engine, streams, rows, origins)
        orders = _ranked(rows, origins)
        found = self.run.wanted(self._with_later_rows(rows))
        found.ints[:, OUT_ORDER] = orders[found.ints[:, OUT_ORDER]]
        return Rows(self.run.decoder, found)

    def _with_later_rows(self, rows: OutputRows) -> OutputRows:
        """With what stage 2 makes of the rows, behind those that led to it."""
        places = np.flatnonzero(self._passed[rows.ints[:, OUT_STREAM]])
        if not (self._is_more and len(places)):
            return rows
        run, made = self.run, list[OutputRows]()
        assert isinstance(run.runner, StageRun)
        taken = InputRows(rows.ints[places], rows.floats[places])
        # each row is a record to the stage: no two may have the same order, whenever they come
        taken.ints[:, OUT_ORDER] = (places + self._handed_on) * LEVELS
        run.key_rows.fit()
        run.runner.state.gi[0, LEVEL] = 1
        run.runner.feed(taken, made)
        run.runner.state.gi[0, LEVEL] = 0
        run.adopt_keys()
        for part in made:
            part.ints[:, OUT_ORDER] -= self._handed_on * LEVELS
        self._handed_on += len(rows.ints)
        return spliced(run.masks, self._found, rows, made)

    def _joined(self, parts: Iterable[tuple[int, bytes]]) -> tuple[OutputRows, Ints]:
        """Rows of all parts in order, and the origin of each."""
        moved: list[OutputRows] = []
        origins: list[Ints] = [np.empty(0, np.int64)]
        offset = 0
        for origin, encoded in parts:
            part = msgspec.msgpack.decode(encoded, type=KeysOutput)
            rows = part.rows()
            _move_lists(self.run, rows.ints, offset)
            offset += len(rows.lists)
            _translate(self.run, rows.ints, part.strings)
            self._dropped += Dropped.of(part.dropped)
            moved.append(rows)
            origins.append(np.full(len(rows.ints), origin, np.int64))
        merged = _concatenated(self.run, moved)
        places = np.argsort(merged.ints[:, OUT_ORDER], kind="stable")
        first = OutputRows(merged.ints[places], merged.floats[places], merged.lists)
        return first, np.concatenate(origins)[places]

    def _count_anew(self, engine: str, streams: list[int], rows: OutputRows, origins: Ints) -> None:
        """Count `seq` over all origins, and put the new numbers into bound events' lists."""
        entered = np.flatnonzero(np.isin(rows.ints[:, OUT_STREAM], streams))
        new = self._counts[engine] + np.arange(1, len(entered) + 1)
        self._counts[engine] += len(entered)
        rows.ints[entered, OUT_ATTRIBUTES + 1] = new
        found = self._places(rows, [c.name for c in self._complexes(engine)])
        events = [event.name for event in self.run.rules.plan.events if event.engine == engine]
        copies = np.setdiff1d(self._places(rows, events), entered)
        for origin in np.unique(origins[np.concatenate([entered, found])]).tolist():
            # an origin counted its own events from 1 in this very order
            before = self._numbers.get((engine, origin), np.zeros(1, np.int64))
            numbers = np.concatenate([before, new[origins[entered] == origin]])
            self._numbers[engine, origin] = numbers
            # a complex event and its copies for stage 2 have one list
            cells = np.unique(_event_cells(rows.ints[found[origins[found] == origin]]))
            rows.lists[cells] = numbers[rows.lists[cells]]
            own = copies[origins[copies] == origin]
            rows.ints[own, OUT_ATTRIBUTES + 1] = numbers[rows.ints[own, OUT_ATTRIBUTES + 1]]

    def _places(self, rows: OutputRows, streams: Iterable[str]) -> Ints:
        """The places of rows of streams, and of their copies for stage 2."""
        names, wanted = self.run.rules.ids.names(turns=True), set(streams)
        numbers = [number for number, name in names.items() if name in wanted]
        found: Ints = np.flatnonzero(np.isin(rows.ints[:, OUT_STREAM], numbers))
        return found

    def _complexes(self, engine: str) -> list[Complex]:
        return [c for c in self.run.rules.plan.complexes if c.engine == engine]


def _ranked(rows: OutputRows, origins: Ints) -> Ints:
    """Number the records that put rows out, one each; their places in the order."""
    orders = rows.ints[:, OUT_ORDER]
    begins = np.ones(len(orders), np.bool_)
    begins[1:] = (orders[1:] != orders[:-1]) | (origins[1:] != origins[:-1])
    kept: Ints = orders[begins].copy()
    rows.ints[:, OUT_ORDER] = np.cumsum(begins) - 1
    return kept


def _event_cells(ints: Ints) -> Ints:
    """Where the `events` lists of complex events lie."""
    at, n = ints[:, OUT_ATTRIBUTES + 2], ints[:, OUT_ATTRIBUTES + 3]
    within = np.arange(int(n.sum())) - np.repeat(np.cumsum(n) - n, n)
    cells: Ints = np.repeat(at + n, n) + within
    return cells


def shipped(rules: Compiled) -> NDArray[np.bool_]:
    """By stream id, what a merge needs of the first part: what is wanted, stage 2 takes, and `seq`
    counts.
    """
    needed = passed_on(rules.stages, rules.ids)
    for name in rules.outputs:
        needed[rules.ids.of(name)] = True
    for entered in _entries(rules).values():
        needed[entered] = True
    return needed


def _entries(rules: Compiled) -> dict[str, list[int]]:
    """Per keyed engine: the streams of events that enter its queue."""
    found: dict[str, list[int]] = {}
    entries: list[Event | Chained] = [*rules.stages.events(KEYED), *rules.stages.chained(KEYED)]
    for entry in entries:
        stream = rules.ids.of(entry.name) if isinstance(entry, Event) else rules.ids.entry(entry)
        found.setdefault(entry.engine, []).append(stream)
    return found


def _move_lists(run: Run, ints: Ints, offset: int) -> None:
    """The lists of complex events begin so much later."""
    is_complex, _ = run.masks
    complexes = is_complex[ints[:, OUT_STREAM]]
    if complexes.any():  # else there may be no such column
        ints[complexes, OUT_ATTRIBUTES + 2] += offset


def _concatenated(run: Run, parts: list[OutputRows]) -> OutputRows:
    if not parts:
        return run.no_rows()
    return OutputRows(
        np.concatenate([part.ints for part in parts]),
        np.concatenate([part.floats for part in parts]),
        np.concatenate([part.lists for part in parts]),
    )


def _translate(run: Run, ints: Ints, strings: list[str]) -> None:
    """Replace a part's string codes by those of the whole run."""
    if not strings:
        return
    codes = np.array([run.strings.code(text) for text in strings], np.int64)
    for number, name in run.rules.ids.names(turns=True).items():
        stream = run.rules.plan.stream(name)
        if not has_cells(stream):
            continue
        places = np.flatnonzero(ints[:, OUT_STREAM] == number)
        for attribute, cell in zip(stream.schema.attributes, row_cells(stream.schema), strict=True):
            if attribute.type is Type.STRING and len(places):
                own = ints[places, cell.column]
                ints[places, cell.column] = np.where(own >= 0, codes[np.maximum(own, 0)], own)
