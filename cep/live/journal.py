"""The journal of output rows: a file that a restart makes whole again.

Rows are a pure function of the stored records, so the journal is cut back to the newest snapshot
and written again from the spool; it needs no sync but one before each snapshot.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable
from io import SEEK_END
from pathlib import Path
from threading import Lock

import msgspec

from cep.engine.rows import Row

_encode = msgspec.json.Encoder().encode


class Journal:
    """Output rows as JSON lines, in order; `path` None keeps none.

    One thread hands rows over, and another writes them: nobody waits for the disk. `before` is
    called before rows are written, for what must not be missing where they are found.
    """

    def __init__(
        self,
        path: Path | None,
        keep_bytes: int = 0,
        before: Callable[[], None] = lambda: None,
    ) -> None:
        self._file = None
        self._before = before
        self._waiting: deque[bytes] = deque()
        self._mutex = Lock()
        self.size_bytes = self._lived_bytes = 0
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("ab")
            self._lived_bytes = self._file.tell()
            self.size_bytes = self._file.truncate(min(keep_bytes, self._lived_bytes))
            self._file.seek(0, SEEK_END)

    def add(self, rows: Iterable[Row]) -> None:
        """Take rows for the next `write`; `size_bytes` counts them already."""
        if self._file:
            text = b"".join(_encode(row) + b"\n" for row in rows)
            self._waiting.append(text)
            self.size_bytes += len(text)

    @property
    def repeats(self) -> bool:
        """Whether what was added last stood in the file before a restart cut it back."""
        return self.size_bytes <= self._lived_bytes

    def write(self) -> None:
        """Hand what was added to the operating system; may be called from any thread."""
        with self._mutex:
            if self._file and self._waiting:
                count = len(self._waiting)
                self._before()
                for _ in range(count):
                    self._file.write(self._waiting.popleft())
                self._file.flush()

    def sync(self) -> None:
        """Wait until all that was added is on disk; may be called from any thread."""
        self.write()
        if self._file:
            os.fsync(self._file.fileno())

    def close(self) -> None:
        self.write()
        if self._file:
            self._file.close()


def set_aside(path: Path | None) -> Path | None:
    """Rename a journal that other rules or another spool have written; its new path, if any."""
    if path is None or not path.exists() or not path.stat().st_size:
        return None
    number = 1
    while (other := path.with_stem(f"{path.stem}-{number}")).exists():
        number += 1
    path.replace(other)
    return other
