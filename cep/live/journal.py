"""The journal of output rows: files that a restart makes whole again.

Rows are a pure function of the stored records, so the journal is cut back to the newest snapshot
and written again from the spool; it needs no sync but one before each snapshot, and one of each
file that is full. What a sync could not write cannot be written again from here, so a sync that
fails is for good: a restart mends it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from errno import EIO
from pathlib import Path
from threading import Lock

from loguru import logger

from cep.engine.lines import encode
from cep.engine.rows import Row
from cep.live.journal_files import JournalFiles
from mt5bridge.spool.disk import Disk, make_directories, named
from mt5bridge.troubles import is_full

AHEAD_BYTES = 8 << 20
"""So many bytes of rows that a start finds again wait in memory."""
PIECE_BYTES = 1 << 16
"""Of rows that are written together, and into one file."""
AGAIN_BYTES = 1 << 20
"""A full file that cannot be renamed, as where a reader holds it on Windows, grows by so much."""


class Journal:
    """Output rows as JSON lines, in order; `path` None keeps none.

    One thread hands rows over, and another writes them: nobody waits for the disk. Rows stay until
    they are written. `before` is called before, for what must not be missing where they are found.
    A file is full at `file_bytes` (0: never); then the next one begins, and of those that are full
    the newest `files_max` are kept. `keep_bytes` and `size_bytes` count the bytes of all of them.
    """

    def __init__(
        self,
        path: Path | None,
        keep_bytes: int = 0,
        before: Callable[[], None] = lambda: None,
        disk: Disk | None = None,
        file_bytes: int = 0,
        files_max: int = 1,
    ) -> None:
        self.path = path
        self._disk = disk or Disk()
        self._file: int | None = None
        self._before = before
        self._waiting: deque[bytes] = deque()
        self._mutex = Lock()
        self._has_lost = False
        self.size_bytes = self._lived_bytes = self._written_bytes = self._start = 0
        if path is not None:
            self._files = JournalFiles(path, self._disk, file_bytes, files_max)
            self._full_bytes = file_bytes
            self._open(path, keep_bytes)

    def add(self, rows: Iterable[Row]) -> None:
        """Take rows for the next `write`; `size_bytes` counts them already."""
        if self.path is not None:
            for piece in _pieces(encode(row) + b"\n" for row in rows):
                self._waiting.append(piece)
                self.size_bytes += len(piece)

    def add_again(self, rows: Iterable[Row]) -> None:
        """As `add`, where nobody else writes: a start finds more rows than memory holds.

        OSError when they cannot be written; without room they wait.
        """
        self.add(rows)
        if self.size_bytes - self._written_bytes >= AHEAD_BYTES:
            try:
                self.write()
            except OSError as problem:
                if not is_full(problem):
                    raise

    @property
    def waiting_bytes(self) -> int:
        """Of rows that are not written yet."""
        return self.size_bytes - self._written_bytes

    @property
    def repeats(self) -> bool:
        """Whether what was added last stood in the file before a restart cut it back."""
        return self.size_bytes <= self._lived_bytes

    def write(self) -> None:
        """Hand what was added to the operating system; may be called from any thread.

        OSError when it could not: then the next call begins with the same rows, in the same place.
        """
        with self._mutex:
            left = len(self._waiting)
            while self.path is not None and left:
                left -= self._write_some(self.path, left)

    def _write_some(self, path: Path, left: int) -> int:
        """Write so many pieces that wait, or so many of them as fill the file; how many."""
        self._before()
        room = self._full_bytes - (self._written_bytes - self._start)
        data = bytearray()
        count = 0
        while count < left and (not self._full_bytes or count == 0 or len(data) < room):
            data += self._waiting[count]
            count += 1
        with self._named():
            file = self._opened(path)
            self._disk.write_at(file, bytes(data), self._written_bytes - self._start)
        self._written_bytes += len(data)
        for _ in range(count):
            self._waiting.popleft()
        if self._full_bytes and self._written_bytes - self._start >= self._full_bytes:
            with self._named():
                self._begin_next(path, file)
        return count

    def sync(self) -> None:
        """Wait until all that was added is on disk; may be called from any thread."""
        self.write()
        with self._mutex:
            if self._file is not None:
                self._sync(self._file)

    def close(self) -> None:
        """Write, and let go of the file. OSError when what was added is not all written."""
        try:
            self.write()
        finally:
            with self._mutex:  # another thread may be about to write
                file, self._file, self.path = self._file, None, None
            if file is not None:
                self._disk.close(file)

    def _open(self, path: Path, keep_bytes: int) -> None:
        make_directories(path.parent, self._disk)
        self._lived_bytes = self._files.end
        self._start = self._files.cut(keep_bytes)
        self.size_bytes = self._written_bytes = keep_bytes
        file = self._opened(path)
        self._disk.truncate(file, keep_bytes - self._start)
        if self._lived_bytes > keep_bytes:  # else a loss of power brings back what was cut off
            self._sync(file)
        self._files.prune()

    def _opened(self, path: Path) -> int:
        """The file that is written; it is made durably where it is not there yet."""
        if self._file is None:
            self._file = self._disk.open(path)
            self._disk.sync_directory(path.parent)
        return self._file

    def _begin_next(self, path: Path, file: int) -> None:
        """The file is full. It is whole on disk before the next one is there."""
        self._sync(file)
        self._file = None
        self._disk.close(file)
        try:
            self._files.seal(self._start)
        except OSError as problem:
            logger.warning("{}: cannot be renamed yet: {}", path, problem)
            self._full_bytes += AGAIN_BYTES
            return
        self._start, self._full_bytes = self._written_bytes, self._files.file_bytes
        self._disk.sync_directory(path.parent)
        self._opened(path)
        self._files.prune()

    def _sync(self, file: int) -> None:
        """A sync that has failed may have dropped what was written, and the next one that does not
        says nothing of that: there is none, until a start has cut the rows back.
        """
        with self._named():
            if self._has_lost:
                raise OSError(EIO, "a sync has failed before")
            try:
                self._disk.sync(file)
            except OSError as problem:
                self._has_lost = True
                raise OSError(EIO, f"a sync failed: {problem.strerror}") from problem

    def _named(self) -> AbstractContextManager[None]:
        assert self.path is not None
        return named(self.path)


def _pieces(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The lines put together, about `PIECE_BYTES` of them: a file is full between two pieces."""
    piece = bytearray()
    for line in lines:
        piece += line
        if len(piece) >= PIECE_BYTES:
            yield bytes(piece)
            piece.clear()
    if piece:
        yield bytes(piece)


def set_aside(path: Path | None, disk: Disk | None = None) -> Path | None:
    """Rename a journal that other rules or another spool have written; its new path, if any."""
    return None if path is None else JournalFiles(path, disk).set_aside()
