"""The journal of output rows: a file that a restart makes whole again.

Rows are a pure function of the stored records, so the journal is cut back to the newest snapshot
and written again from the spool; it needs no sync but one before each snapshot. What a sync could
not write cannot be written again from here, so a sync that fails is for good: a restart mends it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from errno import EIO
from pathlib import Path
from threading import Lock

from cep.engine.lines import encode
from cep.engine.rows import Row
from mt5bridge.spool.disk import Disk, make_directories, named


class Journal:
    """Output rows as JSON lines, in order; `path` None keeps none.

    One thread hands rows over, and another writes them: nobody waits for the disk. Rows stay until
    they are written. `before` is called before, for what must not be missing where they are found.
    """

    def __init__(
        self,
        path: Path | None,
        keep_bytes: int = 0,
        before: Callable[[], None] = lambda: None,
        disk: Disk | None = None,
    ) -> None:
        self.path = path
        self._disk = disk or Disk()
        self._file: int | None = None
        self._before = before
        self._waiting: deque[bytes] = deque()
        self._mutex = Lock()
        self.size_bytes = self._lived_bytes = self._written_bytes = 0
        if path is not None:
            self._open(path, keep_bytes)

    def add(self, rows: Iterable[Row]) -> None:
        """Take rows for the next `write`; `size_bytes` counts them already."""
        if self._file is not None:
            text = b"".join(encode(row) + b"\n" for row in rows)
            self._waiting.append(text)
            self.size_bytes += len(text)

    @property
    def repeats(self) -> bool:
        """Whether what was added last stood in the file before a restart cut it back."""
        return self.size_bytes <= self._lived_bytes

    def write(self) -> None:
        """Hand what was added to the operating system; may be called from any thread.

        OSError when it could not: then the next call begins with the same rows, in the same place.
        """
        with self._mutex:
            if self._file is None or not self._waiting:
                return
            count = len(self._waiting)
            self._before()
            data = b"".join(self._waiting[i] for i in range(count))
            with self._named():
                self._disk.write_at(self._file, data, self._written_bytes)
            self._written_bytes += len(data)
            for _ in range(count):
                self._waiting.popleft()

    def sync(self) -> None:
        """Wait until all that was added is on disk; may be called from any thread."""
        self.write()
        if self._file is not None:
            with self._named():
                try:
                    self._disk.sync(self._file)
                except OSError as problem:
                    raise OSError(EIO, f"a sync failed: {problem.strerror}") from problem

    def close(self) -> None:
        """Write, and let go of the file. OSError when what was added is not all written."""
        try:
            self.write()
        finally:
            file, self._file = self._file, None
            if file is not None:
                self._disk.close(file)

    def _open(self, path: Path, keep_bytes: int) -> None:
        make_directories(path.parent, self._disk)
        self._lived_bytes = path.stat().st_size if path.exists() else 0
        self.size_bytes = self._written_bytes = min(keep_bytes, self._lived_bytes)
        self._file = self._disk.open(path)
        self._disk.truncate(self._file, self.size_bytes)
        self._disk.sync_directory(path.parent)

    def _named(self) -> AbstractContextManager[None]:
        assert self.path is not None
        return named(self.path)


def set_aside(path: Path | None, disk: Disk | None = None) -> Path | None:
    """Rename a journal that other rules or another spool have written; its new path, if any."""
    if path is None or not path.exists() or not path.stat().st_size:
        return None
    number = 1
    while (other := path.with_stem(f"{path.stem}-{number}")).exists():
        number += 1
    disk = disk or Disk()
    file = disk.open(path)
    try:
        disk.sync(file)
    finally:
        disk.close(file)
    disk.rename(path, other)
    disk.sync_directory(path.parent)
    return other
