"""One stage of an engine at work: its compiled module, its state, its output."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from cep.dropped import Dropped
from cep.engine.bounds import Flow
from cep.engine.clocks import Clocks
from cep.engine.codegen.constants import Constants
from cep.engine.codegen.module import ModuleSource
from cep.engine.entry import Entry
from cep.engine.generated import load_module
from cep.engine.input_rows import InputRows
from cep.engine.jit import Addressed, Around, plain
from cep.engine.kernels import feed as queues_alone
from cep.engine.kernels.arrive import feed_rows
from cep.engine.kernels.state import (
    KEYS,
    LISTS,
    LISTS_LIMIT,
    ROWS,
    ROWS_FULL,
    ROWS_LIMIT,
    STATUS,
    Floats,
    Ints,
    State,
)
from cep.engine.layout import Layout, StreamIds, has_cells, row_cells
from cep.engine.machine.told import Told
from cep.engine.machine_code import MachineCode
from cep.engine.memory import FIRST_MATCHES, OUTPUT_MAX, Needs, make_room, new_state, with_keys
from cep.engine.output_rows import NO_FLOATS, NO_INTS, NO_LISTS, OutputRows, SingleRow
from cep.engine.stages import Stages
from cep.engine.tables import TableBuilder, Tables
from cep.engine.watermarks import Telling

Run = Callable[[int, int, Ints, Floats, State], int]


PART_ROWS = 2**13
PART_VALUES = 2**17
"""So many rows, or values of wide rows, are put out at once where they are wanted in parts: they
stay in the processor's cache."""


@dataclass(frozen=True, slots=True)
class CompiledStage:
    """The immutable half of a stage: what is generated from the plan. Shareable.

    `run` is the kernel, uncompiled. Where it shall be compiled, `code` makes it so, as what it is
    entered by; with `waits` before the first row, else the rows run uncompiled meanwhile.
    """

    stages: Stages
    stage: int
    ids: StreamIds
    tables: Tables
    layout: Layout
    source: str
    run: Run
    needs: Needs
    code: MachineCode[Addressed] | None
    waits: bool


def compile_stage(
    stages: Stages,
    stage: int,
    ids: StreamIds,
    written: frozenset[str],
    code_of: Callable[[str], int],
    jit: bool,
    wide: bool,
    waits: bool = True,
) -> CompiledStage:
    """Generate and load the module of a stage; compiled on first call unless cached on disk."""
    layout = Layout()
    if stages.clocks.clocks:
        layout.int_columns("global", len(stages.clocks))  # the first: from HEADER on
    tables = TableBuilder(stages, stage, ids, layout).build()
    flow = Flow(stages, stage, tables, FIRST_MATCHES)
    module = ModuleSource(
        stages, stage, ids, tables, layout, flow, written, Constants(layout, code_of), wide
    )
    source = module.text()
    made = load_module(source) if module.is_needed else None
    run, enter = (feed_rows, queues_alone.enter) if made is None else (made.run, made.enter)
    bounds = cache(lambda longest, held: Flow(stages, stage, tables, longest, held).bounds())
    needs = Needs(bounds, layout, len(stages.engines(stage)))
    code = MachineCode(enter) if jit else None
    return CompiledStage(stages, stage, ids, tables, layout, source, run, needs, code, waits)


def uncompiled(run: Run, around: Mapping[str, Around] | None = None) -> Run:
    """The same kernel as plain Python, where NumPy shall not warn of what Numba does silently.

    `around` wraps kernels by name.
    """
    python = plain(run, around)

    def quiet(start: int, stop: int, ints: Ints, floats: Floats, state: State) -> int:
        with np.errstate(all="ignore"):
            return python(start, stop, ints, floats, state)

    return quiet


