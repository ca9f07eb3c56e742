"""Output rows for programs that read along: from the journal's files, as far as they are for good.

A row's number is the place behind it in the journal, in bytes, as `mt5cep rows` counts them.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from typing import Any

import msgspec

from cep.live.complex_events import field_of, fitting, text_of, time_of
from cep.live.journal import Journal
from cep.live.journal_reader import JournalReader
from mt5bridge.server.feeds import Reading
from mt5bridge.wire import FIELDS_MAX, ROWS, Bound, Event

_ROW = ("stream", "time_msc", "kind")


class JournalFeed:
    """Belongs to the server's thread, but for what `reading` makes."""

    name = ROWS

    def __init__(self, journal: Journal) -> None:
        self.newest = journal.size_bytes
        self._journal = journal
        self._waiting: deque[tuple[int, int]] = deque()  # record, and the journal's size behind it

    def note(self, ingest: int) -> None:
        """Rows were added that this record has led to, as the last one so far."""
        if self._journal.path is not None:
            self._waiting.append((ingest, self._journal.size_bytes))

    def release(self, durable_ingest: int) -> bool:
        """Rows of records that are on disk can be handed out; whether there are such."""
        newest = self.newest
        while self._waiting and self._waiting[0][0] <= durable_ingest:
            self.newest = self._waiting.popleft()[1]
        return self.newest > newest

    @property
    def first(self) -> int:
        """What has come before is asked for expressly."""
        return self.newest

    def reading(self, number: int) -> Reading:
        """From this place of the journal on."""
        assert self._journal.path is not None, "without a journal there is no feed"
        return _Reading(self, JournalReader(self._journal.path, number))


class _Reading:
    """What has been read ahead is kept as lines: at most what a reader reads at once."""

    def __init__(self, feed: JournalFeed, reader: JournalReader) -> None:
        self._feed = feed
        self._reader = reader
        self._lines: deque[tuple[int, bytes]] = deque()

    def read(self, most: int) -> list[Event]:
        if not self._lines:
            self._lines.extend(self._reader.read())
        found: list[Event] = []
        while self._lines and len(found) < most:
            place, line = self._lines[0]
            if place + len(line) + 1 > self._feed.newest:
                break
            self._lines.popleft()
            with suppress(msgspec.MsgspecError):  # damaged: that it is missing shows by the numbers
                found.append(row_event(place, line))
        return found


def row_event(place: int, line: bytes) -> Event:
    """A row as programs get it; `place` is that of its first byte."""
    row = msgspec.json.decode(line, type=dict[str, Any])
    fields = [field_of(*item) for item in row.items() if item[0] not in _ROW][:FIELDS_MAX]
    time_msc, stream = time_of(row.get("time_msc", 0)), text_of(row.get("stream", ""))
    kind, key = text_of(row.get("kind", "note")), row.get("key")
    key = text_of(key) if isinstance(key, str) else ""
    bound = Bound(place, time_msc, kind, stream, key, tuple(fields))
    number = place + len(line) + 1
    return fitting(Event(number, time_msc, time_msc, ROWS, "", key, (bound,)))
