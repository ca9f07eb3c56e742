"""The engines' event queues over a whole run, from the rows that it put out.

The rules of the queue are `binder.md`'s, in words in `docs/rule-language.md`: what is opposite or
came again leaves at once, what is older than the span can be bound no more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from cep.plan.nodes import Engine, Plan, Repeat
from cep.report import QueueCourse, Stay

Row = Mapping[str, Any]
Recent = Mapping[str, Collection[Row]]


class _Arrival(NamedTuple):
    """An event that an engine took, or was handed by another; in the order of arrival.

    `seq` is its number in the queue, from 1 on; 0: a row of a complex event does not tell which it
    got downstream.
    """

    clock_msc: int
    seq: int
    name: str
    number: int
    key: str | None
    time_msc: int
    repeat: Repeat


@dataclass(slots=True)
class _Queue:
    """The events of an engine by name and key: those that were taken last, and are still there."""

    engine: Engine
    opposites: Mapping[str, tuple[str, ...]]
    stays: list[tuple[_Arrival, int]] = field(default_factory=list)
    _queued: dict[tuple[str, str | None], list[int]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def take(self, event: _Arrival) -> None:
        same = self._young(event.name, event)
        if event.repeat is Repeat.REJECT and same:
            return
        if event.repeat is Repeat.REFRESH:
            self._leave(event.name, event)
        elif len(same) >= self.engine.events_max:
            self._end(same.pop(0), event.clock_msc)
        if self.engine.opposites == "evict":
            for name in self.opposites.get(event.name, ()):
                self._leave(name, event)
        self._queued[event.name, event.key].append(len(self.stays))
        self.stays.append((event, event.time_msc + self.engine.span_ms + 1))

    def _young(self, name: str, event: _Arrival) -> list[int]:
        """Places of those with a name and the event's key that its arrival leaves in the queue."""
        oldest_msc = event.clock_msc - self.engine.span_ms
        queued = self._queued[name, event.key]
        queued[:] = [place for place in queued if self.stays[place][0].time_msc >= oldest_msc]
        return queued

    def _leave(self, name: str, event: _Arrival) -> None:
        for place in self._young(name, event):
            self._end(place, event.clock_msc)
        self._queued[name, event.key].clear()

    def _end(self, place: int, msc: int) -> None:
        self.stays[place] = (self.stays[place][0], msc)


def courses(plan: Plan, recent: Recent, symbol: str, kept_max: int) -> tuple[QueueCourse, ...]:
    """The queue of each engine, of events whose key is the symbol, or that have none.

    `recent` are the latest rows of each event and complex event, `kept_max` at most of each.
    O(rows log rows).
    """
    return tuple(_course(plan, engine, recent, symbol, kept_max) for engine in plan.engines)


def _course(plan: Plan, engine: Engine, recent: Recent, symbol: str, kept_max: int) -> QueueCourse:
    queue = _Queue(engine, {event.name: event.opposites for event in plan.events})
    for event in _in_order(list(_arrivals(plan, engine, recent, (symbol, None)))):
        queue.take(event)
    bound = _bound(plan, engine, recent)
    stays = tuple(
        Stay(
            event.number, event.name, event.key or "", event.time_msc, event.clock_msc, left_msc,
            tuple(bound.get(event.seq, ())),
        )
        for event, left_msc in queue.stays
    )  # fmt: skip
    cut = [rows for rows in map(list, recent.values()) if len(rows) >= kept_max]
    known_msc = max((rows[0]["time_msc"] for rows in cut), default=None)
    return QueueCourse(engine.name, engine.span_ms, stays, known_msc)


def _arrivals(
    plan: Plan, engine: Engine, recent: Recent, keys: Collection[str | None]
) -> Iterator[_Arrival]:
    """Unordered, each with its own time as the clock's."""
    for event in plan.events:
        if event.engine == engine.name:
            for row in recent.get(event.name, ()):
                if row["key"] in keys:
                    time_msc = row["time_msc"]
                    # one that came again under `reject` has no row
                    repeat = Repeat.ALLOW if event.repeat is Repeat.REJECT else event.repeat
                    yield _Arrival(
                        time_msc, row["seq"], event.name, row["number"], row["key"], time_msc,
                        repeat,
                    )  # fmt: skip
    for handed in plan.chained:
        if handed.engine == engine.name:
            first = next(one.number for one in plan.complexes if one.name == handed.complex)
            for row in recent.get(handed.complex, ()):
                if row["key"] in keys:
                    time_msc, number = row["time_msc"], row["number"] - first + handed.number
                    yield _Arrival(
                        time_msc, 0, handed.complex, number, row["key"], time_msc, handed.repeat
                    )


def _in_order(events: Sequence[_Arrival]) -> list[_Arrival]:
    """By the order of arrival, in which a late one stands behind younger ones."""
    numbered = sorted((event for event in events if event.seq), key=lambda event: event.seq)
    clock, taken = 0, []
    for event in numbered:
        clock = max(clock, event.time_msc)
        taken.append(event._replace(clock_msc=clock))
    taken += [event for event in events if not event.seq]
    return sorted(taken, key=lambda event: event.clock_msc)


def _bound(plan: Plan, engine: Engine, recent: Recent) -> dict[int, list[tuple[str, int]]]:
    """What each number in the queue was bound to, and when."""
    found: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for complex_ in plan.complexes:
        if complex_.engine == engine.name:
            for row in recent.get(complex_.name, ()):
                for seq in row["events"]:
                    found[seq].append((complex_.name, row["time_msc"]))
    return found
