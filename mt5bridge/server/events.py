"""Complex events for terminals: the newest ones, and what each subscriber gets of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from mt5bridge.server.feeds import Feeds
from mt5bridge.wire import (
    LASTING,
    WANTED_MAX,
    Event,
    Standing,
    Subscribe,
    Subscribed,
    Wanted,
    encode,
)

EVENTS_A_HEARTBEAT = 64
"""Sent for each HEARTBEAT that is heard: what comes behind them does not wait long."""
BYTES_MAX = 64 << 20
FEED_A_TURN = 16
"""Entries of feeds that are sent to a connection before others get their turn: they may be many."""


class EventStore:
    """Keeps the newest `kept_max` events, of at most `bytes_max`; belongs to the server's thread.

    Events have the places 0, 1, 2, ... in the order in which they came.
    """

    def __init__(self, kept_max: int = 10_000, bytes_max: int = BYTES_MAX) -> None:
        self.numbering = 0
        self.is_held = False
        """Who wants events waits, until it is known which there are."""
        self.standings: dict[str, Standing] = {}
        self.feeds = Feeds()
        self.version = 0
        """Goes on with the rules."""
        self.oldest = 0
        """The place of the oldest event that is kept."""
        self._kept_max = kept_max
        self._bytes_max = bytes_max
        self._kept: deque[tuple[Event, int]] = deque()
        self._bytes = 0

    @property
    def end(self) -> int:
        """The place behind the newest event."""
        return self.oldest + len(self._kept)

    def at(self, place: int) -> Event:
        """The event at a place that is kept."""
        return self._kept[place - self.oldest][0]

    def begin(self, numbering: int, standings: Iterable[Standing]) -> None:
        """The complex events of the rules from now on; those of another numbering are forgotten."""
        if numbering != self.numbering:
            self.oldest = self.end
            self._kept.clear()
            self._bytes = 0
        self.numbering, self.is_held = numbering, False
        self.standings = {one.name: one for one in standings}
        self.version += 1

    def add(self, event: Event) -> None:
        """Keep one more event, the next of its name. WireError when it is no frame."""
        size = len(encode(event))
        self._kept.append((event, size))
        self._bytes += size
        self.standings[event.name] = Standing(event.number, event.name, event.engine)
        while len(self._kept) > self._kept_max or self._bytes > self._bytes_max:
            _, gone = self._kept.popleft()
            self._bytes -= gone
            self.oldest += 1


class Subscription:
    """What a terminal wants on one connection, and how far it is."""

    def __init__(self, store: EventStore, frame: Subscribe, account: str = "") -> None:
        """`account`: of what is about accounts, only of this one."""
        self._account = account
        self._store = store
        self._names = {one.name for one in frame.entries if one.wanted is Wanted.NAMED}
        self._engines = {one.name for one in frame.entries if one.wanted is Wanted.ENGINE}
        self._is_all = any(one.wanted is Wanted.ALL for one in frame.entries)
        self._numbers = {name: one.number for name, one in store.standings.items()}
        is_same = frame.numbering == store.numbering
        known = [
            one
            for one in frame.entries
            if one.wanted is Wanted.KNOWN and (is_same or one.name in LASTING)
        ]
        numbers = {one.name: one.number for one in known}
        self._cursors = [
            store.feeds.begin(name, numbers.get(name)) for name in self._names & store.feeds.names
        ]
        known = [one for one in known if one.name not in store.feeds.names]
        for one in known:
            self._numbers[one.name] = min(one.number, self._numbers.get(one.name, 0))
        self._place = store.oldest if known else store.end
        self._again: list[Event] = []
        self._version = -1
        self._numbering = store.numbering
        self.credit = EVENTS_A_HEARTBEAT
        self.dropped = 0
        """Left the store before they could be sent; to be counted by whoever asks."""

    def due(self) -> list[Subscribed | Event]:
        """What is to be sent now, each once."""
        found: list[Subscribed | Event] = []
        if self._version != self._store.version:
            found.append(self._subscribed())
        again, self._again = self._again, []
        found += again
        while self.credit > 0 and (event := self._next()) is not None:
            self.credit -= 1
            found.append(event)
        return found + self._of_feeds()

    def unsent(self, frame: Subscribed | Event) -> None:
        """The socket did not take this frame; try again."""
        if isinstance(frame, Subscribed):
            self._version = -1
        else:
            self._again.append(frame)

    def _of_feeds(self) -> list[Subscribed | Event]:
        """What was read for this connection, in its turn."""
        found: list[Subscribed | Event] = []
        for cursor in self._cursors:
            while cursor.ready and self.credit > 0 and len(found) < FEED_A_TURN:
                entry = cursor.ready.popleft()
                if self._may_see(entry):
                    self.credit -= 1
                    found.append(entry)
            if not cursor.ready:
                self._store.feeds.wake()
            elif self.credit > 0:
                self._store.feeds.on_found()  # the rest, in the next turn
        return found

    def _may_see(self, entry: Event) -> bool:
        is_about = entry.name in LASTING and bool(self._account)
        return not is_about or self._account in entry.bound[0].key.split(",")

    def _subscribed(self) -> Subscribed:
        store = self._store
        if self._numbering != store.numbering:
            self._numbers, self._again = {}, []
        self._version, self._numbering = store.version, store.numbering
        standings = map(self._standing, store.standings.values())
        wanted = [one for one in standings if self._wants(one.name, one.engine)]
        wanted = [*(one.standing for one in self._cursors), *wanted]
        return Subscribed(store.numbering, tuple(wanted[:WANTED_MAX]))

    def _standing(self, one: Standing) -> Standing:
        """Where this connection stands: what has come since it began and is still to be sent is not
        had yet, and who takes it for had would throw it away.
        """
        number = min(one.number, self._numbers.get(one.name, one.number))
        return Standing(number, one.name, one.engine)

    def _next(self) -> Event | None:
        """The next event that is wanted and was not had."""
        store = self._store
        self._place = max(self._place, store.oldest)
        while self._place < store.end:
            event = store.at(self._place)
            self._place += 1
            last = self._numbers.get(event.name, 0)
            if self._wants(event.name, event.engine) and event.number > last:
                self.dropped += event.number - last - 1
                self._numbers[event.name] = event.number
                return event
        return None

    def _wants(self, name: str, engine: str) -> bool:
        return self._is_all or name in self._names or engine in self._engines
