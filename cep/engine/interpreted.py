"""The stage of what is not compiled: rows out of the arrays, through the interpreter, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from cep.clocks import Mode
from cep.engine.cells import write_cells
from cep.engine.kernels.state import (
    OUT_CLOCK,
    OUT_KEY,
    OUT_ORDER,
    OUT_STREAM,
    OUT_TIME,
    Ints,
)
from cep.engine.layout import StreamIds
from cep.engine.placement import read
from cep.engine.rows import Decoder, Rows
from cep.engine.stage_run import OutputRows
from cep.engine.stages import INTERPRETED, Stages, Tap
from cep.engine.watermarks import Telling
from cep.interpreter.graph import Stop
from cep.interpreter.interpreter import Interpreter
from cep.interpreter.rows import Chunk
from cep.plan.keys import key_attributes
from cep.plan.nodes import Plan


def rest(stages: Stages) -> Plan:
    """The part of a plan that is left to the interpreter."""
    plan = stages.plan
    operators = [op for op in plan.operators if stages.operator(op) == INTERPRETED]
    return replace(plan, operators=tuple(operators), engines=(), chained=())


def stops(stages: Stages, tap: Callable[[Tap], Callable[[Chunk], None]]) -> tuple[Stop, ...]:
    """Where what is compiled stands between what is interpreted: `tap` gives what reads there."""
    found: list[Stop] = []
    places = {op.name: place for place, op in enumerate(rest(stages).operators)}
    at, later = 0, {aggregation.input.stream for aggregation in stages.plan.aggregations}
    taps = {(one.stream, one.reader.name): one for one in stages.taps()}
    for operator in stages.plan.operators:
        stage, at = stages.operator(operator), places.get(operator.name, at - 1) + 1
        for stream in dict.fromkeys(read(operator)):
            if stage >= INTERPRETED:
                later.add(stream)
            if (stream, operator.name) in taps:
                found.append(Stop(at, stream, tap(taps[stream, operator.name])))
            elif stage < INTERPRETED and stream in later:
                later.remove(stream)
                found.append(Stop(at, stream))
    return tuple(found)


class InterpretedStage:
    """Feeds the interpreter in the order of the records and collects what comes out.

    Its clocks follow every record, also those that nothing here reads, so that timers fire as if
    the whole rules were interpreted.
    """

    def __init__(
        self,
        stages: Stages,
        ids: StreamIds,
        made: frozenset[str],
        decoder: Decoder,
        mode: Mode,
    ) -> None:
        """`made` are the streams whose rows are put out."""
        self.plan = stages.plan
        self.ids = ids
        self.decoder = decoder
        self._has_keys = mode == "lived"
        self._seen: set[int] = set()
        self._widths = stages.row_widths
        self._names, self._turns = ids.names(turns=True), ids.turns()
        self.order = self._place = 0
        """The place of what is at work in the order of all, and in that of what comes here."""
        self._is_timed_now = True
        self.n_of: Callable[[int], int] = int
        """The place among all records of a place in the order of this run."""
        self._in_order = {s.name for s in self.plan.streams if s.reorder is not None}
        self._streams = {ids.of(stream.name): stream for stream in self.plan.streams}
        self._taken: dict[int, list[tuple[int, int, int, list[int], list[Any]]]] = {}
        self._cells = stages.clocks
        held = key_attributes(self.plan)
        self._key_at = {name: min(positions) for name, positions in held.items()}
        self._is_late = False
        self._sequence: list[int] = []
        self._is_timed: list[bool] = []
        self.interpreter = Interpreter(
            rest(stages), mode=mode, whole=self.plan, stops=stops(stages, self._tap)
        )
        for name in sorted(made):
            self.interpreter.on_output(name, partial(self._take, ids.of(name)))

    def _tap(self, tap: Tap) -> Callable[[Chunk], None]:
        number = self.ids.tap(tap.stream, tap.reader.name)
        self._streams[number] = self.plan.stream(tap.stream)
        return partial(self._take, number, key_at=self._key_at.get(tap.stream))

    def _take(self, number: int, chunk: Chunk, key_at: int | None = None) -> None:
        """Note the rows of a stream, or what a compiled reader gets, by id."""
        cause = self.interpreter.shared.cause
        at_ms = -cause.at_ms if cause.is_late else cause.at_ms
        place = self.order if self._is_timed_now else self._place
        taken = self._taken.setdefault(number, [])
        for row in chunk:
            clocks = self._clocks(None if key_at is None else row.values[key_at])
            taken.append((place, row.time, at_ms, clocks, row.values))
            self._sequence.append(number)
            self._is_timed.append(self._is_timed_now)

    def _clocks(self, key: Any) -> list[int]:
        """What the clocks that anything compiled goes by show for a key."""
        clocks = self.interpreter.shared.clocks
        shown = (clocks.shown(one, key) for one in self._cells.clocks)
        return [now_ms or 0 for now_ms in shown]

    def feed(
        self, rows: Rows, causes: Ints, records: Ints, followed: Ints, objects: list[Any]
    ) -> tuple[OutputRows, OutputRows]:
        """Take rows; `records` are the cells of all records so far unseen, `followed` the place
        among them of the one that each row follows from.

        Gives what was due before each record, and what each row caused, which has in place of its
        order the row's number among `causes`.

        Values that are objects are appended to `objects`; their cells hold the place.
        """
        passed = 0
        values_of = self.decoder.values(rows)
        for stream, cause, time, order, clock_at, place, values in zip(
            rows.ints[:, OUT_STREAM].tolist(),
            causes.tolist(),
            rows.ints[:, OUT_TIME].tolist(),
            rows.ints[:, OUT_ORDER].tolist(),
            rows.ints[:, OUT_CLOCK].tolist(),
            followed.tolist(),
            values_of,
            strict=True,
        ):
            if passed <= place < len(records):
                self._pass(records, passed, place + 1)
                passed = place + 1
            self.order, self._place, self._is_timed_now = order, cause, False
            self._send(stream, time, values, clock_at < 0)
            self._is_timed_now = True
        self._pass(records, passed, len(records))
        return self._output(objects)

    @contextmanager
    def placed(self, orders: Ints, first: int) -> Iterator[None]:
        """Meanwhile records have numbers from `first` on, and in `orders` their places."""
        n_of = self.n_of
        self.n_of = lambda number: n_of(int(orders[number - first]))
        try:
            yield
        finally:
            self.n_of = n_of

    def _send(self, stream: int, time: int, values: Sequence[Any], is_late: bool) -> None:
        """Hand over a row, whose record has been passed. Where rows wait for order, it was the
        interpreter that has found the record late.
        """
        name = self._names[stream]
        if name in self._in_order:
            self.interpreter.send(name, [(time, values)], self.n_of(self.order))
            return
        is_late = self._is_late if self._in_order else is_late
        part = self._turns.get(stream)
        self.interpreter.hand_over(name, time, values, is_late=is_late, part=part)

    def _pass(self, records: Ints, start: int, stop: int) -> None:
        """Let the clocks follow some records, one after the other where each key has its own."""
        if self._has_keys or self._in_order:
            self._pass_each(records[start:stop])
        elif stop - start == 1:  # whatever is due: no array is made for one record
            self._see([records.item(start, OUT_KEY)])
            self.order = records.item(start, OUT_ORDER)
            self.interpreter.advance(records.item(start, OUT_TIME), self.n_of(self.order))
        elif start < stop:
            key_rows, places = np.unique(records[start:stop, OUT_KEY], return_index=True)
            self._see(key_rows[np.argsort(places)].tolist())
            clock = np.maximum.accumulate(records[start:stop, OUT_TIME])
            self._pass_time(records[start:stop, OUT_ORDER], clock)

    def _see(self, key_rows: list[int]) -> None:
        """Let the interpreter know which keys have come first: what is due at once fires so."""
        for key_row in key_rows:
            if key_row not in self._seen:
                self._seen.add(key_row)
                self.interpreter.shared.clocks.first(self._key(key_row))

    def _key(self, key_row: int) -> str | None:
        return self.decoder.strings.text(self.decoder.key_codes[key_row]) if key_row else None

    def _pass_each(self, records: Ints) -> None:
        columns = (records[:, cell].tolist() for cell in (OUT_ORDER, OUT_STREAM, OUT_KEY, OUT_TIME))
        for order, stream, key_row, time_ms in zip(*columns, strict=True):
            self.order = order
            self._is_late = self.interpreter.pass_record(
                self._names[stream], self._key(key_row), time_ms, self.n_of(order)
            )

    def _pass_time(self, orders: Ints, clock: Ints) -> None:
        """Let time pass over records, stopping at those that make something due.

        What a late record has set may be due behind the clock, at whatever record comes next.
        """
        at = 0
        while at < len(clock):
            due = self.interpreter.next_due_ms
            if due is not None and due > max(int(clock[at]), self.interpreter.now_ms or 0):
                at = int(np.searchsorted(clock, due))
            if self.interpreter.now_ms is not None and (due is None or at >= len(clock)):
                at = len(clock) - 1  # but it begins with the very first
            self.order = int(orders[at])
            self.interpreter.advance(int(clock[at]), self.n_of(self.order))
            at += 1

    def advance(
        self, time_ms: int, order: int, objects: list[Any], *, is_complete: bool = False
    ) -> tuple[OutputRows, OutputRows]:
        """Let time pass without a record; what that makes due has this place in the order."""
        self.order = order
        if self.interpreter.now_ms is None:
            self.interpreter.start(time_ms)  # told before the first row, it is the beginning
        self.interpreter.advance(time_ms, self.n_of(order), is_complete=is_complete)
        return self._output(objects)

    def tell(
        self,
        told: Telling,
        keys: Sequence[str],
        common_ms: int | None,
        order: int,
        objects: list[Any],
    ) -> tuple[OutputRows, OutputRows]:
        """Take a watermark of some keys; for every key time has passed up to `common_ms`."""
        self.order = order
        if self.interpreter.now_ms is None:
            self.interpreter.start(told.time_msc)
        n, is_complete = self.n_of(order), told.is_complete
        self.interpreter.advance_keys(keys, told.time_msc, common_ms, n, is_complete=is_complete)
        return self._output(objects)

    def end(self, time_ms: int, order: int, objects: list[Any]) -> tuple[OutputRows, OutputRows]:
        """The input ends at a time; see `Interpreter.end`."""
        self.order = order
        self.interpreter.end(time_ms, self.n_of(order))
        return self._output(objects)

    def wall(self, time_ms: int, order: int, objects: list[Any]) -> tuple[OutputRows, OutputRows]:
        """Say what the wall's clock shows; see `Interpreter.wall`."""
        self.order = order
        self.interpreter.wall(time_ms, self.n_of(order))
        return self._output(objects)

    def _output(self, objects: list[Any]) -> tuple[OutputRows, OutputRows]:
        """What was taken, as raw rows in the order it came: what time made, and the rest."""
        n = len(self._sequence)
        ints = np.zeros((n, self._widths[0]), np.int64)
        floats = np.zeros((n, self._widths[1]))
        sequence = np.array(self._sequence, np.int64)
        for number, taken in self._taken.items():
            if not taken:
                continue
            places = np.flatnonzero(sequence == number)
            orders, times, at_ms, clocks, rows = zip(*taken, strict=True)
            ints[places, OUT_ORDER] = orders
            ints[places, OUT_STREAM] = number
            ints[places, OUT_TIME] = times
            ints[places, OUT_CLOCK] = at_ms
            if self._cells.clocks:
                ints[places, -len(self._cells) :] = clocks
            schema = self._streams[number].schema
            values = list(zip(*rows, strict=True))
            write_cells(schema, values, places, ints, floats, self.decoder.strings, objects)
            taken.clear()
        is_timed = np.array(self._is_timed, np.bool_)
        self._sequence.clear()
        self._is_timed.clear()
        none = np.empty(0, np.int64)
        timed, caused = (
            OutputRows(ints[part], floats[part], none) for part in (is_timed, ~is_timed)
        )
        return timed, caused
