"""The traced replay: rows one by one through the uncompiled engine, each explained."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from cep.dropped import Ended, nobody
from cep.engine.encode import InputRows
from cep.engine.native import Compiled, Run
from cep.engine.rows import Rows
from cep.interpreter.context import Context, Shared
from cep.interpreter.rows import Chunk, Row
from cep.plan.nodes import SIGNAL_SCHEMA, Plan
from cep.plan.query import Query, StreamInput
from cep.replay import Source, batches, end_msc
from cep.trace.engines import Engines
from cep.trace.events import EventWatch
from cep.trace.interpreted import InterpreterWatch, silence
from cep.trace.notes import Notes
from cep.trace.probes import Probed, probed
from cep.trace.queries import QueryWatch
from cep.trace.scope import Scope, TraceError
from cep.trace.shadow import Shadow
from cep.trace.texts import NamedRow, moment, named_rows, pairs_text

KEY = SIGNAL_SCHEMA.position("key")
SeenRows = dict[str, list[Row]]
"""Rows by stream, in order."""


def traced(
    plan: Plan,
    scope: Scope,
    sources: list[Source],
    advance: Callable[[int], None] = lambda n: None,
    until_msc: int | None = None,
    ended: Ended = nobody,
) -> Iterator[str]:
    """The trace, a line each: a block for each record that touches a rule of the scope.

    The input ends as for `replay`, and `ended` is told what was dropped, for all keys.
    TraceError, at the end, when no row has the key.
    """
    tracer = Tracer(plan, scope)
    for batch in batches(tracer.run, sources, batch_rows=1):
        yield from tracer.feed(batch)
        advance(len(batch))
    if (ended_msc := end_msc(sources, until_msc)) is not None:
        yield from tracer.end(ended_msc)
    ended(tracer.run.dropped)
    if scope.key is not None and scope.key not in scope.seen_keys:
        keys = sorted(scope.seen_keys)
        hint = f"the keys are {', '.join(keys[:20])}" if keys else "no row has a key at all"
        raise TraceError(f"--trace {scope.key}: no row has this key", hint)


class Tracer:
    """A run, with everybody who watches it."""

    def __init__(self, plan: Plan, scope: Scope) -> None:
        self.plan = plan
        self.scope = scope
        self.notes = Notes(plan)
        compiled = [query for query in scope.queries if not scope.is_interpreted(query)]
        self.probed: Probed = probed(plan, compiled)
        outputs = [stream.name for stream in self.probed.plan.streams]
        rules = Compiled(self.probed.plan, outputs=outputs, jit=False)
        self.run: Run = rules.start(mode="sorted")
        self._put_in_order: SeenRows = defaultdict(list)
        context = Context(self._listen())
        self._engines = Engines(self.run, scope, self.notes)
        self._events = [EventWatch(one, scope, context, self.notes) for one in scope.events]
        self._queries = [
            QueryWatch(query, self.probed.splits.get(query.name), scope, context, self.notes)
            for query in compiled
            if isinstance(query.input, StreamInput)
        ]
        self._shadows = [
            Shadow(plan, query, self.probed.copies[query.name], scope, self.notes)
            for query in compiled
            if not isinstance(query.input, StreamInput)
        ]

    def _listen(self) -> Shared:
        """Listen to the run's interpreter, if it has one; what conditions are evaluated with."""
        self._interpreted = [q for q in self.scope.queries if self.scope.is_interpreted(q)]
        if self.run.interpreted is None:
            return Shared(self.plan.compat == "siddhi")
        interpreter = self.run.interpreted.interpreter
        watch = InterpreterWatch(
            self._interpreted, self.scope, Context(interpreter.shared), self.notes
        )
        interpreter.on_trace(watch.trace)
        for stream in self.plan.sources:
            if stream.reorder is not None:
                interpreter.on_stream(stream.name, partial(self._see_in_order, stream.name))
        return interpreter.shared

    def _see_in_order(self, stream: str, chunk: Chunk) -> None:
        self._put_in_order[stream] += chunk

    def feed(self, record: InputRows) -> list[str]:
        """Feed one record; its block, empty when it touches no rule."""
        none = np.empty(0, np.int64)
        head = Rows(self.run.decoder, record.ints, record.floats, none, none)
        stream, row = named_rows(head)[0]
        self.scope.begin(stream, row)
        made = named_rows(self.run.feed(record))
        self._explain(made, self._by_stream([(stream, row), *made]))
        lines = list(self.notes.take())
        return [self._head(stream, row), *lines] if lines else []

    def end(self, time_msc: int) -> list[str]:
        """The input ends at a time; the block of it, empty when it touches no rule."""
        self.scope.begin_time()
        made = named_rows(self.run.end(time_msc))
        self._explain(made, self._by_stream(made))
        lines = list(self.notes.take())
        return [f"{moment(time_msc)} time passes", *lines] if lines else []

    def _explain(self, made: list[NamedRow], rows: SeenRows) -> None:
        """Note what became of a record's `rows`, those `made` among them."""
        raised = self._engines.explain(made)
        for event in self._events:
            for row in rows.get(event.event.source, ()):
                event.see(row, raised)
        for query in self._queries:
            selected = [] if query.split is None else list(rows.get(query.split.stream, ()))
            for row in rows.get(query.source, ()):
                query.see(row, selected)
        for shadow in self._shadows:
            shadow.see(made)
        for query_ in self._interpreted:
            self._explain_silence(query_, rows)
        self._explain_signals(made)

    def _by_stream(self, seen: list[NamedRow]) -> SeenRows:
        """Rows by stream; those of streams that are put in order are the ones that left."""
        rows: SeenRows = defaultdict(list)
        for name, row in seen:
            rows[name].append(row)
        for stream in self.plan.sources:
            if stream.reorder is not None:
                rows[stream.name] = self._put_in_order.pop(stream.name, [])
        return rows

    def _explain_silence(self, query: Query, rows: SeenRows) -> None:
        """An interpreted query took a row and nothing more is to be said."""
        taken = [
            one.stream
            for one in query.inputs
            for row in rows.get(one.stream, ())
            if self.scope.holds(query, one.stream, row)
        ]
        if taken and not self.notes.has(query.name):
            self.notes.add(query.name, silence(query, taken[0]))

    def _explain_signals(self, made: list[NamedRow]) -> None:
        signals = {signal.name for signal in self.scope.signals}
        for name, row in made:
            if name in signals and row.values[KEY] == self.scope.key:
                self.notes.add(name, f"MADE {pairs_text(SIGNAL_SCHEMA.names, row.values)}")

    def _head(self, stream: str, row: Row) -> str:
        names = self.plan.stream(stream).schema.names
        return f"{moment(row.time)} {stream} {pairs_text(names, row.values)}"
