"""What is under way: which record, of what time, late or not.

Functions see this, their arguments and their state, and nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
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
        self._depth = 0
        self._calls: Counter[str] = Counter()

    def begin(self, n: int | None = None) -> None:
        """Begin with a record, by default the one behind the last."""
        n = self.n + 1 if n is None else n
        if n != self.n:
            self.n = n
            self._calls.clear()

    @contextmanager
    def at(self, at_ms: int, *, is_late: bool = False) -> Iterator[None]:
        """While this lasts, what happens is caused at that time; what time makes is never late.

        Between two records it is as the last cause left it, for those who ask what is held then.
        """
        before = self.at_ms, self.is_late
        self.at_ms, self.is_late = at_ms, is_late
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if self._depth:
                self.at_ms, self.is_late = before

    def call(self, place: str) -> int:
        """How many calls of a place there were before, for this record."""
        self._calls[place] += 1
        return self._calls[place] - 1

    def state(self) -> Any:
        """Between two records: place and time of the last."""
        return [self.n, self.at_ms]

    def restore(self, state: Any) -> None:
        self.n, self.at_ms = state
