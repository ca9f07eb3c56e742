"""One stage of an engine at work: its compiled module, its state, its output."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from cep.dropped import Dropped
from cep.engine.bounds import Flow
from cep.engine.codegen.constants import Constants
from cep.engine.codegen.module import ModuleSource
from cep.engine.encode import InputRows
from cep.engine.generated import load_module
from cep.engine.jit import Around, plain
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
from cep.engine.single import FULL, OUTPUT, Entry
from cep.engine.stages import Stages
from cep.engine.tables import TableBuilder, Tables
from cep.engine.watermarks import Telling

Run = Callable[[int, int, Ints, Floats, State], int]


NO_LISTS: Ints = np.zeros(0, np.int64)
PART_ROWS = 2**13
PART_VALUES = 2**17
"""So many rows, or values of wide rows, are put out at once where they are wanted in parts: they
stay in the processor's cache."""


@dataclass(frozen=True, slots=True)
class OutputRows:
    """Raw output rows of one call; lists of complex events lie in `lists`."""

    ints: Ints
    floats: Floats
    lists: Ints


@dataclass(frozen=True, slots=True)
class CompiledStage:
    """The immutable half of a stage: what is generated from the plan. Shareable.

    `run` is the `kernel` as it shall run: compiled or not. Where it shall be compiled, `code` makes
    it so; with `waits` before the first row, else the rows run uncompiled meanwhile.
    """

    stages: Stages
    stage: int
    ids: StreamIds
    tables: Tables
    layout: Layout
    source: str
    kernel: Run
    run: Run
    needs: Needs
    code: MachineCode | None
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
    run = load_module(source).run if module.is_needed else feed_rows
    bounds = cache(lambda longest, held: Flow(stages, stage, tables, longest, held).bounds())
    needs = Needs(bounds, layout, len(stages.engines(stage)))
    chosen = run if jit and waits else uncompiled(run)
    code = MachineCode(run) if jit else None
    return CompiledStage(
        stages, stage, ids, tables, layout, source, run, chosen, needs, code, waits
    )


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

    def __init__(self, compiled: CompiledStage) -> None:
        self.compiled = compiled
        widths = compiled.stages.row_widths
        self.state = new_state(compiled.layout, compiled.tables, widths, compiled.needs)
        self.n_of: Callable[[int], int] = int
        """Numbers of records, which no function that is generated sees."""
        self.told: list[Told] = []
        """No module tells of its queries."""
        self._dropped = list(compiled.layout.dropped)
        self._columns = np.array(list(compiled.layout.dropped.values()), np.int64)
        self._entry: Entry | None = None
        self._code = compiled.code
        self._has_floats = any(
            cell.is_float
            for stream in compiled.stages.plan.streams
            if has_cells(stream)
            for cell in row_cells(stream.schema)
        )

    def watch(self, around: Mapping[str, Around]) -> None:
        """Run uncompiled from now on, with kernels wrapped by name."""
        self.compiled = replace(self.compiled, run=uncompiled(self.compiled.kernel, around))
        self._code = None

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
        """Run the stage over one row, whose arrays are always the same."""
        taken: list[OutputRows] = []
        done = self._enter(row)
        if done == FULL:  # it has not been begun
            self.feed(row, taken)
        elif done & OUTPUT:
            taken.append(self.take())
        return taken

    def _enter(self, row: InputRows) -> int:
        if self._code is not None:
            self._look_for(self._code, 1)
        if self.compiled.run is not self.compiled.kernel:
            return FULL
        if self._entry is None:
            self._entry = Entry(self.compiled.kernel, row, self.state)
        return self._entry(row, self.state)

    def feed(self, rows: InputRows, taken: list[OutputRows]) -> None:
        """Run the stage over input rows; output goes to `taken`, in order."""
        if self._code is not None:
            self._look_for(self._code, len(rows))
        start, stop = 0, len(rows)
        run = self.compiled.run
        while True:
            start = run(start, stop, rows.ints, rows.floats, self.state)
            if start < stop and not self._must_empty():
                self.state = make_room(self.state, self.compiled.needs)
            elif self.state.gi[0, ROWS]:
                taken.append(self.take())
            if start >= stop:
                return

    def _look_for(self, code: MachineCode, rows: int) -> None:
        """Have machine code from now on, or go on without for so many rows."""
        if self.compiled.waits:
            code.make()
        elif not code.is_there(rows):
            return
        self.compiled = replace(self.compiled, run=self.compiled.kernel)
        self._code = None

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
            start = self.compiled.run(start, stop, rows.ints, rows.floats, self.state)
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
        header = self.state.gi[0]
        rows, lists = int(header[ROWS]), int(header[LISTS])
        header[ROWS] = header[LISTS] = 0
        state = self.state
        found = state.ol[:lists].copy() if lists else NO_LISTS
        ints = state.oi[:rows].copy()
        if not self._has_floats:
            return OutputRows(ints, np.zeros((rows, state.of.shape[1])), found)
        return OutputRows(ints, state.of[:rows].copy(), found)

    def dropped(self) -> Dropped:
        """What was dropped so far."""
        counts = self.state.gi[0, self._columns]
        found = np.flatnonzero(counts).tolist()
        return Dropped((*self._dropped[place], int(counts[place])) for place in found)
