"""The simple CEP engine's queue and binder, rule by rule and by brute force.

Numbers in the comments are the rules of the engine's specification, which the tests quote.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from cep.plan.nodes import Complex, Engine, Plan, Ref, Repeat
from tests.reference.arrangements import Arrangement, Number, arrangements
from tests.reference.expressions import Value


@dataclass(frozen=True)
class Arrival:
    """A raised simple event, or a complex event handed to a chained engine.

    `clock_msc` is what the clock of its key shows; `is_late` is that of the record it follows from;
    `values` are what it carries of the row.
    """

    name: str
    key: str | None
    number: int
    time_msc: int
    repeat: Repeat
    clock_msc: float = -math.inf
    is_late: bool = False
    values: tuple[Value, ...] = ()

    @property
    def identity(self) -> Number:
        return (self.name, self.key)


@dataclass(eq=False)
class Queued:
    """An event in the queue; `bound` names what it was bound to, in order (rules 12, 19)."""

    event: Arrival
    seq: int
    bound: list[Number] = field(default_factory=list)


@dataclass(frozen=True)
class Found:
    """One match of a complex event: `bound` in queue order."""

    complex: Complex
    key: str | None
    bound: tuple[Queued, ...]


@dataclass
class Queue:
    """Events in order of arrival."""

    events: list[Queued] = field(default_factory=list)


class Binder:
    """One engine: its queue (`is_keyed`: one per key) and its complex events."""

    def __init__(self, plan: Plan, engine: Engine, is_keyed: bool) -> None:
        self.engine = engine
        self.is_keyed = is_keyed
        self.complexes = [found for found in plan.complexes if found.engine == engine.name]
        self.opposites = {event.name: event.opposites for event in plan.events}
        self.is_per_key = {event.name: event.key is not None for event in plan.events}
        self.is_per_key |= {found.name: found.key is not None for found in plan.complexes}
        self.queues: dict[str | None, Queue] = {}
        self.entered = 0
        self.counts: Counter[str] = Counter()
        self.dropped: Counter[tuple[str, str]] = Counter()
        self._arrangements: dict[Number, list[Arrangement]] = {}

    def arrive(self, event: Arrival, keys: Iterable[str]) -> tuple[Queued | None, list[Found]]:
        """What entered the queue (None: dropped) and what was found, for any of `keys`."""
        queue = self.queues.setdefault(event.key if self.is_keyed else None, Queue())
        self._expire(queue, event)
        if self._is_dropped(queue, event):
            return None, []
        self._make_room(queue, event)
        self.entered += 1
        entered = Queued(event, self.entered)
        queue.events.append(entered)  # 5
        return entered, self._match_all(queue.events, list(keys))

    def rows(self, key: str | None = None) -> list[tuple[int, int, tuple[Number, ...]]]:
        """Rule 19: number, time and binds of each queued event, newest first."""
        events = self.queues.get(key, Queue()).events
        return [(q.event.number, q.event.time_msc, tuple(q.bound)) for q in reversed(events)]

    def _expire(self, queue: Queue, event: Arrival) -> None:
        oldest_msc = max(event.time_msc, event.clock_msc) - self.engine.span_ms
        old = [q for q in queue.events if q.event.time_msc < oldest_msc]
        self._remove(queue, "expired", [q for q in old if q.event.key == event.key])  # 3

    def _is_dropped(self, queue: Queue, event: Arrival) -> bool:
        if event.repeat is Repeat.REJECT and self._occurrences(queue, [event.identity]):  # 2
            self._drop("rejected", event)
            return True
        if event.is_late and self.engine.late == "drop":  # 5
            self._drop("late", event)
            return True
        return False

    def _make_room(self, queue: Queue, event: Arrival) -> None:
        if event.repeat is Repeat.REFRESH:  # 2
            self._remove(queue, "refreshed", self._occurrences(queue, [event.identity]))
        if self.engine.opposites == "evict":  # 4
            opposites = self._occurrences(queue, self._opposites(event))
            self._remove(queue, "evicted", opposites)
        same = self._occurrences(queue, [event.identity])
        if len(same) >= self.engine.events_max:  # 17
            self._remove(queue, "overflowed", same[:1])

    def _remove(self, queue: Queue, reason: str, leaving: Sequence[Queued]) -> None:
        for queued in leaving:
            self._drop(reason, queued.event)
        queue.events = [q for q in queue.events if q not in leaving]

    def _drop(self, reason: str, event: Arrival) -> None:
        self.counts[reason] += 1
        self.dropped[event.identity[0], reason] += 1

    def _occurrences(self, queue: Queue, numbers: Sequence[Number]) -> list[Queued]:
        return [q for q in queue.events if q.event.identity in numbers]

    def _opposites(self, event: Arrival) -> list[Number]:
        return [(name, event.key) for name in self.opposites.get(event.name, ())]

    def _match_all(self, events: list[Queued], keys: list[str]) -> list[Found]:
        """Rules 10 to 13, for the event that stands last."""
        found = []
        for complex_ in self.complexes:
            for key in keys if complex_.key is not None else [None]:
                chosen = self._best(complex_, key, events)
                if chosen is not None:
                    bound = tuple(events[position] for position in chosen)
                    for queued in bound:
                        queued.bound.append((complex_.name, key))  # 12
                    found.append(Found(complex_, key, bound))
        return found

    def _best(
        self, complex_: Complex, key: str | None, events: list[Queued]
    ) -> tuple[int, ...] | None:
        """Rule 11: the latest positions, newest first; a prefix wins."""
        matches = [
            positions
            for arrangement in self._arrangements_of(complex_, key)
            if arrangement.numbers[-1] == events[-1].event.identity
            for earlier in choices(arrangement.numbers[:-1], events, len(events) - 1)
            for positions in [(*earlier, len(events) - 1)]
            if self._is_match(complex_, key, arrangement, events, positions)
        ]
        return max(matches, key=lambda match: (*reversed(match), math.inf), default=None)

    def _is_match(
        self,
        complex_: Complex,
        key: str | None,
        arrangement: Arrangement,
        events: list[Queued],
        positions: tuple[int, ...],
    ) -> bool:
        first, last = positions[0], positions[-1]
        times = [events[x].event.time_msc for x in positions]
        lasted_ms = max(times) - min(times)
        numbers = [q.event.identity for q in events]
        forbidden = [self._number(ref, key) for ref in complex_.forbid]
        return (
            all((complex_.name, key) not in events[x].bound for x in positions)
            and lasted_ms <= complex_.within_ms
            and not any(number in numbers[first : last + 1] for number in forbidden)
            and not any(
                number in numbers[positions[i] + 1 : positions[j]]
                for i, j, number in arrangement.gaps
            )
            and not (self.engine.opposites == "validate" and self._is_opposed(events, positions))
        )

    def _is_opposed(self, events: list[Queued], positions: tuple[int, ...]) -> bool:
        """Rule 4: an opposite of a chosen event stands later in the queue."""
        return any(
            later.event.identity in self._opposites(events[x].event)
            for x in positions
            for later in events[x + 1 :]
        )

    def _arrangements_of(self, complex_: Complex, key: str | None) -> list[Arrangement]:
        instance = (complex_.name, key)
        if instance not in self._arrangements:
            self._arrangements[instance] = arrangements(
                complex_.pattern, lambda ref: self._number(ref, key)
            )
        return self._arrangements[instance]

    def _number(self, ref: Ref, key: str | None) -> Number:
        """Which event a pattern means, seen from the instance of `key`."""
        return (ref.event, (ref.key or key) if self.is_per_key[ref.event] else None)


def choices(
    numbers: tuple[Number, ...], events: list[Queued], end: int
) -> Iterator[tuple[int, ...]]:
    """All increasing positions below `end` of events with these numbers."""
    if not numbers:
        yield ()
        return
    for position in range(end):
        if events[position].event.identity == numbers[-1]:
            for earlier in choices(numbers[:-1], events, position):
                yield (*earlier, position)
