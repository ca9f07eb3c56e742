"""A program at work: fed with encoded records as a compiled stage is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from cep.dropped import Dropped
from cep.engine.encode import InputRows
from cep.engine.jit import plain
from cep.engine.machine.kernels.run import run, run_until
from cep.engine.machine.kernels.words import Ints
from cep.engine.machine.memory import Memory
from cep.engine.machine.program import Program
from cep.engine.single import FULL
from cep.engine.stage_run import NO_LISTS, OutputRows
from cep.engine.strings import Strings

PART_ROWS = 2**13


class MachineRun:
    """The state of a program, fed with input rows."""

    def __init__(self, program: Program, strings: Strings, jit: bool) -> None:
        self.program = program
        self._strings = strings
        self.memory = Memory(program)
        self._run: Any = run if jit else plain(run)
        self._run_until: Any = run_until if jit else plain(run_until)

    keys = 0

    def add_keys(self, codes: Ints, strings: int) -> None:
        """The program finds keys by itself."""

    def enter(self, row: InputRows) -> int:
        """Rows come through `feed`."""
        return FULL

    def feed(self, rows: InputRows, taken: list[OutputRows]) -> None:
        """Run over input rows; output goes to `taken`, in order."""
        start, stop, memory = 0, len(rows), self.memory
        if self.program.orders_texts:
            memory.know_order(self._strings.values)
        if self.program.hashes_texts:
            memory.know_hashes(self._strings.values)
        with np.errstate(all="ignore"):
            while True:
                start = self._run(
                    start, stop, rows.ints, rows.floats, memory.i, memory.f, self.program.words
                )
                if start >= stop:
                    break
                memory.grow()
        self._put(taken)

    def feed_in_parts(self, rows: InputRows) -> Iterator[OutputRows]:
        """The same; output comes as soon as there is a fair amount of it."""
        for first in range(0, len(rows), PART_ROWS):
            part = slice(first, first + PART_ROWS)
            taken: list[OutputRows] = []
            self.feed(InputRows(rows.ints[part], rows.floats[part]), taken)
            yield from taken

    def advance(self, time_msc: int, order: int, taken: list[OutputRows]) -> None:
        """Let time pass without a record."""
        memory = self.memory
        if self.program.hashes_texts:
            memory.know_hashes(self._strings.values)
        with np.errstate(all="ignore"):
            while not self._run_until(time_msc, order, memory.i, memory.f, self.program.words):
                memory.grow()
        self._put(taken)

    def _put(self, taken: list[OutputRows]) -> None:
        if self.memory.rows():
            taken.append(OutputRows(*self.memory.taken(), NO_LISTS))

    def dropped(self) -> Dropped:
        """What was dropped so far."""
        counts = self.memory.i[0]
        return Dropped((part, why, int(counts[at])) for part, why, at in self.program.counters)
