"""What is under way: which record, of what time, late or not.

Functions see this, their arguments and their state, and nothing else.
"""

from __future__ import annotations

from collections import Counter
from typing import Any


class Cause:
    """The record under way, or what time makes before it.

    `n` is its place among all records, `at_ms` the record's time or, while a timer fires, the due
    time; `is_late` says whether it is a late record. Its effects are as late as it is.
    """

    def __init__(self) -> None:
        self.n = -1
        self.at_ms = 0
        self.is_late = False
        self.depth = 0
        self._calls: Counter[str] = Counter()

    def begin(self, n: int | None = None) -> None:
        """Begin with a record, by default the one behind the last."""
        n = self.n + 1 if n is None else n
        if n != self.n:
            self.n = n
            self._calls.clear()

    def at(self, at_ms: int, *, is_late: bool = False) -> Lasting:
        """While this lasts, what happens is caused at that time; what time makes is never late.

        Between two records it is as the last cause left it, for those who ask what is held then.
        """
        return Lasting(self, at_ms, is_late)

    def call(self, place: str) -> int:
        """How many calls of a place there were before, for this record."""
        self._calls[place] += 1
        return self._calls[place] - 1

    def state(self) -> Any:
        """Between two records: place and time of the last."""
        return [self.n, self.at_ms]

    def restore(self, state: Any) -> None:
        self.n, self.at_ms = state


class Lasting:
    """A cause within which others may lie; a class, as each record has one."""

    __slots__ = ("_at_ms", "_before", "_cause", "_is_late")

    def __init__(self, cause: Cause, at_ms: int, is_late: bool) -> None:
        self._cause = cause
        self._at_ms = at_ms
        self._is_late = is_late
        self._before = (0, False)

    def __enter__(self) -> None:
        cause = self._cause
        self._before = cause.at_ms, cause.is_late
        cause.at_ms, cause.is_late = self._at_ms, self._is_late
        cause.depth += 1

    def __exit__(self, *_: object) -> None:
        cause = self._cause
        cause.depth -= 1
        if cause.depth:
            cause.at_ms, cause.is_late = self._before
