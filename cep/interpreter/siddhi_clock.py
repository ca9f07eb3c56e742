"""The clock as Siddhi has it, with its defects, for `@app:compat('siddhi')`.

There each timer of a query has a queue for each partition key. When the clock of playback jumps,
the timers are asked one after the other, not in order of time; of several keys whose next due times
are equal only one is served, the others wait for the next jump. A time asked for after a later one
waits for it.
"""

from __future__ import annotations

from collections.abc import Iterable

from cep.interpreter.clock import Clock, Due, Timer
from cep.interpreter.tables.hash_order import in_hash_order, slots_for


class SiddhiClock(Clock):
    """A clock that fires what Siddhi's would fire, in its order."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: dict[str, tuple[int, int, Timer]] = {}
        self._began = 0

    def jump(self, to_ms: int) -> None:
        if self.now_ms is not None and to_ms < self.now_ms:
            return
        now_ms = self.now_ms = to_ms
        for place in list(self.timers):
            for timer in self._served(place, now_ms):
                self._drain(timer, now_ms)

    def glide(self, to_ms: int) -> None:
        """Each timer waits for one time. Those that wait for the same fire in the order in which
        they began to: a timer asked for several times begins anew after each."""
        while self._waiting and (first := min(self._waiting.values()))[0] <= to_ms:
            due_ms, _, timer = first
            now_ms = self.now_ms = due_ms if self.now_ms is None else max(self.now_ms, due_ms)
            self._drain(timer, now_ms)
            self._waiting.pop(timer.name, None)
            self._wait(timer)
        self.move(to_ms)

    def put(self, entry: Due) -> None:
        super().put(entry)
        if entry.timer.name not in self._waiting:
            self._wait(entry.timer)

    def forget(self, timer: Timer) -> None:
        super().forget(timer)
        self._waiting.pop(timer.name, None)

    def restore(self, now_ms: int | None, due: Iterable[Due]) -> None:
        self._waiting.clear()
        super().restore(now_ms, due)

    def _wait(self, timer: Timer) -> None:
        """Have a timer wait for what it was asked for first, if anything is left."""
        queue = self._queue(timer)
        if queue:
            first_ms = queue[0].due_ms
            due_ms = first_ms if self.now_ms is None else max(first_ms, self.now_ms)
            self._waiting[timer.name] = (due_ms, self._began, timer)
            self._began += 1

    def _served(self, place: str, now_ms: int) -> list[Timer]:
        """The timers of one place that are served, one for each next due time, earliest first."""
        timers = self.timers[place]
        keys = in_hash_order(timers, slots_for(len(timers)))
        served: dict[int, Timer] = {}
        for timer in (timers[key] for key in keys):
            queue = self._queue(timer)
            if queue and queue[0].due_ms <= now_ms:
                served.setdefault(queue[0].due_ms, timer)
        return [served[due_ms] for due_ms in sorted(served)]

    def _queue(self, timer: Timer) -> list[Due]:
        """What is due at a timer, in the order in which it was asked for."""
        return sorted(self.entries(timer), key=lambda entry: entry.turn)

    def _drain(self, timer: Timer, now_ms: int) -> None:
        while (queue := self._queue(timer)) and queue[0].due_ms <= now_ms:
            self.remove(queue[0])
            timer.fire(queue[0].due_ms)
