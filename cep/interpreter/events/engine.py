"""An engine while it runs: it takes an event, finds its complex events, and hands them over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from cep.interpreter.context import Context
from cep.interpreter.events.binder import Match, Search
from cep.interpreter.events.hand_over import HandedRow, HandOver
from cep.interpreter.events.keys import KeySlots
from cep.interpreter.events.queue import Arrival, Key, Queue, Queued
from cep.interpreter.rows import Row
from cep.plan.change import chained_part, operator_part
from cep.plan.nodes import Bound, Chained, Complex, Engine, Event, Plan

Arrived = Callable[[Event | Chained, Arrival], None]
"""Told of an event that has come to an engine, which is in its queue now unless it was dropped."""


class RunningEngine:
    """One engine. It never looks at rows of streams: events say what was raised.

    `arrived` is told of each event that comes, once its complex events are found.
    """

    arrived: Arrived | None = None

    def __init__(
        self, engine: Engine, plan: Plan, context: Context, keys: KeySlots, hand_over: HandOver
    ) -> None:
        opposites = {event.name: event.opposites for event in plan.events}
        self.name = engine.name
        parts = {event.name: operator_part(event) for event in plan.events}
        parts |= {c.complex: chained_part(c) for c in plan.chained if c.engine == engine.name}
        self._shared = context.shared
        self.queue = Queue(engine, opposites, parts, self._shared.dropped)
        self._keys = keys
        self._hand_over = hand_over
        self._complexes = [found for found in plan.complexes if found.engine == engine.name]
        self._numbers = {one.name: one.number for one in plan.events}
        self._numbers |= {c.complex: c.number for c in plan.chained if c.engine == engine.name}
        self._carried = {one.name: one.carries for one in plan.events}
        self._carried |= {c.complex: c.carries for c in plan.chained if c.engine == engine.name}
        self._clock_of = context.clock_of
        self._has_key = {event.name: event.key is not None for event in plan.events}
        self._has_key |= {found.name: found.key is not None for found in plan.complexes}
        context.keep(self.queue, "queue")

    def clock_ms(self, key: Key) -> int | None:
        """What the clock of its complex events of a key shows; None: of those that cross keys."""
        clocks, clock_of = self._shared.clocks, self._clock_of
        clock = clocks.common(clock_of.sources) if key is None else clocks.of_key(clock_of, key)
        return clock.now_ms

    def arrive(self, definition: Event | Chained, key: Key, clock_ms: int | None, row: Row) -> None:
        """Take an event in that a row raises, at the time of what is under way, by what its clock
        shows; put out what comes of it.
        """
        cause = self._shared.cause
        name = definition.name if isinstance(definition, Event) else definition.complex
        now_ms = cause.at_ms if clock_ms is None else clock_ms
        values = tuple(row.values[column.position] for column in definition.carries)
        arrival = Arrival(name, key, cause.at_ms, now_ms, definition.repeat, cause.is_late, values)
        made = self._made(definition, self.queue.admit(arrival))
        if self.arrived is not None:
            self.arrived(definition, arrival)
        if made:
            self._hand_over.give(made)

    def _made(self, definition: Event | Chained, queued: Queued | None) -> list[HandedRow]:
        """What comes of an event that was queued."""
        if queued is None:
            return []
        own = [self._event_row(queued)] if isinstance(definition, Event) else []
        return [*own, *self._matches()]

    def _matches(self) -> Iterator[HandedRow]:
        """10 to 12: each complex event once at most for each key, in order of definition."""
        for found in self._complexes:
            for key in self._keys if found.key is not None else [None]:
                match = Search(found, key, self.queue, self._has_key).match()
                if match:
                    for queued in match:
                        queued.bound.append((found.name, key))
                    yield self._complex_row(found, key, match)

    def _event_row(self, queued: Queued) -> HandedRow:
        values = [queued.key, self._number(queued), queued.seq]
        return self._shared.streams[queued.name], Row(queued.at_ms, values)

    def _complex_row(self, found: Complex, key: Key, match: Match) -> HandedRow:
        values: list[Any] = [
            key,
            self._keys.number(found.number, key),
            match[0].at_ms,
            [self._number(queued) for queued in match],
            [queued.seq for queued in match],
            *(self._kept(bound, match) for bound in found.bound),
        ]
        return self._shared.streams[found.name], Row(match[-1].at_ms, values)

    def _kept(self, bound: Bound, match: Match) -> Any:
        """What a complex event keeps of one of its events; None where it has none such."""
        events = [queued for queued in match if queued.name == bound.event]
        if not -len(events) <= bound.place < len(events):
            return None
        return events[bound.place].values[self._carried[bound.event].index(bound.column)]

    def _number(self, queued: Queued) -> int:
        return self._keys.number(self._numbers[queued.name], queued.key)
