"""Compares a terminal's count of an interval with the ticks that were received."""

from __future__ import annotations

from collections import deque
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mt5bridge.position import Position
from mt5bridge.wire import Recount

_ROOM = 1_024
_TICKS_MAX = 131_072
"""Ticks of a stream whose times are remembered, many times what a frame can hold."""
_WAITING_MAX = 64
_PARTS_MAX = 256
_PART_TICKS_MAX = 4_096
"""Times of frames are put in their place together: one by one, that costs more than the rest."""
_ALWAYS = -(2**63)
_NEVER = 2**63 - 1


class Agreement(Enum):
    """What a recount has shown."""

    AGREED = "agreed"
    DIFFERING = "differing"
    NOT_CHECKED = "not checked"


class Checked(NamedTuple):
    """A recount, what it has shown, and how many ticks were received."""

    recount: Recount
    agreement: Agreement
    received: int


class Ledger:
    """The times of a stream's newest ticks, by number.

    Intervals that begin before `known_from_msc` cannot be checked: their ticks came in an earlier
    run, are lost, or are no longer remembered.
    """

    def __init__(self, resumed: Position) -> None:
        self.known_from_msc = resumed.time_msc + 1 if resumed.sequence else _ALWAYS
        self._received = resumed.sequence
        self._newest_msc = resumed.time_msc
        self._times: NDArray[np.int64] = np.empty(0, np.int64)
        self._count = 0
        self._parts: list[NDArray[Any]] = []  # times that have no place yet
        self._part_ticks = 0
        self._is_torn = False  # by a loss; the next tick tells up to when
        self._waiting: deque[Recount] = deque()

    def take(self, times: NDArray[Any]) -> None:
        """The times of the next ticks."""
        self._parts.append(times)
        self._part_ticks += len(times)
        self._received += len(times)
        if len(self._parts) >= _PARTS_MAX or self._part_ticks >= _PART_TICKS_MAX:
            self._settle()

    def _settle(self) -> None:
        """Put the times that have come in their place."""
        if not self._parts:
            return
        times = self._parts[0] if len(self._parts) == 1 else np.concatenate(self._parts)
        self._parts, self._part_ticks = [], 0
        if self._is_torn:
            self._is_torn = False
            self.known_from_msc = max(self._newest_msc, int(times[0])) + 1
        self._make_room(len(times))
        count = len(times)
        self._times[self._count : self._count + count] = times
        self._count += count
        self._newest_msc = max(self._newest_msc, int(times.max()))

    def skip_to(self, last: int) -> None:
        """Everything up to number `last` is lost."""
        self._settle()
        self._received = last
        self._count = 0
        self._is_torn = True
        self.known_from_msc = _NEVER

    def recounted(self, recount: Recount) -> None:
        """The terminal has counted an interval."""
        self._waiting.append(recount)

    def checked(self) -> list[Checked]:
        """What can be said now of recounts that have come."""
        found: list[Checked] = []
        if not self._waiting:
            return found
        self._settle()
        while self._waiting:
            is_due = self._waiting[0].sequence <= self._received
            if not is_due and len(self._waiting) <= _WAITING_MAX:
                break
            found.append(self._check(self._waiting.popleft(), is_due))
        return found

    def _check(self, recount: Recount, is_due: bool) -> Checked:
        if not is_due or recount.from_msc < self.known_from_msc:
            return Checked(recount, Agreement.NOT_CHECKED, 0)
        later = self._received - recount.sequence
        times = self._times[: max(0, self._count - later)]
        inside = (times >= recount.from_msc) & (times < recount.to_msc)
        received = int(np.count_nonzero(inside))
        agrees = received == recount.count
        return Checked(recount, Agreement.AGREED if agrees else Agreement.DIFFERING, received)

    def _make_room(self, count: int) -> None:
        needed = self._count + count
        if needed > _TICKS_MAX:
            self._forget(self._count // 2)  # a frame takes far less room
        elif needed > len(self._times):
            larger = np.empty(max(_ROOM, 2 * needed), np.int64)
            larger[: self._count] = self._times[: self._count]
            self._times = larger

    def _forget(self, count: int) -> None:
        """Drop the oldest times; intervals they lie in are not known whole any more."""
        newest = int(self._times[:count].max())
        self.known_from_msc = max(self.known_from_msc, newest + 1)
        self._times[: self._count - count] = self._times[count : self._count].copy()
        self._count -= count
