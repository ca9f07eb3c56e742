"""Time that passes without records is itself recorded: rules see it pass, now and in later runs."""

from __future__ import annotations

import numpy as np

from cep.live.pipeline import Pipeline
from mt5bridge.clock import Now
from mt5bridge.spool import CLOCK, Group, Kind

SOURCE = "daemon"
STREAM = ("clock",)


class Silence:
    """Makes a clock record whenever the rules heard nothing for `every_ms`; 0 makes none."""

    def __init__(self, pipeline: Pipeline, every_ms: int) -> None:
        self._pipeline = pipeline
        self._every_ms = every_ms
        state = pipeline.spool.recovered.streams.get((SOURCE, STREAM))
        self._sequence = state.sequence + 1 if state else 1
        self._heard = -1
        self._since_ms = 0

    def look(self, now: Now) -> None:
        """To be called by the appending thread, often; the time that is recorded is UTC."""
        if self._pipeline.heard != self._heard:
            self._heard, self._since_ms = self._pipeline.heard, now.ms
        elif self._every_ms and now.ms - self._since_ms >= self._every_ms:
            self._record(now)

    def _record(self, now: Now) -> None:
        records = np.array([(now.utc_msc,)], CLOCK)
        ingest = self._pipeline.spool.next_ingest
        group = Group(ingest, Kind.CLOCK, SOURCE, STREAM, self._sequence, records)
        if self._pipeline.on_clock(group):
            self._sequence += 1
        self._since_ms = now.ms
