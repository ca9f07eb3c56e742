"""The queue of an engine: its events in order of arrival, and what they are bound to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cep.dropped import Dropped, Reason
from cep.plan.change import PartId
from cep.plan.nodes import Engine, Repeat

Key = str | None


@dataclass(frozen=True, slots=True)
class Arrival:
    """An event that wants to enter: raised, or handed over by another engine.

    `at_ms` is the time of what caused it, `clock_ms` what the clock of its key shows then, `values`
    what it carries.
    """

    name: str
    key: Key
    at_ms: int
    clock_ms: int
    repeat: Repeat
    is_late: bool
    values: tuple[Any, ...] = ()


@dataclass(slots=True, eq=False)
class Queued:
    """An event in the queue. `bound` are the complex events it is part of, with their keys, in
    order; `closed` those that other rules brought while it was here: they never bind it.
    """

    name: str
    key: Key
    at_ms: int
    seq: int
    bound: list[tuple[str, Key]] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    values: tuple[Any, ...] = ()

    def is_of(self, name: str, key: Key) -> bool:
        """Whether it has that number: numbers are unique per definition and key."""
        return self.name == name and self.key == key

    def may_bind(self, name: str, key: Key) -> bool:
        """Whether a complex event may take it (12: once each)."""
        return (name, key) not in self.bound and name not in self.closed


class Queue:
    """What an engine holds; `parts` are its events by name, under which `dropped` counts them."""

    def __init__(
        self,
        engine: Engine,
        opposites: Mapping[str, tuple[str, ...]],
        parts: Mapping[str, PartId],
        dropped: Dropped,
    ) -> None:
        self.engine = engine
        self.events: list[Queued] = []
        self.entered = 0
        self._opposites = opposites
        self._parts = parts
        self._dropped = dropped

    def admit(self, event: Arrival) -> Queued | None:
        """The event as it stands in the queue; None when it was dropped, which evicts nothing."""
        self._expire(event)
        if event.repeat is Repeat.REJECT and self._has(event):
            self._count(event.name, Reason.REPEAT)
            return None
        if event.is_late and self.engine.late == "drop":
            self._count(event.name, Reason.LATE)
            return None
        if event.repeat is Repeat.REFRESH:
            self._remove([one for one in self.events if one.is_of(event.name, event.key)])
        if self.engine.opposites == "evict":
            self._evict(event)
        self._make_room(event)
        return self._enter(event)

    def is_opposed(self, queued: Queued) -> bool:
        """4, `validate`: whether an opposite of a queued event stands behind it."""
        later = self.events[self.events.index(queued) + 1 :]
        return any(self._are_opposite(queued, other) for other in later)

    def _has(self, event: Arrival) -> bool:
        return any(one.is_of(event.name, event.key) for one in self.events)

    def _expire(self, event: Arrival) -> None:
        """3: events of its key that are older than the span leave; others leave with their own."""
        oldest_ms = max(event.at_ms, event.clock_ms) - self.engine.span_ms
        old = (one for one in self.events if one.key == event.key and one.at_ms < oldest_ms)
        self._remove(list(old))

    def _evict(self, event: Arrival) -> None:
        """4: the opposites that are queued leave."""
        opposite = [one for one in self.events if self._are_opposite(event, one)]
        for one in opposite:
            self._count(one.name, Reason.OPPOSITE)
        self._remove(opposite)

    def _are_opposite(self, event: Arrival | Queued, other: Queued) -> bool:
        return other.key == event.key and other.name in self._opposites.get(event.name, ())

    def _make_room(self, event: Arrival) -> None:
        """17: of as many events of its number as the queue may hold, the oldest leaves."""
        same = [one for one in self.events if one.is_of(event.name, event.key)]
        if len(same) >= self.engine.events_max:
            self._count(event.name, Reason.BOUND)
            self._remove(same[:1])

    def _enter(self, event: Arrival) -> Queued:
        """5: at the end, whatever its time; 18: with the next number of this engine."""
        self.entered += 1
        queued = Queued(event.name, event.key, event.at_ms, self.entered, values=event.values)
        self.events.append(queued)
        return queued

    def _count(self, name: str, reason: Reason) -> None:
        self._dropped.add(self._parts[name], reason)

    def _remove(self, leaving: list[Queued]) -> None:
        if leaving:
            self.events = [one for one in self.events if one not in leaving]

    def state(self) -> Any:
        events = [
            [q.name, q.key, q.at_ms, q.seq, q.bound, q.closed, *q.values] for q in self.events
        ]
        return {"entered": self.entered, "events": events}

    def restore(self, state: Any) -> None:
        self.entered = state["entered"]
        self.events = [
            Queued(name, key, at_ms, seq, [(f, of) for f, of in bound], list(closed), tuple(values))
            for name, key, at_ms, seq, bound, closed, *values in state["events"]
        ]
