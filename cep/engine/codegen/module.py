"""One stage of a plan as one self-explaining Python module."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from cep.engine.bounds import Flow
from cep.engine.codegen.constants import Constants
from cep.engine.codegen.expressions import Scope
from cep.engine.codegen.families import Families
from cep.engine.codegen.imports import kernels_called
from cep.engine.codegen.matches import Matches
from cep.engine.codegen.queries import QuerySource
from cep.engine.codegen.writer import Writer, guarded, label
from cep.engine.kernels.state import HEADER as CLOCKS
from cep.engine.kernels.state import LEVEL, OUT_ATTRIBUTES
from cep.engine.layout import Layout, StreamIds, Wide, attribute_cells, has_cells, row_cells
from cep.engine.stages import KEYED, Stages, Turn
from cep.engine.tables import Tables
from cep.plan.change import operator_part
from cep.plan.nodes import Event, Origin, Plan, Stream
from cep.plan.query import Match, Query

HEADER = '''\
"""Stage {stage} of the rules {name}: generated, do not edit."""
from math import isnan, nan

import numpy as np

from cep.engine.jit import addressed, inner
from cep.engine.kernels.addressed import (
    START, STOP, TABLE, row_floats, row_ints, state_of, words,
)
from cep.engine.kernels.arrive import arrive, drain, feed, hand_over, write_row
from cep.engine.kernels.clocks import mark_row
from cep.engine.kernels.groups import bucket_of, float_bits, group_row, key_row
from cep.engine.kernels.moments import (
    integer_enter, integer_total, moments_deviation, moments_enter, moments_far, moments_leave,
    moments_mean, moments_total, rebase,
)
from cep.engine.kernels.rings import (
    extreme, extreme_enter, extreme_enter_int, extreme_enter_late, extreme_enter_late_int,
    extreme_int, extreme_keep, extreme_keep_int, extreme_leave, float_cell, int_cell, move,
    place_of_late, reserve,
)
from cep.engine.kernels.room import has_room
from cep.engine.kernels.scalar import (
    NULL, add, bits_of, divide, divide_float, equal, int_to_float32, less, less_equal, modulo,
    modulo_float, multiply, not_equal, subtract, to_float, to_float32, wrap_int,
)
from cep.engine.kernels.state import CLOCK, LISTS, READY, ROWS, STATUS

'''


LOCALS = (
    "ki, kf, ai, af, gi, gf = s.ki, s.kf, s.ai, s.af, s.gi, s.gf",
    "wi, wf, oi, of, ol = s.wi, s.wf, s.oi, s.of, s.ol",
)
"""Arrays taken out of the state once: doing so for every row costs a reference count each."""


class ModuleSource:
    """Writes the module of one stage.

    `written` are the streams whose rows go to the output, `constants` the cells of those of the
    rules; `wide` says whether there may be wide rows.
    """

    def __init__(
        self,
        stages: Stages,
        stage: int,
        ids: StreamIds,
        tables: Tables,
        layout: Layout,
        flow: Flow,
        written: frozenset[str],
        constants: Constants,
        wide: bool,
    ) -> None:
        self.stages = stages
        self.stage = stage
        self.plan: Plan = stages.plan
        self.ids = ids
        self.tables = tables
        self.layout = layout
        self.flow = flow
        self.written = written
        self.constants = constants
        self.streams = {stream.name: stream for stream in self.plan.streams}
        self.drained = self._drained()
        self.families = Families(
            stages,
            stage,
            layout,
            flow,
            constants,
            self._id_of,
            self._wide_id if wide else None,
        )
        self.queries = {
            query.name: self._query(index, query)
            for index, query in enumerate(self.plan.queries)
            if stages.operator(query) == stage
            and not isinstance(query.input, Match)
            and query not in self.families
        }
        self.matches = Matches(stages, stage, layout, flow, constants)
        self.edges = {
            event.name: self._edge(event)
            for event in self.plan.events
            if stages.operator(event) == stage and not event.every
        }
        self.shared = {stream.name for stream in self.plan.streams if self._is_shared(stream)}

    @property
    def is_needed(self) -> bool:
        """Whether the stage has anything of its own to do beside keeping queues."""
        watched = (self.stages.operator(event) == self.stage for event in self.plan.events)
        return bool(self.queries or self.matches or self.families) or any(watched)

    def _query(self, index: int, query: Query) -> QuerySource:
        keyed = self.stages.by.is_keyed(query)
        is_key = len(query.group_by) == 1 and self.stages.by.holds_key(
            query.source, query.group_by[0]
        )
        times = self.flow.rows(query.source)
        self.layout.kinds[index] = (("query", query.name),)
        with self.layout.owned(("query", query.name), form="query"):
            clock = self.stages.clocks.source(operator_part(query))
            return QuerySource(
                query, index, keyed, is_key, self.layout, self.constants, times, clock
            )

    def _id_of(self, stream: str) -> int:
        """The id of a stream, -1 when its rows do not go to the output."""
        return self.ids.of(stream) if stream in self.written else -1

    def _wide_id(self, wide: Wide) -> int | None:
        """The id of wide rows of streams that are put out and that nothing reads; None: no."""
        for name in wide.streams:
            if name not in self.written or self.stages.is_read(name):
                return None
        return None if self.plan.engines else self.ids.add_wide(wide)

    def _edge(self, event: Event) -> int:
        with self.layout.owned(("event", event.name), form="edge"):
            return self.layout.int_columns("global" if event.key is None else "key", 1)

    def _followers(self, stream: str) -> tuple[Query | Event | Turn, ...]:
        return self.stages.followers(stream, self.stage)

    def _is_shared(self, stream: Stream) -> bool:
        """Whether several queries write a stream that has readers: then they share a function."""
        writers = [q for q in self.queries.values() if q.query.target == stream.name]
        together = self.matches.targets + self.families.targets
        count = len(writers) + together.count(stream.name)
        return count > 1 and bool(self._followers(stream.name))

    def text(self) -> str:
        w = Writer()
        w.lines.append(HEADER.format(stage=self.stage, name=label(self.plan.name)))
        self.matches.write_tables(w)
        self.families.write_tables(w)
        for stream in reversed(self.plan.streams):
            if stream.name in self.shared:
                self._write_shared(w, stream)
        if self.drained:
            self._write_drain(w)
        self._write_run(w)
        w.lines.insert(1, kernels_called(w.text()))
        return w.text()

    def _drained(self) -> list[Stream]:
        """Event and complex event streams of the stage that something reads."""
        made = (Origin.EVENT, Origin.COMPLEX)
        return [
            stream
            for stream in self.plan.streams
            if stream.origin in made
            and self._followers(stream.name)
            and self._stage_of(stream) == self.stage
        ]

    def _stage_of(self, stream: Stream) -> int:
        """The stage in which rows of an event or complex event arise."""
        for event in self.plan.events:
            if event.name == stream.name:
                return self.stages.engine(event.engine)
        for found in self.plan.complexes:
            if stream.name == found.name:
                return self.stages.engine(found.engine)
        raise KeyError(stream.name)

    def _write_shared(self, w: Writer, stream: Stream) -> None:
        columns = tuple(f"c{index}" for index in range(len(stream.schema)))
        arguments = ", ".join((*columns, "t", "k", "order", "s"))
        w("", "@inner")
        with w.block(f"def on_{self.ids.of(stream.name)}({arguments}):"):
            w(f'"""Readers of {label(stream.name)}, which several queries write."""', *LOCALS)
            self._write_readers(w, stream.name, Scope(columns, "t", self.constants), "k")

    def _write_drain(self, w: Writer) -> None:
        w("", "@inner")
        with w.block("def drain_rows(s, r):"):
            w(
                '"""Hand over the output rows from r on: to queries, then engines."""',
                *LOCALS,
            )
            with w.block("while r < gi[0, ROWS]:"):
                w(f"order = oi[r, 0] + gi[0, {LEVEL}]")
                w("stream = oi[r, 1]", "t = oi[r, 2]", "k = oi[r, 3]")
                for stream in self.drained:
                    with w.block(
                        f"if stream == {self.ids.of(stream.name)}:  # {label(stream.name)}"
                    ):
                        columns = self._columns(w, stream, "oi", "of", "r")
                        self._write_readers(
                            w, stream.name, Scope(columns, "t", self.constants), "k"
                        )
                w("rule = s.bt[s.bt[4] + stream]")
                with w.block("if rule >= 0:"):
                    w("hand_over(s, r, s.bt[3] + rule * 16)")
                w("r += 1")

    def _write_run(self, w: Writer) -> None:
        w("", "@inner")
        with w.block("def run(start, stop, ri, rf, s):"):
            w('"""Rows [start, stop) in order; the first one not done (STATUS says why)."""')
            w(*LOCALS, "gi[0, STATUS] = READY")
            with w.block("for i in range(start, stop):"):
                with w.block("if not has_room(gi):"):
                    w("return i")
                w("order = ri[i, 0]", "stream = ri[i, 1]", "t = ri[i, 2]", "k = ri[i, 3]")
                w("gi[0, CLOCK] = ri[i, 4]", *self._clock_cells())
                self._write_inputs(w)
                if self.stage != KEYED and self.stages.engines(self.stage):
                    w("r = gi[0, ROWS]", "feed(s, ri, i)", self._drain("r"))
            w("return stop")
        w("", "@addressed")
        with w.block("def enter(address):"):
            w("table, ri = words(address, TABLE), row_ints(address)", "mark_row(address, ri)")
            w("return run(table[START], table[STOP], ri, row_floats(address), state_of(address))")

    def _clock_cells(self) -> Iterator[str]:
        """Source that takes the clocks out of the last columns of an input row."""
        count, width = len(self.stages.clocks), self.stages.row_widths[0]
        for cell in range(count):
            yield f"gi[0, {CLOCKS + cell}] = ri[i, {width - count + cell}]"

    def _write_inputs(self, w: Writer) -> None:
        for number, stream, readers in self.inputs():
            with w.block(f"if stream == {number}:  # {label(stream.name)}"):
                columns = self._columns(w, stream, "ri", "rf", "i")
                self._write_each(w, readers, Scope(columns, "t", self.constants), "k", stream)

    def inputs(self) -> Iterator[tuple[int, Stream, Sequence[Query | Event | Turn]]]:
        """What comes from outside the stage: id, stream, and where its rows go."""
        for stream in self.plan.sources:
            followers = self._followers(stream.name)
            if followers and self.stages.first(stream.name) == self.stage:
                yield self.ids.of(stream.name), stream, followers
        for turn in self.stages.turns() if self.stage != KEYED else ():
            number = self.ids.turn(turn.stream, turn.place)
            yield number, self.streams[turn.stream], turn.readers

    def _columns(
        self, w: Writer, stream: Stream, ints: str, floats: str, row: str
    ) -> tuple[str, ...]:
        """Locals with the attributes of a row that lies in an int and a float array."""
        if has_cells(stream):
            return tuple(
                w.let(
                    attribute.name,
                    f"{floats if cell.is_float else ints}[{row}, {cell.column}]",
                )
                for attribute, cell in attribute_cells(stream.schema)
            )
        key = w.let("key", "ki[k, 0]")
        numbers = [f"{ints}[{row}, {OUT_ATTRIBUTES + offset}]" for offset in range(2)]
        return (key, *(w.let("number", number) for number in numbers), "NULL", "NULL")

    def _write_readers(self, w: Writer, stream: str, scope: Scope, key: str) -> None:
        self._write_each(w, self._followers(stream), scope, key, self.streams[stream])

    def _write_each(
        self,
        w: Writer,
        followers: Sequence[Query | Event | Turn],
        scope: Scope,
        key: str,
        stream: Stream,
    ) -> None:
        """What a row of a stream leads to, in order."""
        for reader in followers:
            if isinstance(reader, Turn):
                self._write_turn(w, reader, stream, scope, key)
            elif isinstance(reader, Event):
                self._write_event(w, reader, scope, key)
            elif not self.matches.is_written_with_another(reader):
                alone = reader.partition is not None
                with guarded(w, [f"{key} > 0" if alone else ""]):
                    self._write_query(w, reader, stream.name, scope, key)

    def _write_turn(self, w: Writer, turn: Turn, stream: Stream, scope: Scope, key: str) -> None:
        """The row goes to a later stage, in its place among what this stage puts out."""
        number = str(self.ids.turn(turn.stream, turn.place))
        if has_cells(stream):
            self._write_row(w, stream.name, number, scope.columns, key)
            return
        row = w.let("row", f"write_row(gi, oi, order, {number}, t, {key})")
        cell = w.name("cell")
        with w.block(f"for {cell} in range({OUT_ATTRIBUTES}, oi.shape[1]):"):
            w(f"oi[{row}, {cell}] = oi[r, {cell}]")  # a slice would need memory of Numba's

    def _write_query(self, w: Writer, query: Query, stream: str, scope: Scope, key: str) -> None:
        if isinstance(query.input, Match):
            self._write_match(w, query, stream, scope, key)
            return
        if query in self.families:
            emit_to, row_of = self._write_emission, self._write_row
            self.families.write(w, query, stream, scope, key, emit_to, row_of)
            return
        source = self.queries[query.name]
        w(f"# {label(query.name)}: from {label(query.source)} into {label(query.into)}")
        with ExitStack() as blocks:
            _guard(w, blocks, source.filters(scope))
            counted = source.counted(scope)
            windowed = source.windowed and bool(counted)
            if windowed:
                w(f"counted = {counted}")
            elif counted:
                _guard(w, blocks, counted)
            outputs = source.write(w, scope, key)
            if windowed:
                _guard(w, blocks, "counted")
            _guard(w, blocks, source.full(key))
            _guard(w, blocks, source.having(scope, outputs))
            self._write_emission(w, query.into, outputs, scope, key)

    def _write_match(self, w: Writer, query: Query, stream: str, scope: Scope, key: str) -> None:
        target = query.target
        assert target is not None

        def emit(w: Writer, outputs: tuple[str, ...], scope: Scope, key: str) -> None:
            self._write_emission(w, target, outputs, scope, key)

        self.matches.write(w, query, stream, scope, key, emit)

    def _write_emission(
        self, w: Writer, target: str, outputs: tuple[str, ...], scope: Scope, key: str
    ) -> None:
        if target in self.written:
            self._write_row(w, target, str(self.ids.of(target)), outputs, key)
        if target in self.shared:
            arguments = ", ".join((*outputs, "t", key, "order", "s"))
            w(f"on_{self.ids.of(target)}({arguments})")
        else:
            self._write_readers(w, target, Scope(outputs, "t", self.constants), key)

    def _write_row(
        self, w: Writer, stream: str, stream_id: str, outputs: tuple[str, ...], key: str
    ) -> None:
        """An output row on the stream of that id, which has the schema of `stream`."""
        row = w.let("row", f"write_row(gi, oi, order, {stream_id}, t, {key})")
        for cell, output in zip(row_cells(self.streams[stream].schema), outputs, strict=True):
            array = "of" if cell.is_float else "oi"
            w(f"{array}[{row}, {cell.column}] = {output}")

    def _write_event(self, w: Writer, event: Event, scope: Scope, key: str) -> None:
        w(f"# event {label(event.name)}")
        condition = scope.condition(event.condition)
        with self._with_key(w, event, scope, key) as row:
            if event.every:
                with w.block(f"if {condition}:"):
                    self._write_raise(w, event, row)
                return
            home, edge = "ki" if event.key else "gi", self.edges[event.name]
            now = w.let("now", condition)
            with w.block(f"if {now} != ({home}[{row}, {edge}] != 0):"):
                w(f"{home}[{row}, {edge}] = {now}")
                with w.block(f"if {now}:"):
                    self._write_raise(w, event, row)

    @contextmanager
    def _with_key(self, w: Writer, event: Event, scope: Scope, key: str) -> Iterator[str]:
        """The key row an event lives in; rows whose key is null raise nothing."""
        if event.key is None:
            yield "0"
            return
        row = key
        if not self.stages.by.holds_key(event.source, event.key):
            row = w.let("keyed", f"key_row(s, {scope.value(event.key)})")
        with w.block(f"if {row} > 0:"):
            yield row

    def _write_raise(self, w: Writer, event: Event, row: str) -> None:
        if self.stages.engine(event.engine) != self.stage:
            w(f"write_row(gi, oi, order, {self.ids.raised(event)}, t, {row})")
            return
        definition = self.tables.definitions[event.name]
        start = w.let("r", "gi[0, ROWS]")
        w(f"arrive(s, order, {definition}, {row}, t)", self._drain(start))

    def _drain(self, start: str) -> str:
        return f"drain_rows(s, {start})" if self.drained else f"drain(s, {start})"


def _guard(w: Writer, blocks: ExitStack, condition: str) -> None:
    """Open an `if` around what follows, when there is a condition."""
    if condition:
        blocks.enter_context(w.block(f"if {condition}:"))
