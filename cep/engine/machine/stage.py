"""A program at work: fed with encoded records as a compiled stage is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np

from cep.dropped import Dropped
from cep.engine.entry import Entry
from cep.engine.input_rows import InputRows
from cep.engine.jit import Around, plain
from cep.engine.kernels.scalar import NULL
from cep.engine.kernels.state import OUT_KEY, OUT_STREAM
from cep.engine.key_rows import KeyRows
from cep.engine.machine import library
from cep.engine.machine.host import Host, call_by_address
from cep.engine.machine.indicators import Own
from cep.engine.machine.kernels.run import ALL_KEYS, BEGUN, ENDS, SOME_KEYS, run
from cep.engine.machine.kernels.slots import (
    PROGRAM_SLOTS,
    SLOTS_FIRST,
    SLOTS_GIVEN,
    key_of_slot,
    slot_of,
    slots_known,
)
from cep.engine.machine.kernels.words import (
    HAS_PAUSED,
    LISTS_USED,
    NEVER_PAUSES,
    OUT_ROWS,
    PAUSES,
    PAUSES_AT_SIGNALS,
    STARTED,
    UNTIL,
    UNTIL_COMMON,
    UNTIL_IS_COMPLETE,
    UNTIL_LAG,
    UNTIL_N,
    Ints,
    N,
)
from cep.engine.machine.memory import Memory
from cep.engine.machine.program import Program
from cep.engine.machine.told import Told
from cep.engine.output_rows import NO_FLOATS, NO_INTS, NO_LISTS, OutputRows, SingleRow
from cep.engine.strings import Strings
from cep.engine.watermarks import Telling

NOTHING = InputRows(np.zeros((0, 1), np.int64), np.zeros((0, 1)))


AROUND: dict[str, Around] = {"call_host": lambda _: call_by_address}
"""What is put around kernels, by name, where they run as Python."""


@cache
def uncompiled() -> Any:
    """The kernel that runs programs, as Python; making it takes milliseconds.

    NumPy shall not warn of what Numba does silently.
    """
    python = plain(run, AROUND)

    def quiet(*arguments: Any) -> int:
        with np.errstate(all="ignore"):
            return int(python(*arguments))

    return quiet


class MachineRun:
    """The state of a program, fed with input rows."""

    def __init__(
        self,
        program: Program,
        strings: Strings,
        jit: bool,
        waits: bool,
        key_rows: KeyRows,
        streams: int,
    ) -> None:
        """`streams` is how many there are."""
        self.program = program
        self.strings = strings
        self.memory = Memory(program)
        self._key_rows = key_rows
        """What rows that are put out have in the place of the codes of their keys."""
        self.host = Host(program.hosted, self.memory, strings, program.words)
        self.memory.call_back(self.host.address)
        self._entry: Entry | None = None
        """The machine code, when it is there; until then the rows run uncompiled."""
        self._awaits_code, self._waits = jit, waits
        self._texts = 0
        self._has_key = np.zeros(streams, np.bool_)
        self._has_key[list(program.keyed)] = True
        self._are_keyed = bool(program.keyed)
        self._width = program.widths[0]

    @property
    def n_of(self) -> Callable[[int], int]:
        """The number of a record, which functions see, by its place in this run."""
        return self.host.n_of

    @n_of.setter
    def n_of(self, n_of: Callable[[int], int]) -> None:
        self.host.n_of = n_of

    @property
    def told(self) -> list[Told]:
        """Chunks of queries that nobody has taken yet."""
        return self.host.told

    @property
    def owns(self) -> list[Own]:
        """The indicators of the user that the program asks."""
        return [one.make for one in self.program.hosted if isinstance(one.make, Own)]

    def end(self, time_msc: int, order: int) -> list[OutputRows]:
        """The input ends at a time: what is due by then happens."""
        return self._until(time_msc, order, ENDS, is_complete=True)

    def add_keys(self, codes: Ints, strings: int) -> None:
        """The program finds keys by itself."""

    def open_keys(self, codes: Ints) -> None:
        """Give keys the next slots, from which numbers of events follow."""
        memory, words = self.memory, self.program.words
        for code in codes.tolist() if words[PROGRAM_SLOTS] else ():
            while plain(slot_of)(memory.i, words, code) < 0:
                memory.grow()

    def slot_keys(self) -> list[str] | None:
        """The keys in order of their slots; None where no number follows from these."""
        i, words = self.memory.i, self.program.words
        slots = words[PROGRAM_SLOTS]
        if not slots:
            return None
        codes = [plain(key_of_slot)(i, words, n) for n in range(plain(slots_known)(i, words))]
        if not codes:  # those that the rules name get theirs with the first one that appears
            codes = words[slots + SLOTS_FIRST :][: words[slots + SLOTS_GIVEN]].tolist()
        return [self.strings.values[code] for code in codes]

    def fetch(self, *, waits: bool) -> None:
        """Have another process make the library, which is loaded when it is needed."""
        if self._awaits_code:
            library.CODE.fetch(waits=waits)

    def _look_for_code(self, rows: int) -> None:
        """Have machine code from now on, or go on without for so many rows."""
        if self._waits:
            library.CODE.make()
        elif not library.CODE.is_there(rows):
            return
        self._entry, self._awaits_code = Entry(library.CODE.enter), False

    def feed(self, rows: InputRows, taken: list[OutputRows]) -> None:
        """Run over input rows; output goes to `taken`, in order."""
        self._work(rows, 0, len(rows))
        self._put(taken)

    def feed_until_signal(self, rows: InputRows, start: int, taken: list[OutputRows]) -> int:
        """Run over input rows from `start` on, up to the first that leads to a signal which is put
        out; how many of all are done then.
        """
        self.memory.i[0, PAUSES] = PAUSES_AT_SIGNALS
        try:
            done = self._work(rows, start, len(rows))
        finally:
            self.memory.i[0, PAUSES] = NEVER_PAUSES
        self._put(taken)
        return done

    def feed_row(self, row: InputRows) -> list[OutputRows]:
        """Run over one row, whose arrays are always the same."""
        taken: list[OutputRows] = []
        memory = self.memory
        if self._entry is None:
            self.feed(row, taken)
            return taken
        if len(self.strings.values) != self._texts:
            self.know_texts()
        done = self._entry.run_row(row, memory.arrays)
        if done == 0 or self.host.interrupted is not None:
            self._work(row, done, 1)
        if memory.header[OUT_ROWS] != 0:
            self._put(taken)
        return taken

    def advance(self, time_msc: int, order: int, *, is_complete: bool = True) -> list[OutputRows]:
        """Let time pass without a record; `is_complete`: all earlier ones have come."""
        return self._until(time_msc, order, ALL_KEYS, is_complete=is_complete)

    def _until(
        self, time_msc: int, order: int, whose: int, *, is_complete: bool
    ) -> list[OutputRows]:
        header = self.memory.i[0]
        header[UNTIL], header[UNTIL_N], header[UNTIL_IS_COMPLETE] = time_msc, order, is_complete
        return self._passed(NOTHING, whose)

    @property
    def has_begun(self) -> bool:
        """Whether anything has come, or time has been told."""
        return bool(self.memory.i[0, STARTED])

    def know_keys(self, keys: Iterable[str]) -> Ints:
        """Give keys the next slots; their codes."""
        codes = np.array([self.strings.code(key) for key in keys], np.int64)
        self.open_keys(codes)
        return codes

    def tell(
        self, told: Telling, common_msc: int | None, order: int, *, lag_ms: int = 0
    ) -> list[OutputRows]:
        """Take a watermark of keys; see `Interpreter.advance_keys`. Clocks stay `lag_ms` behind."""
        codes = self.know_keys(told.keys or ())
        header = self.memory.i[0]
        header[UNTIL], header[UNTIL_N], header[UNTIL_LAG] = told.time_msc, order, lag_ms
        header[UNTIL_IS_COMPLETE] = told.is_complete
        header[UNTIL_COMMON] = NULL if common_msc is None else common_msc - lag_ms
        return self._passed(InputRows(codes.reshape(-1, 1), NOTHING.floats), SOME_KEYS)

    def begin(self, order: int) -> None:
        """Let the parts work that were told that they begin, behind a change of rules."""
        self.memory.i[0, N] = order
        self._work(NOTHING, 0, BEGUN)

    def _passed(self, keys: InputRows, whose: int) -> list[OutputRows]:
        taken: list[OutputRows] = []
        self._work(keys, 0, whose)
        self._put(taken)
        return taken

    def _work(self, rows: InputRows, start: int, stop: int) -> int:
        """Run rows; the first one that is not done, where the run has paused."""
        memory = self.memory
        if self._awaits_code:
            self._look_for_code(max(0, stop - start))
        self.know_texts()
        end = max(stop, 0)
        while True:
            if self._entry is not None:
                start = self._entry.run(start, stop, rows, memory.arrays)
            else:
                start = uncompiled()(
                    start, stop, rows.ints, rows.floats, memory.i, memory.f, self.program.words
                )
            if self.host.interrupted is not None:
                raise self.host.interrupted
            if start == end or memory.header[PAUSES] == HAS_PAUSED:
                return start
            memory.grow()

    def know_texts(self) -> None:
        """Write down what the program has to know of texts that are new."""
        self._texts = len(self.strings.values)
        if self.program.orders_texts:
            self.memory.know_order(self.strings.values)
        if self.program.hashes_texts:
            self.memory.know_hashes(self.strings.values)

    def _put(self, taken: list[OutputRows]) -> None:
        memory = self.memory
        rows = memory.header[OUT_ROWS]
        if rows <= 1:
            if rows:
                taken.append(self._taken_one())
            return
        ints, floats = memory.taken()
        if self._are_keyed:
            places = np.flatnonzero(self._has_key[ints[:, OUT_STREAM]])
            ints[places, OUT_KEY] = self._key_rows.of(ints[places, OUT_KEY])
        lists = memory.lists_taken() if memory.i[0, LISTS_USED] else NO_LISTS
        taken.append(OutputRows(ints, floats, lists))

    def _taken_one(self) -> OutputRows:
        """The one row that was put out."""
        memory = self.memory
        row = memory.row_taken()
        if self._are_keyed:
            cells = memoryview(row).cast("q")
            if self._has_key[cells[OUT_STREAM]]:
                cells[OUT_KEY] = self._key_rows.of_one(cells[OUT_KEY])
        lists = memory.lists_taken() if memory.header[LISTS_USED] else NO_LISTS
        return SingleRow(NO_INTS, NO_FLOATS, lists, row, self._width)

    def dropped(self) -> Dropped:
        """What was dropped so far."""
        i = self.memory.i[0]
        return Dropped((part, reason, int(i[at])) for part, reason, at in self.program.counters)
