"""The files of a journal: the one that is written, and the full ones before it.

A position counts the bytes of all of them, from the journal's first row on. A full file is named by
the position at which it begins, `events.000000067108864.jsonl`; the one that is written has the
plain name and begins where the newest full one ends. So a start knows where it stands, whatever
files have been removed.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from loguru import logger

from mt5bridge.spool.disk import Disk


class Part(NamedTuple):
    """A file that is full, and the position of its first byte."""

    start: int
    path: Path

    @property
    def end(self) -> int:
        """The position behind its last byte."""
        return self.start + self.path.stat().st_size


def parts_of(path: Path) -> list[Part]:
    """The full files of a journal, the oldest first."""
    name = re.compile(rf"{re.escape(path.stem)}\.(\d{{15}}){re.escape(path.suffix)}")
    found = (name.fullmatch(other.name) for other in path.parent.glob(f"{path.stem}.*"))
    return sorted(Part(int(one[1]), path.with_name(one[0])) for one in found if one)


def part_of(path: Path, start: int) -> Path:
    """What the full file is named that begins at a position."""
    return path.with_name(f"{path.stem}.{start:015d}{path.suffix}")


class JournalFiles:
    """The files of one journal. A file without bytes only says where the next one begins.

    A file is full at `file_bytes` (0: never), and of the full ones `files_max` are kept.
    """

    def __init__(
        self, path: Path, disk: Disk | None = None, file_bytes: int = 0, files_max: int = 1
    ) -> None:
        self.path = path
        self.file_bytes = file_bytes
        self._files_max = files_max
        self._disk = disk or Disk()

    @property
    def start(self) -> int:
        """Where the file begins that is written."""
        parts = parts_of(self.path)
        return parts[-1].end if parts else 0

    @property
    def end(self) -> int:
        """The position behind the last byte of all."""
        return self.start + self._written_bytes()

    def cut(self, position: int) -> int:
        """Leave nothing behind a position, durably; where the file begins that is to be written.

        What of that file is behind the position is left to who opens it. Where files are missing
        before the position, a new one begins there.
        """
        if self.start > position:
            self._disk.remove(self.path)
        for part in reversed(parts_of(self.path)):
            if part.start > position:
                self._disk.remove(part.path)
            elif part.end > position:
                self._sync(part.path, position - part.start)
        self._disk.sync_directory(self.path.parent)
        if self.end < position:
            self._begin_at(position)
        return self.start

    def seal(self, start: int) -> None:
        """The file that was written, begun at `start` and closed, is full."""
        self._disk.rename(self.path, part_of(self.path, start))

    def prune(self) -> None:
        """Remove the oldest beyond the number that is kept; one in use is left for later."""
        parts = [*_aside(self.path), *(part.path for part in parts_of(self.path))]
        full = [path for path in parts if path.stat().st_size]
        empty = [path for path in parts[:-1] if not path.stat().st_size]  # the last one counts
        gone = [*empty, *full[: -self._files_max]]
        if gone:
            self._disk.sync_directory(self.path.parent)
        for old in gone:
            try:
                self._disk.remove(old)
            except OSError as problem:
                logger.warning("{}: cannot be removed: {}", old, problem)

    def set_aside(self) -> Path | None:
        """Rename all of them, which other rules or another spool have written; the newest one."""
        name, newest = f"{self.path.stem}-{1 + generation(self.path)}", None
        for part in parts_of(self.path):
            newest = part.path.with_name(part.path.name.replace(self.path.stem, name, 1))
            self._disk.rename(part.path, newest)
        if self._written_bytes():
            newest = self.path.with_stem(name)
            self._sync(self.path)
            self._disk.rename(self.path, newest)
        self._disk.sync_directory(self.path.parent)
        return newest

    def _written_bytes(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def _begin_at(self, position: int) -> None:
        if self._written_bytes():
            self._sync(self.path)
            self.seal(self.start)
        self._disk.close(self._disk.open(part_of(self.path, position)))
        self._disk.sync_directory(self.path.parent)

    def _sync(self, path: Path, size_bytes: int | None = None) -> None:
        """Have a file on disk, cut to a size if one is given."""
        file = self._disk.open(path)
        try:
            if size_bytes is not None:
                self._disk.truncate(file, size_bytes)
            self._disk.sync(file)
        finally:
            self._disk.close(file)


def generation(path: Path) -> int:
    """How many journals of other rules were set aside before this one, as far as is known."""
    return max((_number(old) for old in _aside(path)), default=0)


def _aside(path: Path) -> list[Path]:
    """Files of journals that were set aside, the oldest first."""
    name = re.compile(rf"{re.escape(path.stem)}-(\d+)(?:\.(\d{{15}}))?{re.escape(path.suffix)}")
    found = [name.fullmatch(other.name) for other in path.parent.glob(f"{path.stem}-*")]
    known = [one for one in found if one]
    known.sort(key=lambda one: (int(one[1]), one[2] is None, int(one[2] or 0)))
    return [path.with_name(one[0]) for one in known]


def _number(path: Path) -> int:
    return int(path.name.rpartition("-")[2].partition(".")[0])
