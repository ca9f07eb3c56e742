"""What is measured of a terminal's connection and told by it, for the status."""

from __future__ import annotations

from dataclasses import dataclass, field

from mt5bridge.clock import Now
from mt5bridge.wire import Account, Heartbeat, Hello, Mark


@dataclass(slots=True)
class Figures:
    """The newest figures of one terminal; None and 0 are unknown."""

    since_msc: int = 0
    utc_offset_ms: int = 0
    round_trip_us: int = 0
    clock_difference_ms: int | None = None
    complete_msc: int = 0  # UTC; all earlier ticks have come, but for late ones
    account: Account | None = None
    marks: dict[int, Mark] = field(default_factory=dict)

    @property
    def has_told(self) -> bool:
        """Whether it has told something that others remember under its name."""
        return bool(self.complete_msc) or self.account is not None

    def greeted(self, hello: Hello, now: Now) -> None:
        """A connection begins."""
        self.since_msc = now.utc_msc
        self.marks.clear()
        self._timed(hello.time_msc, hello.utc_offset_ms, now)

    def beaten(self, beat: Heartbeat, now: Now) -> None:
        """A heartbeat has come."""
        self.round_trip_us = beat.round_trip_us
        self.marks = {mark.stream: mark for mark in beat.marks}
        self._timed(beat.time_msc, beat.utc_offset_ms, now)

    def _timed(self, time_msc: int, utc_offset_ms: int, now: Now) -> None:
        """The clocks are compared as of the arrival: the frame has been under way since."""
        self.utc_offset_ms = utc_offset_ms
        self.clock_difference_ms = time_msc + self.round_trip_us // 2_000 - now.utc_msc
