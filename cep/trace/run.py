"""The traced replay: records one by one through the interpreter, each explained.

The interpreter is the meaning of the rules, so that what it does is what every engine does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from cep.dropped import Ended, nobody
from cep.interpreter.context import Context
from cep.interpreter.rows import Chunk, Row
from cep.interpreter.run import InterpretedRun, all_put_out
from cep.plan.nodes import Plan
from cep.plan.query import Query
from cep.plan.types import Type
from cep.replay import Source, end_msc, records, slices
from cep.trace.engines import Engines
from cep.trace.events import EventWatch
from cep.trace.notes import Notes
from cep.trace.queries import QueryWatch, nothing_came
from cep.trace.scope import Scope, TraceError
from cep.trace.texts import NamedRow, moment, pairs_text

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
    for parts in slices(sources):
        for n, stream, time_msc, values in records(parts):
            yield from tracer.feed(stream, time_msc, values, n)
            advance(1)
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
        self.run = InterpretedRun(plan, outputs=())
        interpreter = self.run.interpreter
        context = Context(interpreter.shared)
        self._engines = Engines(plan, interpreter, scope, self.notes)
        self._events = [EventWatch(one, scope, context, self.notes) for one in scope.events]
        interpreter.on_trace(QueryWatch(scope.queries, scope, context, self.notes).trace)
        self._made: list[NamedRow] = []
        self._put_in_order: SeenRows = defaultdict(list)
        for stream in plan.streams:
            if stream.name in plan.made:
                types = [one.type for one in stream.schema.attributes]
                interpreter.on_output(stream.name, partial(self._see_made, stream.name, types))
            if stream.reorder is not None:
                interpreter.on_stream(stream.name, partial(self._see_in_order, stream.name))

    def _see_made(self, stream: str, types: list[Type], chunk: Chunk) -> None:
        self._made += [(stream, Row(row.time, all_put_out(types, row.values))) for row in chunk]

    def _see_in_order(self, stream: str, chunk: Chunk) -> None:
        self._put_in_order[stream] += chunk

    def feed(
        self, stream: str, time_msc: int, values: Sequence[Any], n: int | None = None
    ) -> list[str]:
        """Feed one record, as `InterpretedRun.push`; its block, empty when it touches no rule."""
        row = Row(time_msc, list(values))
        self.scope.begin(stream, row)
        self.run.push(stream, time_msc, values, n)
        lines = self._explained([(stream, row)])
        return [self._head(stream, row), *lines] if lines else []

    def end(self, time_msc: int) -> list[str]:
        """The input ends at a time; the block of it, empty when it touches no rule."""
        self.scope.begin_time()
        self.run.end(time_msc)
        lines = self._explained([])
        return [f"{moment(time_msc)} time passes", *lines] if lines else []

    def _explained(self, came: list[NamedRow]) -> list[str]:
        """What became of a record that `came`, and of the rows it has led to."""
        made, self._made = self._made, []
        rows = self._by_stream([*came, *made])
        raised = self._engines.explain(made)
        for event in self._events:
            for row in rows.get(event.event.source, ()):
                event.see(row, raised)
        for query in self.scope.queries:
            self._explain_nothing(query, rows)
        self._explain_signals(made)
        return list(self.notes.take())

    def _by_stream(self, seen: list[NamedRow]) -> SeenRows:
        """Rows by stream; those of streams that are put in order are the ones that left."""
        rows: SeenRows = defaultdict(list)
        for name, row in seen:
            rows[name].append(row)
        for stream in self.plan.sources:
            if stream.reorder is not None:
                rows[stream.name] = self._put_in_order.pop(stream.name, [])
        return rows

    def _explain_nothing(self, query: Query, rows: SeenRows) -> None:
        """A query took a row and nothing more is to be said."""
        taken = [
            one.stream
            for one in query.inputs
            for row in rows.get(one.stream, ())
            if self.scope.holds(query, one.stream, row)
        ]
        if taken and not self.notes.has(query.name):
            self.notes.add(query.name, nothing_came(query, taken[0]))

    def _explain_signals(self, made: list[NamedRow]) -> None:
        for name, row in made:
            if name in self.scope.signals:
                schema = self.plan.stream(name).schema
                if row.values[schema.position("key")] == self.scope.key:
                    self.notes.add(name, f"MADE {pairs_text(schema.names, row.values)}")

    def _head(self, stream: str, row: Row) -> str:
        names = self.plan.stream(stream).schema.names
        return f"{moment(row.time)} {stream} {pairs_text(names, row.values)}"
