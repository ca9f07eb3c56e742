"""Up to when the records of each source are complete, and so those of each key."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec


class Telling(NamedTuple):
    """For some keys, None being all, time has passed up to `time_msc` (ms UTC).

    `is_complete`: all their earlier records have come; else their sources are away, or say nothing.
    """

    time_msc: int
    keys: tuple[str, ...] | None
    is_complete: bool


Placed = tuple[int, Telling]
"""What is told, behind its place among the records."""


class Mark(msgspec.Struct, array_like=True):
    """What a source has told, and the keys it has published, in order."""

    source: str
    keys: list[str]
    time_msc: int | None = None  # None: it has told nothing yet
    is_away: bool = False

    @property
    def holds(self) -> bool:
        """Whether its keys wait for it."""
        return self.time_msc is not None and not self.is_away


class SavedWatermarks(msgspec.Struct, frozen=True, array_like=True):
    """What a snapshot keeps."""

    marks: list[Mark] = []
    clock_msc: int | None = None


class Watermarks:
    """What the sources have told, in order of the records; it follows from these alone.

    A key that several sources publish is complete up to the least of their times. A source that is
    away is left out, and so is one before its first watermark: keys that only such publish follow
    the clock of who stores the records.
    """

    def __init__(self) -> None:
        self._marks: dict[str, Mark] = {}
        self._sources: dict[str, list[Mark]] = {}  # by key
        self._pairs: set[tuple[str, str]] = set()  # of source and key
        self.clock_msc: int | None = None
        """Up to when all sources that are not away are complete; it never goes back."""

    def published(self, source: str, key: str) -> None:
        """A source has sent a record of this key."""
        if (source, key) not in self._pairs:
            mark = self._mark(source)
            mark.keys.append(key)
            self._enter(mark, key)

    def tell(self, source: str | None, is_away: bool, time_msc: int) -> list[Telling]:
        """Take a watermark of a source; what it tells, earlier times first.

        With `is_away` it says that nobody shall wait for the source any more. A `source` of None is
        the clock of who stores the records, which speaks for those that are away, and for all where
        nobody else does.
        """
        if source is None:
            found = self._tell_own(time_msc)
        else:
            mark = self._mark(source)
            mark.is_away = is_away
            if not is_away:
                mark.time_msc = max(time_msc, mark.time_msc or time_msc)
            found = self._complete(mark.keys)
        self._move()
        return found

    def state(self) -> SavedWatermarks:
        """All of it."""
        return SavedWatermarks(list(self._marks.values()), self.clock_msc)

    def restore(self, state: SavedWatermarks) -> None:
        """Take over a state, into one just made."""
        self._marks = {mark.source: mark for mark in state.marks}
        for mark in state.marks:
            for key in mark.keys:
                self._enter(mark, key)
        self.clock_msc = state.clock_msc

    @property
    def holding(self) -> list[str]:
        """The sources that keys wait for."""
        return [mark.source for mark in self._marks.values() if mark.holds]

    @property
    def away(self) -> list[str]:
        """The sources that have told something, and are away."""
        return [mark.source for mark in self._marks.values() if mark.is_away]

    def _mark(self, source: str) -> Mark:
        return self._marks.setdefault(source, Mark(source, []))

    def _enter(self, mark: Mark, key: str) -> None:
        self._pairs.add((mark.source, key))
        self._sources.setdefault(key, []).append(mark)

    def _tell_own(self, time_msc: int) -> list[Telling]:
        if not self.holding:
            self.clock_msc = max(time_msc, self.clock_msc or time_msc)
            return [Telling(time_msc, None, is_complete=False)]
        keys = (key for mark in self._marks.values() if mark.is_away for key in mark.keys)
        left = [key for key in dict.fromkeys(keys) if not self._holding(key)]
        return [Telling(time_msc, tuple(left), is_complete=False)] if left else []

    def _complete(self, keys: Iterable[str]) -> list[Telling]:
        by_time: dict[int, list[str]] = {}
        for key in keys:
            if times := self._holding(key):
                by_time.setdefault(min(times), []).append(key)
        if not by_time and self.holding:
            by_time[self._least()] = []  # nobody's keys, but time has passed
        return [Telling(at, tuple(by_time[at]), is_complete=True) for at in sorted(by_time)]

    def _holding(self, key: str) -> list[int]:
        """The times of the sources that a key waits for."""
        marks = self._sources[key]
        return [mark.time_msc for mark in marks if mark.time_msc is not None and mark.holds]

    def _least(self) -> int:
        marks = self._marks.values()
        return min(mark.time_msc for mark in marks if mark.time_msc is not None and mark.holds)

    def _move(self) -> None:
        if self.holding:
            least = self._least()
            self.clock_msc = max(least, self.clock_msc or least)
