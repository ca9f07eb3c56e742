"""One move of several clocks: how far each goes, and in which order they fire on the way."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field

from cep.interpreter.clock import Clock, Rank
from cep.plan.clocks import Sources

Key = str | None


@dataclass(frozen=True, slots=True)
class Destination:
    """How far time passes (ms UTC) for what follows `stream`, None being everything.

    `common_ms` is for what has one clock, `of_keys` for what has one for each of these keys and
    `others_ms` for all other keys; None is not at all.
    """

    stream: str | None
    common_ms: int | None
    of_keys: Mapping[Key, int] = field(default_factory=dict)
    others_ms: int | None = None

    def common(self, sources: Sources) -> int | None:
        """How far it takes the one clock of what follows these sources."""
        return self.common_ms if self._moves(sources) else None

    def of_key(self, sources: Sources, key: Key) -> int | None:
        """How far it takes the clock of a key."""
        return self.of_keys.get(key, self.others_ms) if self._moves(sources) else None

    def _moves(self, sources: Sources) -> bool:
        return self.stream is None or self.stream in sources


class Move:
    """Clocks on their way to the times in `destination`: all stand at one time while a timer fires.

    Those that begin meanwhile `join`. A firing costs O(log of the clocks that have something due).
    """

    def __init__(self, destination: Destination) -> None:
        self.destination = destination
        self.at_ms: int | None = None
        """The time that has been reached; None before the first timer fires."""
        self._clocks: list[Clock] = []
        self._heads: list[tuple[int, Rank, int, int, Clock]] = []

    def join(self, clock: Clock, to_ms: int | None) -> None:
        """Take a clock along up to a time, if one is given."""
        if to_ms is not None:
            clock.join(self, to_ms, len(self._clocks))
            self._clocks.append(clock)
            self.look(clock)

    def look(self, clock: Clock) -> None:
        """Note what is due next on a clock; what was noted for it before may be out of date."""
        if clock.has_due:
            heapq.heappush(self._heads, (*clock.order(), clock.number, clock))

    def reached(self, to_ms: int | None) -> int | None:
        """Where a clock stands by now that goes up to a time."""
        return None if to_ms is None or self.at_ms is None else min(self.at_ms, to_ms)

    def run(self) -> None:
        """Fire what is due in one order, what is set meanwhile and what is overdue included."""
        try:
            while self._heads:
                *order, _, clock = heapq.heappop(self._heads)
                if clock.has_due and clock.order() == tuple(order):
                    self.at_ms = max(clock.order()[0], self.at_ms or 0)
                    clock.fire_next()
                    self.look(clock)
        finally:
            for clock in self._clocks:
                clock.arrive()
