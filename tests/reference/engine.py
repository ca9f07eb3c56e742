"""A whole plan, one row at a time: queries, simple events, binders, signals, in output order."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from cep.plan.clocks import clocks
from cep.plan.nodes import Bound, Chained, Complex, Event, Plan
from cep.plan.query import Query
from cep.plan.separable import separability
from tests.reference.binder import Arrival, Binder, Found, Queued
from tests.reference.expressions import Context, Value, cast, holds
from tests.reference.windows import RunningQuery


@dataclass(frozen=True)
class Row:
    """A row on a stream, with its values in the order of the stream's schema."""

    stream: str
    time_msc: int
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Habits:
    """Where an engine still differs from the meaning of the rules.

    `keyed`: a query that works by the key has a window and a clock for each.
    """

    keyed: bool = False


MEANING, NATIVE = Habits(), Habits(keyed=True)


class Reference:
    """The naive engine; `keys` have their slots after the plan's own, before any input.

    Records are sorted history, each of them a watermark for all keys, or `lived`.
    """

    def __init__(
        self, plan: Plan, keys: Iterable[str] = (), *, like: Habits = MEANING, lived: bool = False
    ) -> None:
        self.plan = plan
        self.like = like
        self.lived = lived
        self.newest: dict[tuple[str, Value], int] = {}
        self.times: dict[tuple[str, Value], int] = {}
        self.clocks = clocks(plan)
        self.is_late = False
        self.keyed = separability(plan)
        self.keys = list(dict.fromkeys((*plan.keys, *keys)))
        self.binders = {
            engine.name: Binder(plan, engine, self.keyed.is_engine_keyed(engine.name))
            for engine in plan.engines
        }
        self.queries = {
            query.name: RunningQuery(query, self._key_position(query)) for query in plan.queries
        }
        self.was_true: dict[tuple[str, str | None], bool] = {}
        self.output: list[Row] = []
        self.worklist: list[Row] = []
        self.is_draining = False

    def push(self, stream: str, time_msc: int, row: Mapping[str, Value]) -> list[dict[str, Value]]:
        """The output rows of one source row, in output order."""
        schema = self.plan.stream(stream).schema
        values = tuple(cast(row.get(a.name), a.type) for a in schema.attributes)
        source = Row(stream, time_msc, values)
        self._see_time(source)
        self._see_keys(source)
        self.output = []
        self._handle(source)
        return [self._as_dict(row) for row in self.output]

    def _key_position(self, query: Query) -> int | None:
        """The column that holds the key, where the query has a window and clock per key."""
        window = query.stream_input.window
        if self.lived:
            is_by_time = window is not None and window.name == "time"
            of = self.clocks["query", query.name]
            return min(of.key_positions, default=None) if is_by_time else None
        if not self.like.keyed or not self.keyed.is_keyed(query):
            return None
        return min(self.keyed.key_columns[query.source], default=None)

    def _see_time(self, row: Row) -> None:
        """Decide whether the record is late, and move the clocks."""
        key = self._key_of(row) if self.lived else None
        place = (row.stream if self.lived else "", key)
        is_old = row.time_msc < self.newest.get(place, row.time_msc)
        self.is_late = is_old and row.stream not in ("Deal", "Order", "Account")
        self.newest[place] = max(row.time_msc, self.newest.get(place, row.time_msc))
        came = (row.stream, self._key_of(row))
        self.times[came] = max(row.time_msc, self.times.get(came, row.time_msc))

    def _clock_msc(self, kind: str, name: str, key: Value) -> float:
        """What the clock of an operator shows, for a key. What crosses keys in an engine by the key
        goes by the clock of all.
        """
        of = self.clocks[kind, name]
        by_key = of.is_by_key and (key is not None or kind != "engine")
        times = (
            time_msc
            for (stream, other), time_msc in self.times.items()
            if not self.lived or (stream in of.sources and (other == key or not by_key))
        )
        return max(times, default=-math.inf)

    def _see_keys(self, row: Row) -> None:
        self._see_key(self._key_of(row))

    def _key_of(self, row: Row) -> Value:
        stream = self.plan.stream(row.stream)
        return None if stream.key is None else row.values[stream.schema.position(stream.key)]

    def _see_key(self, key: Value) -> None:
        if isinstance(key, str) and key not in self.keys:
            self.keys.append(key)

    def _number(self, definition: Event | Complex | Chained, key: str | None) -> int:
        slot = 0 if key is None else self.keys.index(key)
        return definition.number + slot * self.plan.number_stride

    def _as_dict(self, row: Row) -> dict[str, Value]:
        names = self.plan.stream(row.stream).schema.names
        head: dict[str, Value] = {
            "stream": row.stream,
            "time_msc": row.time_msc,
            "kind": "current",
        }
        return head | dict(zip(names, row.values, strict=True))

    # The flow of rows

    def _emit(self, row: Row) -> None:
        self._put_out(row)
        self._handle(row)

    def _put_out(self, row: Row) -> None:
        self.output.append(row)

    def _handle(self, row: Row) -> None:
        """Offer a row to everything that reads it."""
        for take in self._readers(row.stream):
            take(row)

    def _readers(self, stream: str) -> list[Callable[[Row], None]]:
        """What reads a stream, in order."""
        plan = self.plan
        operators = [
            partial(self._run, operator)
            for operator in plan.operators
            if isinstance(operator, Query | Event) and operator.source == stream
        ]
        chained = [
            partial(self._chain, one)
            for engine in plan.engines
            for one in plan.chained
            if (one.complex, one.engine) == (stream, engine.name)
        ]
        return [*operators, *chained]

    def _run(self, operator: Query | Event, row: Row) -> None:
        if isinstance(operator, Event):
            self._check(operator, row)
            return
        query = self.queries[operator.name]
        key = None if query.key_position is None else row.values[query.key_position]
        clock_msc = self._clock_msc("query", operator.name, key)
        emitted = query.arrive(row.values, row.time_msc, clock_msc)
        if emitted is not None:
            self._emit(Row(operator.target, row.time_msc, emitted))

    # Simple events

    def _check(self, event: Event, row: Row) -> None:
        """Rule 1: raise the event where its condition turns (`every`: is) true."""
        key = None if event.key is None else row.values[event.key.position]
        if event.key is not None and key is None:
            return
        assert key is None or isinstance(key, str)
        self._see_key(key)
        is_true = holds(event.condition, Context(row.values, row.time_msc))
        was_true = self.was_true.get((event.name, key), False)
        self.was_true[event.name, key] = is_true
        if is_true and (event.every or not was_true):
            self._raise(event, key, row)

    def _raise(self, event: Event, key: str | None, row: Row) -> None:
        clock_msc = self._clock_msc("event", event.name, key)
        self._enter(event, self._arrival(event, event.name, key, row, clock_msc))

    def _arrival(
        self, definition: Event | Chained, name: str, key: str | None, row: Row, clock_msc: float
    ) -> Arrival:
        number = self._number(definition, key)
        values = tuple(row.values[column.position] for column in definition.carries)
        return Arrival(
            name, key, number, row.time_msc, definition.repeat, clock_msc, self.is_late, values
        )

    def _chain(self, chained: Chained, row: Row) -> None:
        """Rule 14: a complex event becomes a simple event of the next engine."""
        key = row.values[0]
        assert key is None or isinstance(key, str)
        name = chained.complex
        upper = next(found.engine for found in self.plan.complexes if found.name == name)
        clock_msc = self._clock_msc("engine", upper, key)
        self._enter(chained, self._arrival(chained, name, key, row, clock_msc))

    # The engines

    def _enter(self, definition: Event | Chained, arrival: Arrival) -> None:
        entered, found = self.binders[definition.engine].arrive(arrival, self.keys)
        if entered is None:
            return
        rows = [_event_row(entered)] if isinstance(definition, Event) else []
        rows += [self._complex_row(one) for one in found]
        for row in rows:
            self._put_out(row)
        self.worklist += rows
        self._drain()

    def _drain(self) -> None:
        """Rule 13: what comes back meanwhile waits; the engine is never re-entered."""
        if self.is_draining:
            return
        self.is_draining = True
        while self.worklist:
            self._handle(self.worklist.pop(0))
        self.is_draining = False

    def _complex_row(self, found: Found) -> Row:
        events = [queued.event for queued in found.bound]
        arrangement: Value = [event.number for event in events]
        seqs: Value = [queued.seq for queued in found.bound]
        number = self._number(found.complex, found.key)
        kept = [self._kept(found.complex, one, events) for one in found.complex.bound]
        values = (found.key, number, events[0].time_msc, arrangement, seqs, *kept)
        return Row(found.complex.name, events[-1].time_msc, values)

    def _kept(self, found: Complex, bound: Bound, events: list[Arrival]) -> Value:
        """What a complex event keeps of one of its events."""
        definitions = [*self.plan.events, *self.plan.chained]
        carries = next(
            one.carries
            for one in definitions
            if (one.name if isinstance(one, Event) else one.complex, one.engine)
            == (bound.event, found.engine)
        )
        values = dict(enumerate(one for one in events if one.name == bound.event))
        place = bound.place if bound.place >= 0 else len(values) + bound.place
        return values[place].values[carries.index(bound.column)] if place in values else None


def _event_row(entered: Queued) -> Row:
    event = entered.event
    return Row(event.name, event.time_msc, (event.key, event.number, entered.seq))
