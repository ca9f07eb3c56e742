"""One clock: it is told the time, and fires what is due in order of time.

While a timer fires the clock stands at its due time, so what time makes does not depend on the
record that let time pass (meaning.md 2).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

Fire = Callable[[int], None]


class Rank(NamedTuple):
    """Which of the timers that are due at one time fires first."""

    place: int = 0
    """The place in the file of what it belongs to."""
    key: int = 0
    """When its key first came, of all keys."""


FIRST = Rank()


@dataclass(frozen=True, slots=True)
class Site:
    """Where a timer belongs: `place` is the same for all keys, which `key` tells apart."""

    place: str
    key: str = ""
    rank: Rank = FIRST


class Timer:
    """Somewhere to send due times to; its name is its own."""

    def __init__(self, clock: Clock, name: str, site: Site, fire: Fire) -> None:
        self.clock = clock
        self.name = name
        self.site = site
        self.fire = fire

    def at(self, due_ms: int) -> None:
        """Fire once at that time; a time that has passed fires at the clock's next move."""
        self.clock.schedule(self, due_ms)

    def cancel(self) -> None:
        """Forget what is still due."""
        self.clock.forget(self)


class Due(NamedTuple):
    """What is due; the first in order fires first."""

    due_ms: int
    rank: Rank
    turn: int
    timer: Timer


class CombinationAggregates(Protocol):
    """Clocks that are on their way together; see `cep.interpreter.move`."""

    at_ms: int | None

    def look(self, clock: Clock) -> None:
        """Note what is due next on a clock."""


class Clock:
    """The latest time known, in ms UTC (None before the first), and what is due later."""

    def __init__(self) -> None:
        self._now_ms: int | None = None
        self._with: CombinationAggregates | None = None
        self._to_ms = 0
        self.number = 0
        """Its place among those that move together."""
        self._due: list[Due] = []
        self._turn = 0
        self.timers: dict[str, dict[str, Timer]] = {}

    @property
    def now_ms(self) -> int | None:
        """Where it stands; among others on their way, where these have got to."""
        if self._with is None or self._with.at_ms is None:
            return self._now_ms
        reached_ms = min(self._with.at_ms, self._to_ms)
        return reached_ms if self._now_ms is None else max(self._now_ms, reached_ms)

    @now_ms.setter
    def now_ms(self, now_ms: int | None) -> None:
        self._now_ms = now_ms

    def join(self, others: CombinationAggregates, to_ms: int, number: int) -> None:
        """Be on the way to a time with others, until it has arrived."""
        self._with, self.number = others, number
        self._to_ms = to_ms if self._now_ms is None else max(self._now_ms, to_ms)

    def arrive(self) -> None:
        """Be there."""
        self._with = None
        self.move(self._to_ms)

    @property
    def has_due(self) -> bool:
        """Whether something is due on its way."""
        return self.is_due(self._to_ms)

    def timer(self, name: str, fire: Fire, site: Site | None = None) -> Timer:
        """A timer called `name`, which belongs somewhere (default: to a place of its own)."""
        timer = Timer(self, name, site or Site(name), fire)
        self.timers.setdefault(timer.site.place, {})[timer.site.key] = timer
        return timer

    def drop(self, timer: Timer) -> None:
        """Forget a timer and what is due at it."""
        self.forget(timer)
        del self.timers[timer.site.place][timer.site.key]

    def schedule(self, timer: Timer, due_ms: int) -> None:
        """Have a timer fire at a time."""
        self.put(Due(due_ms, timer.site.rank, self._turn, timer))

    def put(self, entry: Due) -> None:
        """Have an entry fire, which another clock may have held."""
        heapq.heappush(self._due, entry)
        if entry.turn >= self._turn:
            self._turn = entry.turn + 1
        if self._with is not None:
            self._with.look(self)

    def forget(self, timer: Timer) -> None:
        """Forget what is due at a timer."""
        self._due = [entry for entry in self._due if entry.timer is not timer]
        heapq.heapify(self._due)
        if self._with is not None:  # what is due next may be another now
            self._with.look(self)

    def entries(self, timer: Timer) -> list[Due]:
        """What is due at a timer, in no order."""
        return [entry for entry in self._due if entry.timer is timer]

    def remove(self, entry: Due) -> None:
        """Take out one entry."""
        self._due.remove(entry)
        heapq.heapify(self._due)

    def next_due_ms(self) -> int | None:
        """When the next timer is due."""
        return self._due[0].due_ms if self._due else None

    def is_due(self, time_ms: int) -> bool:
        """Whether something is, at a time."""
        return bool(self._due) and self._due[0].due_ms <= time_ms

    def order(self) -> tuple[int, Rank, int]:
        """By which of several clocks that have something due the first is found."""
        return self._due[0][:3]

    def move(self, to_ms: int) -> None:
        """Move to a time at once. It never goes back."""
        if self._now_ms is None or to_ms > self._now_ms:
            self._now_ms = to_ms

    def jump(self, to_ms: int) -> None:
        """A record of that time is next: fire what is due by then, also what is overdue."""
        self.glide(to_ms if self.now_ms is None else max(to_ms, self.now_ms))

    def glide(self, to_ms: int) -> None:
        """Let time pass by itself."""
        while self.is_due(to_ms):
            self.move(self._due[0].due_ms)
            self.fire_next()
        self.move(to_ms)

    def fire_next(self) -> None:
        """Fire what is due next."""
        entry = heapq.heappop(self._due)
        entry.timer.fire(entry.due_ms)

    def pending(self) -> list[Due]:
        """What is due, in order."""
        return sorted(self._due)

    def by_name(self) -> dict[str, Timer]:
        """The timers by name."""
        return {timer.name: timer for keys in self.timers.values() for timer in keys.values()}

    def restore(self, now_ms: int | None, due: Iterable[Due]) -> None:
        """Take over a time, and what is due."""
        self.now_ms = now_ms
        self._due = []
        for entry in sorted(due, key=lambda entry: entry.turn):
            self.put(entry)
