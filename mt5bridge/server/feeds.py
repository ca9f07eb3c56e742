"""What is kept on disk and sent again from any place: feeds, and how far each connection is in one.

A thread of its own reads, so that no terminal waits for a disk; of each connection it reads no more
ahead than `AHEAD_MAX` entries, and none while those wait to be sent.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Set
from typing import Protocol
from weakref import ReferenceType, ref

from mt5bridge.wire import Event, Standing

AHEAD_MAX = 64
_LOOK_S = 0.5
_RETRY_S = 1.0


class Reading(Protocol):
    """Reads on from a place; belongs to the thread that reads."""

    def read(self, most: int) -> list[Event]:
        """The next entries, at most so many; none: not now. OSError."""


class Feed(Protocol):
    """Entries with numbers that rise. What is handed out survives a crash, number and all."""

    name: str

    @property
    def newest(self) -> int:
        """The number of the newest entry that may be handed out; 0: none yet."""

    @property
    def first(self) -> int:
        """Behind which entry who comes for the first time begins."""

    def reading(self, number: int) -> Reading:
        """From behind the entry of this number on."""


class Cursor:
    """What a connection has of a feed. `ready` is to be sent, by the server's thread."""

    def __init__(self, feed: Feed, number: int | None) -> None:
        """Behind an entry of this number; None: for the first time."""
        self.start = feed.first if number is None else min(number, feed.newest)
        self.ready: deque[Event] = deque()
        self._feed = feed
        self._place = self.start
        self._reading: Reading | None = None

    @property
    def standing(self) -> Standing:
        """From where on it sends."""
        return Standing(self.start, self._feed.name, "")

    def fill(self) -> bool:
        """Read on if nothing is ready; whether something is, now. OSError."""
        if self.ready or self._place >= self._feed.newest:
            return False
        if self._reading is None:
            self._reading = self._feed.reading(self.start)
        found = self._reading.read(AHEAD_MAX)
        if found:
            self._place = found[-1].number
            self.ready.extend(found)
        return bool(found)


def _rest() -> None:
    return None


class Feeds:
    """The feeds of a server, by name; `run` is for the thread that reads."""

    def __init__(self) -> None:
        self.on_found: Callable[[], None] = _rest
        """Lets the server send what is ready; may be called from any thread."""
        self._feeds: dict[str, Feed] = {}
        self._cursors: list[ReferenceType[Cursor]] = []
        self._mutex = threading.Lock()
        self._flag = threading.Event()

    def add(self, feed: Feed) -> None:
        """One more; before anybody can ask for it."""
        self._feeds[feed.name] = feed

    @property
    def names(self) -> Set[str]:
        """Of all feeds there are."""
        return self._feeds.keys()

    def begin(self, name: str, number: int | None) -> Cursor:
        """A connection's, which ends when nobody has it any more."""
        cursor = Cursor(self._feeds[name], number)
        with self._mutex:
            self._cursors = [one for one in self._cursors if one() is not None]
            self._cursors.append(ref(cursor))
        self._flag.set()
        return cursor

    def wake(self) -> None:
        """There may be something to read; may be called from any thread."""
        if self._cursors:
            self._flag.set()

    def fill(self) -> bool:
        """Read for all that have nothing; whether anything was found. OSError."""
        found = False
        for one in self._cursors:
            cursor = one()
            found = (cursor is not None and cursor.fill()) or found
        return found

    def stop(self, stop: threading.Event) -> None:
        """End `run` soon."""
        stop.set()
        self._flag.set()

    def run(self, stop: threading.Event, tell: Callable[[OSError | None], None]) -> None:
        """Read until `stop` is set; `tell` is told of each attempt that fails, and of others."""
        while not stop.is_set():
            try:
                found = self.fill()
            except OSError as problem:
                tell(problem)
                stop.wait(_RETRY_S)
                continue
            tell(None)
            if found:
                self.on_found()
            elif self._flag.wait(_LOOK_S):
                self._flag.clear()
