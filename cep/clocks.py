"""Whether a record is late: decided once, when it comes, by the records that came before it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal

Mode = Literal["sorted", "lived"]
"""How records follow one another: in sorted history each says that all before its time is
complete; of what was lived, each key has a clock of its own."""

NEVER_LATE = frozenset({"Deal", "Order", "Account"})
"""Streams of what happened to the account: their records count whenever they come."""

Place = tuple[str, str | None]
"""A stream and a key."""
SavedClocks = list[tuple[str, str | None, int]]


class Lateness:
    """Knows the newest times (ms UTC) of what came, and says of each record whether it is late."""

    def __init__(self, mode: Mode = "sorted") -> None:
        self.mode = mode
        self._newest_ms: dict[Place, int] = {}

    def take(self, stream: str, key: str | None, time_ms: int) -> bool:
        """Take the next record; whether it is late: sorted, older than any record before it;
        lived, older than one before it of its stream and key, or than its key's watermark.
        """
        place = self._place(stream, key)
        before_ms = newest_ms = self._newest_ms.get(place, time_ms)
        self._newest_ms[place] = max(newest_ms, time_ms)
        if self.mode == "lived":
            for watermark in (ALL, _complete(key)):
                before_ms = max(before_ms, self._newest_ms.get(watermark, before_ms))
        return time_ms < before_ms and stream not in NEVER_LATE

    def complete(self, keys: Iterable[str] | None, time_ms: int) -> None:
        """A watermark: all records of these keys, None being all, before a time have come."""
        if self.mode == "lived":
            for place in [ALL] if keys is None else map(_complete, keys):
                self._newest_ms[place] = max(self._newest_ms.get(place, time_ms), time_ms)

    def pass_time(self, time_ms: int) -> None:
        """Time has passed without a record: in sorted history all before it is complete."""
        if self.mode == "sorted":
            self._newest_ms[ALL] = max(self._newest_ms.get(ALL, time_ms), time_ms)

    def newest_ms(self, sources: Collection[str]) -> int | None:
        """The newest record of some sources; None before the first."""
        times = (time for (stream, _), time in self._newest_ms.items() if stream in sources)
        return max(times, default=None)

    def newest_of_key_ms(self, sources: Collection[str], key: str | None) -> int | None:
        """The newest record of a key on some sources; None before the first."""
        known = (self._newest_ms.get((stream, key)) for stream in sources)
        return max((time for time in known if time is not None), default=None)

    def _place(self, stream: str, key: str | None) -> Place:
        return ALL if self.mode == "sorted" else (stream, key)

    def state(self) -> SavedClocks:
        """Plain data for a snapshot."""
        return [(*place, time_ms) for place, time_ms in self._newest_ms.items()]

    def restore(self, state: Iterable[tuple[str, str | None, int]]) -> None:
        """Take the state of a snapshot."""
        self._newest_ms = {(stream, key): time_ms for stream, key, time_ms in state}


ALL: Place = ("", None)
"""Where all records count together."""


def _complete(key: str | None) -> Place:
    """Where the watermark of a key stands."""
    return "", f"{key}"