class StageRun:
    """The state of one stage, fed with input rows."""

    def __init__(self, compiled: CompiledStage, clocks: Clocks) -> None:
        self.compiled = compiled
        self._clocks = clocks
        self._run: Run | None = None
        """Uncompiled: made when rows come before there is machine code."""
        widths = compiled.stages.row_widths
        self._width = widths[0]
        self.state = new_state(compiled.layout, compiled.tables, widths, compiled.needs)
        self.n_of: Callable[[int], int] = int
        """Numbers of records, which no function that is generated sees."""
        self.told: list[Told] = []
        """No module tells of its queries."""
        self._dropped = list(compiled.layout.dropped)
        self._columns = np.array(list(compiled.layout.dropped.values()), np.int64)
        self._entry: Entry | None = None
        """The machine code, when it is there; until then the rows run uncompiled."""
        self._code = compiled.code
        self._has_floats = any(
            cell.is_float
            for stream in compiled.stages.plan.streams
            if has_cells(stream)
            for cell in row_cells(stream.schema)
        )

    def watch(self, around: Mapping[str, Around]) -> None:
        """Run uncompiled from now on, with kernels wrapped by name."""
        self._run = uncompiled(self.compiled.run, around)
        self._code = self._entry = None

    @property
    def state(self) -> State:
        """All arrays; others, where room was made."""
        return self._state

    @state.setter
    def state(self, state: State) -> None:
        self._state = state
        # single cells are read far faster through a memoryview than through an array
        self.header: memoryview[int] = state.gi.data.cast("B").cast("q")
        self._first_row = [array[0].data.cast("B") for array in (state.oi, state.of) if array.size]

    @property
    def keys(self) -> int:
        """Number of keys that have a row."""
        return int(self.state.gi[0, KEYS])

    def add_keys(self, codes: Ints, strings: int) -> None:
        """Open rows for the keys with these string codes."""
        self.state = with_keys(self.state, codes, strings, self.compiled.needs)

    def fetch(self, *, waits: bool) -> None:
        """Have another process make the machine code, which is loaded when it is needed."""
        if self.compiled.code is not None:
            self.compiled.code.fetch(waits=waits)

    def open_keys(self, codes: Ints) -> None:
        """Keys have their slots in order of their rows (`add_keys`)."""

    def advance(self, time_msc: int, order: int, *, is_complete: bool = True) -> list[OutputRows]:
        """Nothing here happens without a row: clocks come with these."""
        return []

    def tell(self, told: Telling, common_msc: int | None, order: int) -> list[OutputRows]:
        """Nothing here happens without a row."""
        return []

    def end(self, time_msc: int, order: int) -> list[OutputRows]:
        """Nothing here happens without a row."""
        return []

    def feed_row(self, row: InputRows) -> list[OutputRows]:
        """Give one row, whose arrays are always the same, its clocks, and run the stage over it.

        There is room for its key among the clocks.
        """
        if self._entry is None:
            self._clocks.mark(row.ints)
        elif self._entry.run_row(row, self._state, self._clocks.words):
            header = self.header
            if header[ROWS] == 1 and not header[LISTS]:  # as `take`, in 7 % of a row's time less
                header[ROWS] = 0
                made = bytearray().join(self._first_row)
                return [SingleRow(NO_INTS, NO_FLOATS, NO_LISTS, made, self._width)]
            return [self.take()] if header[ROWS] else []
        taken: list[OutputRows] = []
        self.feed(row, taken)  # in machine code it has not been begun, for want of room
        return taken

    def feed(self, rows: InputRows, taken: list[OutputRows]) -> None:
        """Run the stage over input rows; output goes to `taken`, in order."""
        if self._code is not None:
            self._look_for(self._code, len(rows))
        start, stop = 0, len(rows)
        while True:
            start = self._ran(start, stop, rows)
            if start < stop and not self._must_empty():
                self.state = make_room(self.state, self.compiled.needs)
            elif self.state.gi[0, ROWS]:
                taken.append(self.take())
            if start >= stop:
                return

    def _look_for(self, code: MachineCode[Addressed], rows: int) -> None:
        """Have machine code from now on, or go on without for so many rows."""
        if self.compiled.waits:
            code.make()
        elif not code.is_there(rows):
            return
        self._entry, self._code = Entry(code.enter), None

    def _ran(self, start: int, stop: int, rows: InputRows) -> int:
        """Run rows whose clocks are known; the first one not done."""
        if self._entry is not None:
            return self._entry.run(start, stop, rows, self.state)
        if self._run is None:
            self._run = uncompiled(self.compiled.run)
        return self._run(start, stop, rows.ints, rows.floats, self.state)

    def feed_in_parts(self, rows: InputRows) -> Iterator[OutputRows]:
        """Run the stage over input rows; output comes as soon as there is a fair amount of it."""
        if self._code is not None:
            self._look_for(self._code, len(rows))
        start, stop = 0, len(rows)
        while start < stop:
            header = self.state.gi[0]
            limits = int(header[ROWS_LIMIT]), int(header[LISTS_LIMIT])
            header[ROWS_LIMIT] = min(limits[0], PART_ROWS)
            header[LISTS_LIMIT] = min(limits[1], PART_VALUES)
            start = self._ran(start, stop, rows)
            header[ROWS_LIMIT], header[LISTS_LIMIT] = limits
            is_short = header[ROWS] > limits[0] or header[LISTS] > limits[1]
            is_part = header[STATUS] == ROWS_FULL and not is_short
            if header[ROWS]:
                yield self.take()
            if start < stop and not is_part:
                self.state = make_room(self.state, self.compiled.needs)

    def _must_empty(self) -> bool:
        """Whether the kernel stopped because the output is full and as large as it may be."""
        state = self.state
        return state.gi[0, STATUS] == ROWS_FULL and bool(
            state.gi[0, ROWS] and len(state.oi) >= OUTPUT_MAX
        )

    def take(self) -> OutputRows:
        """Copy the output out of the state and empty it."""
        header, state = self.header, self.state
        rows, lists = header[ROWS], header[LISTS]
        header[ROWS] = header[LISTS] = 0
        found = state.ol[:lists].copy() if lists else NO_LISTS
        if rows == 1:
            row = bytearray().join(self._first_row)
            return SingleRow(NO_INTS, NO_FLOATS, found, row, self._width)
        ints = state.oi[:rows].copy()
        if not self._has_floats:
            return OutputRows(ints, np.zeros((rows, state.of.shape[1])), found)
        return OutputRows(ints, state.of[:rows].copy(), found)

    def dropped(self) -> Dropped:
        """What was dropped so far."""
        counts = self.state.gi[0, self._columns]
        found = np.flatnonzero(counts).tolist()
        return Dropped((*self._dropped[place], int(counts[place])) for place in found)
