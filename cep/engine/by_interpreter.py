"""Rules that neither modules nor a program can run: the interpreter, in the place of these.

Rows come out of the arrays, pass the interpreter record by record, and go back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np

from cep.clocks import Mode
from cep.dropped import Dropped
from cep.engine.cells import write_cells
from cep.engine.input_rows import InputRows
from cep.engine.kernels.state import (
    OUT_ATTRIBUTES,
    OUT_CLOCK,
    OUT_KEY,
    OUT_ORDER,
    OUT_STREAM,
    OUT_TIME,
    Ints,
)
from cep.engine.layout import StreamIds, attribute_cells, kept_cells
from cep.engine.machine.told import Told
from cep.engine.output_rows import OutputRows
from cep.engine.rows import Decoder, Row, Rows
from cep.engine.watermarks import Telling
from cep.interpreter.interpreter import Interpreter
from cep.interpreter.rows import Chunk
from cep.plan.keys import key_position
from cep.plan.nodes import Origin, Plan
from cep.plan.query import OnDemandQuery

Arrived = tuple[str, int, tuple[Any, ...]]
"""A row that comes: its stream, its time in ms, its values."""
_OF_TIME = -1
"""In the place of the clock of a row that time made in front of a record."""


class ByInterpreter:
    """The state of rules in the interpreter, fed with input rows as a stage is."""

    def __init__(
        self,
        plan: Plan,
        ids: StreamIds,
        outputs: frozenset[str],
        decoder: Decoder,
        widths: tuple[int, int],
        mode: Mode,
        objects: Callable[[], list[Any]],
        key_rows: Callable[[Ints], Ints],
    ) -> None:
        """`objects` are those of the rows under way, whose cells hold places; `key_rows` gives what
        rows that are put out have in the place of the codes of their keys.
        """
        self.plan, self._decoder, self._widths = plan, decoder, widths
        self._objects, self._key_rows = objects, key_rows
        self._names = ids.names()
        self._streams = {ids.of(stream.name): stream for stream in plan.streams}
        self._elsewhere = {s.name for s in plan.sources if s.elsewhere is not None}
        self._key_at = {stream.name: key_position(stream) for stream in plan.sources}
        self._in_order = {stream.name for stream in plan.streams if stream.reorder is not None}
        self.n_of: Callable[[int], int] = int
        """The number of a record, which functions see, by its place in this run."""
        self.order = 0
        """The place of what is at work in the order of all."""
        self._clock = _OF_TIME
        self._taken: list[tuple[int, int, int, int, Sequence[Any]]] = []
        self.told: list[Told] = []
        """Chunks of queries that nobody has taken yet."""
        self.interpreter = Interpreter(plan, mode=mode)
        for name in sorted(outputs):
            self.interpreter.on_output(name, partial(self._take, ids.of(name)))

    def _take(self, number: int, chunk: Chunk) -> None:
        self._taken += [(self.order, number, row.time, self._clock, row.values) for row in chunk]

    def _n(self, order: int) -> int:
        """Begin with what has a place in the order; its number."""
        self.order = order
        return self.n_of(order)

    def tell_of(self, name: str) -> None:
        """Take down the rows of a query as dictionaries; KeyError: no such."""
        query = next((one for one in self.plan.queries if one.name == name), None)
        if query is None:
            raise KeyError(f"no query {name!r}")
        names, stream = query.schema.names, query.target or query.name

        def dicts(chunk: Chunk | None, kind: str) -> list[Row]:
            return [
                {"stream": stream, "time_msc": row.time, "kind": kind}
                | dict(zip(names, row.values, strict=True))
                for row in chunk or ()
            ]

        def take_down(time_ms: int, current: Chunk | None, expired: Chunk | None) -> None:
            self.told.append((name, dicts(current, "current"), dicts(expired, "expired")))

        self.interpreter.on_query(name, take_down)

    def add_keys(self, codes: Ints, strings: int) -> None:
        """The interpreter finds keys by itself."""

    def open_keys(self, codes: Ints) -> None:
        """Give keys the next slots, from which numbers of events follow."""
        values = self._decoder.strings.values
        self.interpreter.shared.keys.open(values[code] for code in codes.tolist())

    def fetch(self, *, waits: bool) -> None:
        """There is nothing to compile."""

    def feed(self, rows: InputRows, taken: list[OutputRows]) -> None:
        """Take rows, which stand in order; output goes to `taken`."""
        own = Rows(self._decoder, OutputRows(rows.ints, rows.floats), self._objects())
        streams = map(self._names.__getitem__, rows.ints[:, OUT_STREAM].tolist())
        times, orders = (rows.ints[:, cell].tolist() for cell in (OUT_TIME, OUT_ORDER))
        arrived = zip(
            orders, zip(streams, times, self._decoder.values(own), strict=True), strict=True
        )
        for order, some in groupby(arrived, lambda pair: pair[0]):
            self._take_record(self._n(order), [row for _, row in some])
        taken += self._put_out()

    def feed_row(self, row: InputRows) -> list[OutputRows]:
        """Take one row."""
        taken: list[OutputRows] = []
        self.feed(row, taken)
        return taken

    def _take_record(self, n: int, rows: list[Arrived]) -> None:
        """Take a record among what another engine has made of it, all of one place."""
        record = next((row for row in rows if row[0] not in self._elsewhere), rows[0])
        stream, time_ms, values = record
        self.interpreter.shared.keys.see(stream, list(values))
        at = self._key_at[stream]
        key = None if at is None else values[at]
        is_late = self.interpreter.pass_record(stream, key, time_ms, n)
        self._clock = 0
        for name, row_ms, own in rows:
            if name in self._in_order:
                self.interpreter.send(name, [(row_ms, own)], n)
            else:
                self.interpreter.hand_over(name, row_ms, own, is_late=is_late)
        self._clock = _OF_TIME

    def advance(self, time_msc: int, order: int, *, is_complete: bool = True) -> list[OutputRows]:
        """Let time pass without a record; `is_complete`: all earlier ones have come."""
        self._start(time_msc)
        self.interpreter.advance(time_msc, self._n(order), is_complete=is_complete)
        return list(self._put_out())

    def tell(self, told: Telling, common_msc: int | None, order: int) -> list[OutputRows]:
        """Take a watermark of keys; see `Interpreter.advance_keys`."""
        self._start(told.time_msc)
        keys, n = told.keys or (), self._n(order)
        self.interpreter.advance_keys(
            keys, told.time_msc, common_msc, n, is_complete=told.is_complete
        )
        return list(self._put_out())

    def _start(self, time_msc: int) -> None:
        if self.interpreter.now_ms is None:
            self.interpreter.start(time_msc)  # told before the first row, it is the beginning

    def end(self, time_msc: int, order: int) -> list[OutputRows]:
        """The input ends at a time; see `Interpreter.end`."""
        self.interpreter.end(time_msc, self._n(order))
        return list(self._put_out())

    def wall(self, time_msc: int, order: int) -> list[OutputRows]:
        """Say what the wall's clock shows; see `Interpreter.wall`."""
        self.interpreter.wall(time_msc, self._n(order))
        return list(self._put_out())

    def dropped(self) -> Dropped:
        """What was dropped so far."""
        return self.interpreter.dropped

    def _put_out(self) -> Iterator[OutputRows]:
        """What was taken, as raw rows in the order in which it came."""
        if not self._taken:
            return
        orders, numbers, times, clocks, rows = zip(*self._taken, strict=True)
        self._taken.clear()
        ints = np.zeros((len(rows), self._widths[0]), np.int64)
        floats = np.zeros((len(rows), self._widths[1]))
        ints[:, OUT_ORDER], ints[:, OUT_STREAM], ints[:, OUT_TIME] = orders, numbers, times
        ints[:, OUT_CLOCK] = clocks
        lists: list[int] = []
        for number in dict.fromkeys(numbers):
            places = np.flatnonzero(ints[:, OUT_STREAM] == number)
            values = list(zip(*(rows[place] for place in places), strict=True))
            self._write(number, values, places, ints, floats, lists)
        yield OutputRows(ints, floats, np.array(lists, np.int64))

    def _write(
        self,
        number: int,
        columns: list[tuple[Any, ...]],
        places: Ints,
        ints: Ints,
        floats: np.ndarray[Any, Any],
        lists: list[int],
    ) -> None:
        """Put the values of rows of one stream into their cells."""
        stream, strings = self._streams[number], self._decoder.strings
        match stream.origin:
            case Origin.EVENT:
                keys, *wholes = columns
            case Origin.COMPLEX:
                keys, event, first, arrangements, events, *kept = columns
                at, counts = _written_lists([arrangements, events], lists)
                wholes = [event, first, tuple(at), tuple(counts)]
                pairs = kept_cells(stream.schema)
                write_cells(pairs, kept, places, ints, floats, strings, self._objects())
            case _:
                pairs = attribute_cells(stream.schema)
                write_cells(pairs, columns, places, ints, floats, strings, self._objects())
                return
        codes = np.array([strings.code(key) for key in keys], np.int64)
        ints[places, OUT_KEY] = self._key_rows(codes)
        for column, values in enumerate(wholes):
            ints[places, OUT_ATTRIBUTES + column] = values


def _written_lists(columns: list[tuple[Any, ...]], lists: list[int]) -> tuple[list[int], list[int]]:
    """Write arrangements and events down, one behind the other: where they stand, how many."""
    at, counts = [], []
    for arrangement, events in zip(*columns, strict=True):
        at.append(len(lists))
        counts.append(len(events))
        lists += [*arrangement, *events]
    return at, counts


def asked(interpreter: Interpreter, query: OnDemandQuery) -> list[Row]:
    """The answer of an on-demand query as dictionaries."""
    found, names = interpreter.ask(query), query.schema.names
    return [dict(zip(names, values, strict=True)) for values in found or []]
