"""What this process takes of the machine's memory, and a limit of it."""

from __future__ import annotations

import psutil

from mt5bridge.clock import Now
from mt5bridge.server import Sink
from mt5bridge.troubles import Effect, Troubles

EVERY_MS = 1_000
MEMORY = "memory"
"""The name of the trouble when the limit is reached."""
RELEASED = 0.95
"""Below this part of the limit it is as before."""


def memory_bytes() -> int:
    """Memory of this process that is in the machine's."""
    return int(psutil.Process().memory_info().rss)


class Memory:
    """Has terminals keep what they send while the process takes more than `max_mib` (0: no limit).

    What was taken goes on its way: it is written and acknowledged, and that frees memory.
    """

    def __init__(self, max_mib: int, sink: Sink, troubles: Troubles) -> None:
        self._most = max_mib << 20
        self._sink = sink
        self._troubles = troubles
        self._is_reached = False
        self._next_ms = 0

    def change(self, max_mib: int) -> None:
        """Another limit from now on."""
        self._most = max_mib << 20
        self._next_ms = 0

    def look(self, now: Now) -> None:
        """To be called often."""
        if now.ms < self._next_ms or not (self._most or self._is_reached):
            return
        self._next_ms = now.ms + EVERY_MS
        found = memory_bytes()
        if self._most and found > self._most and not self._is_reached:
            self._is_reached = True
            text = (
                f"the daemon takes {found >> 20:,} MiB, more than memory_max_mib = "
                f"{self._most >> 20:,}; raise it, or have rules remember less"
            )
            self._sink.complain("memory_reached", text)
            self._troubles.report(MEMORY, text, Effect.WAITS)
        elif self._is_reached and not (self._most and found >= RELEASED * self._most):
            self._is_reached = False
            self._troubles.clear(MEMORY)
