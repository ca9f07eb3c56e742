"""What has happened in a world: a digest of all of it, and its last events in words."""

from __future__ import annotations

import hashlib
from collections import Counter, deque

KEPT = 60


class Record:
    """Two runs of a seed are the same run where their digests are."""

    def __init__(self) -> None:
        self._hash = hashlib.blake2b(digest_size=16)
        self.last: deque[str] = deque(maxlen=KEPT)
        self.problems: list[str] = []
        self.counts: Counter[str] = Counter()

    def note(self, text: str) -> None:
        """Something has happened."""
        self._hash.update(text.encode())
        self.last.append(text)

    def problem(self, text: str) -> None:
        """Something has happened that never may."""
        self.note(f"PROBLEM {text}")
        if text not in self.problems:
            self.problems.append(text)

    @property
    def digest(self) -> str:
        """Of all that was noted."""
        return self._hash.hexdigest()
