"""One stage of an engine at work: its compiled module, its state, its output."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from cep.engine.bounds import Flow
from cep.engine.codegen.module import ModuleSource
from cep.engine.encode import InputRows
from cep.engine.jit import cache_folder, plain
from cep.engine.kernels.arrive import feed_rows
from cep.engine.kernels.state import (
    KEYS,
    LISTS,
    ROWS,
    ROWS_FULL,
    STATUS,
    Floats,
    Ints,
    State,
)
from cep.engine.layout import Layout, StreamIds, row_widths
from cep.engine.memory import Needs, make_room, new_state, with_keys
from cep.engine.stages import Stages
from cep.engine.tables import TableBuilder, Tables
from cep.plan.nodes import Origin

Run = Callable[[int, int, Ints, Floats, State], int]


@dataclass(frozen=True, slots=True)
class OutputRows:
    """Raw output rows of one call; lists of complex events lie in `lists`."""

    ints: Ints
    floats: Floats
    lists: Ints


@dataclass(frozen=True, slots=True)
class CompiledStage:
    """The immutable half of a stage: what is generated from the plan. Shareable."""

    stages: Stages
    stage: int
    ids: StreamIds
    tables: Tables
    layout: Layout
    source: str
    run: Run
    needs: Needs


def compile_stage(
    stages: Stages,
    stage: int,
    ids: StreamIds,
    written: frozenset[str],
    code_of: Callable[[str], int],
    jit: bool,
) -> CompiledStage:
    """Generate and load the module of a stage; compiled on first call unless cached on disk."""
    layout = Layout()
    tables = TableBuilder(stages, stage, ids, layout).build()
    flow = Flow(stages, stage, tables)
    module = ModuleSource(stages, stage, ids, tables, layout, flow, written, code_of)
    source = module.text()
    run = load_run(source) if module.queries or _watches(stages, stage) else feed_rows
    bound = flow.bounds()
    needs = Needs(bound, len(stages.engines(stage)), layout.groups + bound.keys)
    return CompiledStage(
        stages, stage, ids, tables, layout, source, run if jit else uncompiled(run), needs
    )


def _watches(stages: Stages, stage: int) -> bool:
    """Whether the stage watches any event's condition."""
    return any(stages.operator(event) == stage for event in stages.plan.events)


def uncompiled(run: Run) -> Run:
    """The same kernel as plain Python, where NumPy shall not warn of what Numba does silently."""
    python = plain(run)

    def quiet(start: int, stop: int, ints: Ints, floats: Floats, state: State) -> int:
        with np.errstate(all="ignore"):
            return python(start, stop, ints, floats, state)

    return quiet


def load_run(source: str) -> Run:
    """Import generated source from the cache folder, where Numba keeps its machine code too."""
    name = f"mt5cep_{hashlib.sha256(source.encode()).hexdigest()[:24]}"
    if name in sys.modules:
        return sys.modules[name].run
    folder = cache_folder() / "plans"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.py"
    if not path.exists() or path.read_text() != source:
        draft = path.with_suffix(f".{os.getpid()}.tmp")
        draft.write_text(source)
        draft.replace(path)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module: ModuleType = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module.run


class StageRun:
    """The state of one stage, fed with input rows."""

    def __init__(self, compiled: CompiledStage) -> None:
        self.compiled = compiled
        widths = row_widths(compiled.stages.plan)
        self.state = new_state(compiled.layout, compiled.tables, widths, compiled.needs)

    @property
    def keys(self) -> int:
        """Number of keys that have a row."""
        return int(self.state.gi[0, KEYS])

    def add_keys(self, codes: Ints, strings: int) -> None:
        """Open rows for the keys with these string codes."""
        self.state = with_keys(self.state, codes, strings, self.compiled.needs)

    def feed(self, rows: InputRows, taken: list[OutputRows]) -> None:
        """Run the stage over input rows; output goes to `taken`, in order."""
        start, stop = 0, len(rows)
        run = self.compiled.run
        while True:
            start = run(start, stop, rows.ints, rows.floats, self.state)
            full = start < stop
            if self.state.gi[0, ROWS]:
                taken.append(self._take())
                full = full and self.state.gi[0, STATUS] != ROWS_FULL
            if full:
                self.state = make_room(self.state, self.compiled.needs)
            if start >= stop:
                return

    def _take(self) -> OutputRows:
        """Copy the output out of the state and empty it."""
        header = self.state.gi[0]
        rows, lists = int(header[ROWS]), int(header[LISTS])
        header[ROWS] = header[LISTS] = 0
        state = self.state
        return OutputRows(state.oi[:rows].copy(), state.of[:rows].copy(), state.ol[:lists].copy())

    def counters(self, engine: str) -> dict[str, int]:
        """What an engine's queue has counted so far."""
        names = ("entered", "repeated", "late", "overfull", "evicted")
        first = self.compiled.tables.counters[engine]
        values = self.state.gi[0, first : first + len(names)]
        return dict(zip(names, map(int, values), strict=True))


def crossing_streams(stages: Stages, ids: StreamIds) -> NDArray[np.bool_]:
    """By stream id: whether rows that stage 1 makes on it go on to stage 2."""
    wanted = np.zeros(len(ids), np.bool_)
    for stream in stages.plan.streams:
        wanted[ids.of(stream.name)] = stream.origin is not Origin.SOURCE and stages.crosses(
            stream.name
        )
    for event in stages.plan.events:
        wanted[ids.raised(event)] = True
    return wanted
