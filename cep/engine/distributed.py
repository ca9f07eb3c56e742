"""Stage 1 elsewhere, one key or some keys at a time, and its results put together again.

A keyed stage gives the same rows for a key whether it sees that key alone or among others; only
`seq` counts over all keys of an engine. So the parts are merged in the one order of the records,
`seq` is counted anew, and what crosses keys runs on the merged rows (`Compiled.in_parts`): the
sequential answer, byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec
import numpy as np

from cep.clocks import Mode
from cep.dropped import Dropped
from cep.engine.input_rows import InputRows
from cep.engine.kernels.state import (
    LEVEL,
    OUT_ATTRIBUTES,
    OUT_CLOCK,
    OUT_ORDER,
    OUT_STREAM,
    Ints,
)
from cep.engine.layout import own_cells
from cep.engine.machine.kernels.streams import RANK_BITS
from cep.engine.native import Compiled, Run
from cep.engine.output_rows import OutputRows
from cep.engine.part import EVER, KeysOutput, concatenated, entries, move_lists
from cep.engine.rows import Rows
from cep.engine.splice import LEVELS, found_by, passed_on, spliced
from cep.engine.stage_run import StageRun
from cep.plan.nodes import Complex
from cep.plan.types import Type

PlaceOf = Callable[[Ints], Ints]
"""The place in the order of the first record of history that is not older than a time, ms UTC."""


class Merge:
    """Puts parts together, counts `seq` anew and runs stage 2: the sequential run's rows.

    Parts may come in slices: each push brings what all keys gave in one stretch of the order, each
    part under its origin, the same for all parts of the same keys, which may come of several runs,
    one behind the other. Where records of two origins share a place in the order, the one of the
    lower origin is first.
    """

    def __init__(
        self,
        rules: Compiled,
        keys: Sequence[str] = (),
        mode: Mode = "sorted",
        place_of: PlaceOf | None = None,
    ) -> None:
        """`place_of` is needed of history in which time alone makes rows (`put_out_by_time`)."""
        first, second = rules.in_parts(mode)
        shown = rules.as_program(mode) if first.program is not None else first
        last = second or shown
        assert last is not None, "rules in parts are modules or a program"
        self.run = last.begun(keys, mode)
        self._place_of = None if first.program is None else place_of
        self._is_more = second is not None
        self._passed = passed_on(first.stages, first.ids)
        self._found = found_by(rules.plan, first.ids)
        self._entries = entries(first)
        self._handed_on = 0
        self._counts = dict.fromkeys(self._entries, 0)
        self._numbers: dict[tuple[str, int], Ints] = {}
        self._periods: dict[int, int] = {}
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
        causes: list[Ints] = [np.empty((3, 0), np.int64)]
        offset = 0
        for origin, encoded in parts:
            part = msgspec.msgpack.decode(encoded, type=KeysOutput)
            self._go_on(origin, part)
            rows = part.rows()
            told = np.frombuffer(part.told, np.int64)
            causes.append(np.stack([told, *np.broadcast_arrays(part.number, origin, told)[:2]]))
            move_lists(self.run, rows.ints, offset)
            offset += len(rows.lists)
            _translate(self.run, rows.ints, part.strings)
            self._dropped += Dropped.of(part.dropped)
            moved.append(rows)
        merged = concatenated(self.run, moved)
        told, numbers, origins = np.concatenate(causes, axis=1)
        places = self._in_order(merged.ints, told, numbers)
        first = OutputRows(merged.ints[places], merged.floats[places], merged.lists)
        return first, origins[places]

    def _go_on(self, origin: int, part: KeysOutput) -> None:
        """The next run of an origin counts its events from 1 again: those that it read in front of
        its parts are the last ones of before.
        """
        if part.period <= self._periods.get(origin, 0):
            return
        self._periods[origin] = part.period
        for engine, count in part.entered.items():
            before = self._numbers.get((engine, origin), np.zeros(1, np.int64))
            last = before[max(1, len(before) - count) :]
            unknown = np.zeros(1 + count - len(last), np.int64)
            self._numbers[engine, origin] = np.concatenate([unknown, last])

    def _in_order(self, ints: Ints, told: Ints, numbers: Ints) -> Ints:
        """Where the rows stand in their one order: by their place and, where time alone made them,
        in front of the record; there by the time of the watermark that they follow from, by when
        they were due, by what stands first in the file, and by the key that came first.

        Rows of history which time has made get their place here, or none if no record followed.
        """
        is_due = told != EVER
        if self._place_of is not None:
            is_due = ints[:, OUT_CLOCK] < 0
        due = np.where(is_due, -1 - ints[:, OUT_CLOCK], 0)
        if self._place_of is not None and is_due.any():
            told = np.where(is_due, 0, told)
            ints[is_due, OUT_ORDER] = self._place_of(due[is_due] >> RANK_BITS)
        orders = ints[:, OUT_ORDER]
        places = np.lexsort((np.where(is_due, numbers, 0), due, told, orders))
        found: Ints = places[orders[places] != EVER]
        return found

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


def _translate(run: Run, ints: Ints, strings: list[str]) -> None:
    """Replace a part's string codes by those of the whole run."""
    if not strings:
        return
    codes = np.array([run.strings.code(text) for text in strings], np.int64)
    for number, name in run.rules.ids.names(turns=True).items():
        places = np.flatnonzero(ints[:, OUT_STREAM] == number)
        for attribute, cell in own_cells(run.rules.plan.stream(name)):
            if attribute.type is Type.STRING and len(places):
                own = ints[places, cell.column]
                ints[places, cell.column] = np.where(own >= 0, codes[np.maximum(own, 0)], own)
