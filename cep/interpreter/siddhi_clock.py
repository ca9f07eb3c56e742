"""The clock of playback as Siddhi has it, with its defect, for `@app:compat('siddhi')`.

There each timer of a query has a queue for each partition key. When the clock jumps, the timers are
asked one after the other, not in order of time; of several keys whose next due times are equal only
one is served, the others wait for the next jump. A time asked for after a later one waits for it.
"""

from __future__ import annotations

from cep.interpreter.clock import Clock, Timer
from cep.interpreter.tables.hash_order import in_hash_order, slots_for

Queue = list[tuple[int, int, Timer]]


class SiddhiClock(Clock):
    """A clock whose jumps fire what Siddhi's would fire."""

    def jump(self, to_ms: int) -> None:
        self.now_ms = to_ms if self.now_ms is None else max(self.now_ms, to_ms)
        for place in list(self.timers):
            for timer in self._served(place, self.now_ms):
                self._drain(timer, self.now_ms)

    def glide(self, to_ms: int) -> None:
        while (head := min(self._heads(), default=None)) is not None and head[0] <= to_ms:
            self.remove(head)
            self.now_ms = head[0] if self.now_ms is None else max(self.now_ms, head[0])
            head[2].fire(head[0])
        self.now_ms = to_ms if self.now_ms is None else max(self.now_ms, to_ms)

    def _heads(self) -> Queue:
        """What each timer was asked for first, of what is still due."""
        heads: dict[int, tuple[int, int, Timer]] = {}
        for entry in sorted(self._due, key=lambda entry: entry[1]):
            heads.setdefault(id(entry[2]), entry)
        return list(heads.values())

    def _served(self, place: str, now_ms: int) -> list[Timer]:
        """The timers of one place that are served, one for each next due time, earliest first."""
        timers = self.timers[place]
        keys = in_hash_order(timers, slots_for(len(timers)))
        served: dict[int, Timer] = {}
        for timer in (timers[key] for key in keys):
            queue = self._queue(timer)
            if queue and queue[0][0] <= now_ms:
                served.setdefault(queue[0][0], timer)
        return [served[due_ms] for due_ms in sorted(served)]

    def _queue(self, timer: Timer) -> Queue:
        """What is due at a timer, in the order in which it was asked for."""
        return sorted(self.entries(timer), key=lambda entry: entry[1])

    def _drain(self, timer: Timer, now_ms: int) -> None:
        while (queue := self._queue(timer)) and queue[0][0] <= now_ms:
            self.remove(queue[0])
            timer.fire(queue[0][0])
