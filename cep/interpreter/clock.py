"""The interpreter's clock: it is told the time, and fires what is due in order of time.

Two ways to move it, as in Siddhi: with `jump`, the way of event time, the clock stands at its new
time while earlier timers fire, each told its own due time; with `glide`, the way of a clock that
runs by itself, it stands at each due time in turn.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

Fire = Callable[[int], None]


class Timer:
    """A named place to which due times are sent.

    `place` is the same for all partition keys, which `key` tells apart.
    """

    def __init__(self, clock: Clock, name: str, place: str, key: str, fire: Fire) -> None:
        self.clock = clock
        self.name = name
        self.place = place
        self.key = key
        self.fire = fire

    def at(self, due_ms: int) -> None:
        """Fire once at that time; a time that has passed fires at the clock's next move."""
        self.clock.schedule(self, due_ms)

    def cancel(self) -> None:
        """Forget what is still due."""
        self.clock.forget(self)


class Clock:
    """The latest time known, in ms UTC (None before the first), and what is due later."""

    def __init__(self) -> None:
        self.now_ms: int | None = None
        self._due: list[tuple[int, int, Timer]] = []
        self._count = 0
        self.timers: dict[str, dict[str, Timer]] = {}

    def timer(self, name: str, fire: Fire, place: str | None = None, key: str = "") -> Timer:
        """A timer called `name`, known by `place` and `key` (without a place: by its name)."""
        timer = Timer(self, name, name if place is None else place, key, fire)
        self.timers.setdefault(timer.place, {})[key] = timer
        return timer

    def drop(self, timer: Timer) -> None:
        """Forget a timer and what is due at it."""
        self.forget(timer)
        del self.timers[timer.place][timer.key]

    def schedule(self, timer: Timer, due_ms: int) -> None:
        heapq.heappush(self._due, (due_ms, self._count, timer))
        self._count += 1

    def forget(self, timer: Timer) -> None:
        self._due = [entry for entry in self._due if entry[2] is not timer]
        heapq.heapify(self._due)

    def entries(self, timer: Timer) -> list[tuple[int, int, Timer]]:
        """What is due at a timer: (due ms, sequence, timer), in no order."""
        return [entry for entry in self._due if entry[2] is timer]

    def remove(self, entry: tuple[int, int, Timer]) -> None:
        """Take out one entry."""
        self._due.remove(entry)
        heapq.heapify(self._due)

    def next_due_ms(self) -> int | None:
        """When the next timer is due."""
        return self._due[0][0] if self._due else None

    def jump(self, to_ms: int) -> None:
        """Move to a time at once, then fire what has become due. It never goes back."""
        self.now_ms = to_ms if self.now_ms is None else max(self.now_ms, to_ms)
        while self._due and self._due[0][0] <= self.now_ms:
            due, _, timer = heapq.heappop(self._due)
            timer.fire(due)

    def glide(self, to_ms: int) -> None:
        """Move to a time step by step, standing at each due time while it fires."""
        while self._due and self._due[0][0] <= to_ms:
            due, _, timer = heapq.heappop(self._due)
            self.now_ms = due if self.now_ms is None else max(self.now_ms, due)
            timer.fire(due)
        self.now_ms = to_ms if self.now_ms is None else max(self.now_ms, to_ms)

    def pending(self) -> list[tuple[int, int, str]]:
        """What is due, for a snapshot: (due ms, sequence, name of the timer)."""
        return [(due, count, timer.name) for due, count, timer in sorted(self._due)]

    def by_name(self) -> dict[str, Timer]:
        """The timers by name."""
        return {timer.name: timer for keys in self.timers.values() for timer in keys.values()}

    def restore(
        self, now_ms: int | None, pending: list[tuple[int, int, str]], timers: dict[str, Timer]
    ) -> None:
        """Take over the state of a snapshot; `timers` by name."""
        self.now_ms = now_ms
        self._due = [(due, count, timers[name]) for due, count, name in pending]
        heapq.heapify(self._due)
        self._count = max((count for _, count, _ in pending), default=-1) + 1
