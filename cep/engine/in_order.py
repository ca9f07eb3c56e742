"""Records that wait for their order (`@reorder`) in front of a program.

What waits is kept here; the program gets one batch of steps, each a row with a code in the place of
its clock: records as they go on, and in between what else the record under way brings about.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from cep.dropped import Dropped, Reason
from cep.engine.input_rows import InputRows
from cep.engine.kernels.scalar import NULL
from cep.engine.kernels.state import OUT_CLOCK, OUT_ORDER, OUT_STREAM, OUT_TIME, Floats, Ints
from cep.engine.layout import StreamIds
from cep.engine.machine.kernels.run import BEGINS, IS_LATE, IS_SEEN, PASSES, RECORD
from cep.engine.machine.stage import MachineRun
from cep.engine.machine.told import Told
from cep.engine.output_rows import OutputRows
from cep.engine.watermarks import Telling
from cep.plan.change import Change, PartId
from cep.plan.nodes import Plan

Saved = tuple[Ints, Floats, Ints]
"""What waits, in order of time, and by stream its id, up to when rows went on (NULL: none did), how
many were dropped."""


@dataclass(slots=True)
class Waiting:
    """The rows of a stream that wait until they are `delay_ms` older than the newest, as (time,
    place among those that are kept).
    """

    stream: str
    delay_ms: int
    late: int | None
    heap: list[tuple[int, int]] = field(default_factory=list)
    upto_ms: int = NULL
    dropped: int = 0

    def due(self, time_ms: int) -> list[int]:
        """The places of those that may go on as that time has passed, in order."""
        self.upto_ms = max(self.upto_ms, time_ms - self.delay_ms)
        return self._go_on()

    def _go_on(self) -> list[int]:
        found = []
        while self.heap and self.heap[0][0] <= self.upto_ms:
            found.append(heapq.heappop(self.heap)[1])
        return found

    def flushed(self) -> list[int]:
        """The places of all, in order."""
        if self.heap:
            self.upto_ms = max(self.upto_ms, max(self.heap)[0])
        return self._go_on()


class _Steps:
    """Steps for the program, a row each: its place, a code, its place in the order, its time.

    A step without a time (NULL) is at that of its row.
    """

    def __init__(self) -> None:
        self.cells: list[tuple[int, int, int, int]] = []
        self.late: list[tuple[int, int]] = []

    def add(self, code: int, place: int, order: int, time_ms: int) -> None:
        self.cells.append((place, code, order, time_ms))

    def rows(self, ints: Ints, floats: Floats) -> InputRows:
        """The rows, of those that there are."""
        places, codes, orders, times = np.array(self.cells, np.int64).reshape(-1, 4).T
        made = ints[places]
        made[:, OUT_CLOCK], made[:, OUT_ORDER] = codes, orders
        made[:, OUT_TIME] = np.where(times == NULL, made[:, OUT_TIME], times)
        for step, stream in self.late:
            made[step, OUT_STREAM] = stream
        return InputRows(made, floats[places])


class InOrder:
    """A program behind records that wait for their order; see `Runner`."""

    def __init__(
        self, inner: MachineRun, plan: Plan, ids: StreamIds, widths: tuple[int, int], *, lived: bool
    ) -> None:
        self.inner = inner
        self._lived = lived
        self._ints: Ints = np.zeros((0, widths[0]), np.int64)
        self._floats: Floats = np.zeros((0, widths[1]))
        self.waiting: dict[int, Waiting] = {}
        for stream in plan.streams:
            if (reorder := stream.reorder) is not None:
                late = None if reorder.late_stream is None else ids.of(reorder.late_stream)
                number = ids.of(stream.name)
                self.waiting[number] = Waiting(stream.name, reorder.max_delay_ms, late)
        self.lag_ms = max(one.delay_ms for one in self.waiting.values())

    @property
    def n_of(self) -> Callable[[int], int]:
        """The number of a record, which functions see, by its place in this run."""
        return self.inner.n_of

    @n_of.setter
    def n_of(self, n_of: Callable[[int], int]) -> None:
        self.inner.n_of = n_of

    @property
    def told(self) -> list[Told]:
        """Chunks of queries that nobody has taken yet."""
        return self.inner.told

    def feed(self, rows: InputRows, taken: list[OutputRows]) -> None:
        """Take records; output goes to `taken`, in order. O(log waiting) a record."""
        steps, kept = _Steps(), len(self._ints)
        streams, orders, times = (
            rows.ints[:, column].tolist() for column in (OUT_STREAM, OUT_ORDER, OUT_TIME)
        )
        told = zip(streams, orders, times, strict=True)
        is_first = not self.inner.has_begun
        for place, (stream, order, time_ms) in enumerate(told, kept):
            waiting = self.waiting.get(stream)
            if waiting is not None:
                steps.add(IS_SEEN, place, order, time_ms)  # its key appears before others go on
            self._release(steps, order, time_ms)
            if not self._lived and (waiting is not None or is_first):
                steps.add(PASSES, place, order, time_ms - self.lag_ms)
            is_first = False
            if waiting is None:
                steps.add(RECORD, place, order, time_ms)  # on its way time passes farther than that
            else:
                self._wait(steps, waiting, place, order, time_ms)
        ints = np.concatenate([self._ints, rows.ints])
        floats = np.concatenate([self._floats, rows.floats])
        self._run(steps, ints, floats, taken)

    def _release(self, steps: _Steps, order: int, time_ms: int) -> None:
        """A record of that time is next, or it has passed: what waited for it goes on."""
        for one in self.waiting.values():
            for place in one.due(time_ms):
                self._go_on(steps, place, order)

    def _go_on(self, steps: _Steps, place: int, order: int) -> None:
        steps.add(RECORD, place, order, NULL)

    def _wait(self, steps: _Steps, waiting: Waiting, place: int, order: int, time_ms: int) -> None:
        """A record waits, or is late; others may go on by it."""
        if time_ms < waiting.upto_ms:
            if waiting.late is None:
                waiting.dropped += 1
                return
            steps.late.append((len(steps.cells), waiting.late))
            steps.add(IS_LATE, place, order, time_ms)
            return
        heapq.heappush(waiting.heap, (time_ms, place))
        for other in waiting.due(time_ms):
            self._go_on(steps, other, order)

    def _run(self, steps: _Steps, ints: Ints, floats: Floats, taken: list[OutputRows]) -> None:
        """Run steps on rows of which those that still wait are kept."""
        if steps.cells:
            self.inner.feed(steps.rows(ints, floats), taken)
        places = sorted(place for one in self.waiting.values() for _, place in one.heap)
        moved = {place: number for number, place in enumerate(places)}
        for one in self.waiting.values():
            one.heap = [(time, moved[place]) for time, place in one.heap]
        self._ints, self._floats = ints[places], floats[places]

    def feed_row(self, row: InputRows) -> list[OutputRows]:
        """Take one record."""
        taken: list[OutputRows] = []
        self.feed(row, taken)
        return taken

    def _passing(self, time_ms: int, order: int, *, flush: bool = False) -> list[OutputRows]:
        """What goes on as time has passed, or in the end."""
        steps, taken = _Steps(), list[OutputRows]()
        if flush:
            for one in self.waiting.values():
                for place in one.flushed():
                    self._go_on(steps, place, order)
        else:
            self._release(steps, order, time_ms)
        self._run(steps, self._ints, self._floats, taken)
        return taken

    def _begin(self, time_ms: int, order: int) -> None:
        """Told before the first record, it is the beginning."""
        if self.inner.has_begun:
            return
        row = np.zeros((1, self._ints.shape[1]), np.int64)
        row[0, [OUT_CLOCK, OUT_ORDER, OUT_TIME]] = BEGINS, order, time_ms
        row[0, OUT_STREAM] = next(iter(self.waiting))
        self.inner.feed(InputRows(row, np.zeros((1, self._floats.shape[1]))), [])

    def advance(self, time_msc: int, order: int, *, is_complete: bool = True) -> list[OutputRows]:
        """Let time pass without a record; `is_complete`: all earlier ones have come."""
        self._begin(time_msc, order)
        taken = self._passing(time_msc, order)
        return taken + self.inner.advance(time_msc - self.lag_ms, order, is_complete=is_complete)

    def tell(self, told: Telling, common_msc: int | None, order: int) -> list[OutputRows]:
        """Take a watermark of keys; see `Interpreter.advance_keys`."""
        self.inner.know_keys(told.keys or ())
        self._begin(told.time_msc, order)
        taken = [] if common_msc is None else self._passing(common_msc, order)
        return taken + self.inner.tell(told, common_msc, order, lag_ms=self.lag_ms)

    def end(self, time_msc: int, order: int) -> list[OutputRows]:
        """The input ends: nothing waits any more, and what is due happens."""
        return self._passing(time_msc, order, flush=True) + self.inner.end(time_msc, order)

    def add_keys(self, codes: Ints, strings: int) -> None:
        """The program finds keys by itself."""

    def open_keys(self, codes: Ints) -> None:
        """Give keys the next slots, from which numbers of events follow."""
        self.inner.open_keys(codes)

    def fetch(self, *, waits: bool) -> None:
        """Have another process make the library, which is loaded when it is needed."""
        self.inner.fetch(waits=waits)

    def dropped(self) -> Dropped:
        """What was dropped so far, for being too late to wait among others."""
        own = ((("stream", one.stream), Reason.REORDER, one.dropped)
               for one in self.waiting.values() if one.dropped)  # fmt: skip
        return self.inner.dropped() + Dropped(own)

    def saved(self) -> Saved:
        """What waits, for a snapshot or for other rules."""
        held = sorted(pair for one in self.waiting.values() for pair in one.heap)
        places = [place for _, place in held]
        marks = [[number, one.upto_ms, one.dropped] for number, one in self.waiting.items()]
        return self._ints[places], self._floats[places], np.array(marks, np.int64)

    def restore(self, saved: Saved) -> None:
        """Go on from what `saved` gave."""
        self._ints, self._floats, marks = saved
        for number, upto_ms, dropped in marks.tolist():
            self.waiting[number].upto_ms, self.waiting[number].dropped = upto_ms, dropped
        self._let_wait()

    def _let_wait(self) -> None:
        """All rows that are kept wait again."""
        for place, (stream, time_ms) in enumerate(self._ints[:, [OUT_STREAM, OUT_TIME]].tolist()):
            heapq.heappush(self.waiting[stream].heap, (time_ms, place))

    def go_on(self, other: InOrder, change: Change) -> None:
        """Take over what waits in a run of other rules, of streams that are as they were."""
        before = {one.stream: number for number, one in other.waiting.items()}
        kept: Mapping[PartId, PartId] = change.kept
        ints, floats, _ = other.saved()
        numbers = {}
        for number, one in self.waiting.items():
            previous = kept.get(("stream", one.stream))
            if previous is not None and previous[1] in before:
                old = before[previous[1]]
                numbers[old] = number
                one.upto_ms = other.waiting[old].upto_ms
                one.dropped = other.waiting[old].dropped
        streams = ints[:, OUT_STREAM].tolist()
        chosen = [place for place, stream in enumerate(streams) if stream in numbers]
        self._ints = np.zeros((len(chosen), self._ints.shape[1]), np.int64)
        self._floats = np.zeros((len(chosen), self._floats.shape[1]))
        wide = min(self._ints.shape[1], ints.shape[1]), min(self._floats.shape[1], floats.shape[1])
        self._ints[:, : wide[0]] = ints[chosen][:, : wide[0]]
        self._floats[:, : wide[1]] = floats[chosen][:, : wide[1]]
        self._ints[:, OUT_STREAM] = [numbers[streams[place]] for place in chosen]
        self._let_wait()
