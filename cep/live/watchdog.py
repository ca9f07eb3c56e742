"""Notices threads that hang, as where a disk never answers: no error tells of that."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mt5bridge.clock import Now
from mt5bridge.troubles import Effect, Troubles

HANGS_MS = 10_000
"""So long without a turn, where each thread makes several a second."""
ASLEEP_MS = 2_000
"""Who was not looked at for so long, as on a machine that slept, may have slept too."""


class Watchdog:
    """Belongs to the server's thread. `turns` tells of each thread how many it has made.

    A thread that hangs is a trouble until it goes on; signals wait for none of them.
    """

    def __init__(self, troubles: Troubles, turns: Mapping[str, Callable[[], int]]) -> None:
        self._troubles = troubles
        self._turns = turns
        self._seen: dict[str, tuple[int, int]] = {}  # turns, and since when they are so many
        self._looked_ms = 0

    def look(self, now: Now) -> None:
        """To be called often."""
        was_asleep = now.ms - self._looked_ms >= ASLEEP_MS
        self._looked_ms = now.ms
        for name, turns in self._turns.items():
            made, (before, since_ms) = turns(), self._seen.get(name, (-1, 0))
            if made != before or was_asleep:
                self._seen[name] = made, now.ms
            if made != before:
                self._troubles.clear(name)
            elif now.ms - self._seen[name][1] >= HANGS_MS:
                self._troubles.report(name, _text(now.ms - since_ms), Effect.GOES_ON)


def _text(still_ms: int) -> str:
    return (
        f"has done nothing for {still_ms // 1000} s, as when a disk does not answer: nothing that "
        "waits for it is acknowledged or sent; look at the disk, and at the system's log"
    )
