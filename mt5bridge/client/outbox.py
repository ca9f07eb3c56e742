"""One stream's records from the tick base to the acknowledgement."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

import numpy as np

from mt5bridge.records import TICK, Records
from mt5bridge.wire import (
    DEALS_MAX,
    DEALS_STREAM,
    TICKS_MAX,
    Deals,
    Frame,
    Lost,
    LostReason,
    Mark,
    Ticks,
)

_ROOM = 1_024


@dataclass(frozen=True, slots=True)
class Hole:
    """An interval that cannot be sent."""

    first: int
    last: int
    reason: LostReason
    text: str


class Outbox:
    """Numbers records, keeps them until acknowledged, sends them again when asked.

    Sequences below `base` are acknowledged and forgotten, `cursor` is sent next, `end` is given
    to the next record.
    """

    def __init__(self, stream: int, dtype: np.dtype[Any] = TICK) -> None:
        self.stream = stream
        self.base = self.cursor = self.end = 1
        self._durable = 0
        self._holes: list[Hole] = []
        self._offsets: list[tuple[int, int]] = [(1, 0)]  # (from this sequence on, utc_offset_ms)
        self._records: Records = np.empty(_ROOM, dtype)
        self._start = 0  # where `base` lies in `_records`

    def begin(self, durable: int) -> None:
        """The first connection of a program: number on behind what the daemon has on disk."""
        self.base = self.cursor = self.end = durable + 1

    def append(self, records: Records, utc_offset_ms: int) -> None:
        """Give the next sequences to `records`, taken when the server was so far off UTC."""
        if utc_offset_ms != self._offsets[-1][1]:
            self._offsets.append((self.end, utc_offset_ms))
        self._make_room(len(records))
        at = self._start + self.end - self.base
        self._records[at : at + len(records)] = records
        self.end += len(records)
        self._forget()

    def resume(self, durable: int) -> None:
        """A new connection of a running program: the daemon has on disk what `durable` says."""
        self.acknowledge(durable)
        self.cursor = min(durable + 1, self.end)

    def acknowledge(self, sequence: int) -> None:
        """Forget everything up to `sequence`, also what an earlier run sent and this one has not.

        The latter gets its sequences when it is taken again, and is forgotten at once.
        """
        self._durable = max(self._durable, sequence)
        self._forget()

    def rewind(self, first: int) -> None:
        """Send again from `first`."""
        self.cursor = min(self.cursor, first)

    def lose(self, first: int, last: int, reason: LostReason, text: str) -> None:
        """These records cannot be sent (any more)."""
        self._holes.append(Hole(first, last, reason, text))

    def next_frame(self, records_max: int) -> Frame | None:
        """The next records, or what became of them; None when all is sent or nothing allowed."""
        if self.cursor >= self.end:
            return None
        if hole := self._hole_at_cursor():
            first, self.cursor = self.cursor, hole.last + 1
            return Lost(self.stream, first, hole.last, hole.reason, hole.text)
        count = self._sendable(records_max)
        if count < 1:
            return None
        first, self.cursor = self.cursor, self.cursor + count
        return self._batch(first, count)

    @property
    def in_flight(self) -> int:
        """How many records are sent and not acknowledged."""
        return max(0, self.cursor - self.base)

    @property
    def unacknowledged(self) -> int:
        """How many records are kept."""
        return self.end - self.base

    def mark(self) -> Mark:
        """How far this stream is, for a heartbeat."""
        return Mark(self.stream, self.end - 1, self.cursor - 1)

    def complete_msc(self, whole_msc: int) -> int:
        """UTC: all earlier ticks are sent, but for late ones, if all before `whole_msc` came."""
        next_ = max(self.cursor, self.base)
        if next_ >= self.end:
            return whole_msc
        time_msc = int(self._records[self._start + next_ - self.base]["time_msc"])
        return min(whole_msc, time_msc - self._offsets[self._offset_index(next_)][1])

    def _forget(self) -> None:
        known = min(self._durable, self.end - 1)
        if known >= self.base:
            self._start += known + 1 - self.base
            self.base = known + 1
            self.cursor = max(self.cursor, self.base)
            self._holes = [hole for hole in self._holes if hole.last > known]

    def _hole_at_cursor(self) -> Hole | None:
        if self.cursor < self.base:
            return Hole(
                self.cursor, self.base - 1, LostReason.DISCARDED, "acknowledged, no longer kept"
            )
        holes = (hole for hole in self._holes if hole.first <= self.cursor <= hole.last)
        return next(holes, None)

    def _sendable(self, records_max: int) -> int:
        limit = DEALS_MAX if self.stream == DEALS_STREAM else TICKS_MAX
        ends = [self.end, self.cursor + min(records_max, limit)]
        ends += [hole.first for hole in self._holes if hole.first > self.cursor]
        change = self._offset_index(self.cursor) + 1
        ends += [first for first, _ in self._offsets[change : change + 1]]
        return min(ends) - self.cursor

    def _batch(self, first: int, count: int) -> Frame:
        at = self._start + first - self.base
        records = self._records[at : at + count]
        offset = self._offsets[self._offset_index(first)][1]
        frame = Deals if self.stream == DEALS_STREAM else Ticks
        return frame(self.stream, offset, first, records)

    def _offset_index(self, sequence: int) -> int:
        return max(0, bisect_right(self._offsets, sequence, key=lambda change: change[0]) - 1)

    def _make_room(self, count: int) -> None:
        kept = self.end - self.base
        if self._start + kept + count <= len(self._records):
            return
        larger = np.empty(max(_ROOM, 2 * (kept + count)), self._records.dtype)
        larger[:kept] = self._records[self._start : self._start + kept]
        self._records, self._start = larger, 0
