"""Time that passes without records is itself recorded, so that a later run sees it pass too."""

from __future__ import annotations

import numpy as np

from mt5bridge.clock import Now
from mt5bridge.spool import CLOCK, Group, Kind, Spool

SOURCE = "daemon"
STREAM = ("clock",)


class Silence:
    """Appends a clock record whenever nothing was appended for `every_ms`; 0 appends none."""

    def __init__(self, spool: Spool, every_ms: int) -> None:
        self._spool = spool
        self._every_ms = every_ms
        state = spool.recovered.streams.get((SOURCE, STREAM))
        self._sequence = state.sequence + 1 if state else 1
        self._ingest = -1
        self._since_ms = 0

    def look(self, now: Now) -> None:
        """To be called by the appending thread, often; the time that is recorded is UTC."""
        if self._spool.next_ingest != self._ingest:
            self._ingest, self._since_ms = self._spool.next_ingest, now.ms
        elif self._every_ms and now.ms - self._since_ms >= self._every_ms:
            self._record(now)

    def _record(self, now: Now) -> None:
        records = np.array([(now.utc_msc,)], CLOCK)
        group = Group(self._ingest, Kind.CLOCK, SOURCE, STREAM, self._sequence, records)
        if self._spool.append(group):
            self._sequence += 1
        self._ingest, self._since_ms = self._spool.next_ingest, now.ms
