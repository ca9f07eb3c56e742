"""Follows a journal of rows from a position on, over the ends of its files and restarts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from cep.live.journal_files import Part, generation, parts_of

READ_BYTES = 1 << 20
_ATTEMPTS = 16


class JournalReader:
    """Hands out whole lines, each of them once; keeps no file open between two calls.

    After a crash the daemon cuts the journal back and writes the same rows again: what was handed
    out is not handed out again. When the files of other rules begin, it goes on with their first.
    """

    def __init__(self, path: Path, position: int = 0) -> None:
        self.path = path
        self.position = position
        """Of the next line."""
        self.missed_bytes = 0
        """What was removed before it could be read."""
        self._generation = generation(path)

    def read(self) -> list[tuple[int, bytes]]:
        """The next lines, each with its position and without its end; empty: none now."""
        if (found := generation(self.path)) != self._generation:
            self._generation, self.position = found, 0
        size = READ_BYTES
        while True:
            data = self._bytes(size)
            whole = data[: data.rfind(b"\n") + 1]
            if whole or len(data) < size:
                return list(self._lines(whole))
            size *= 2  # of one line

    def _bytes(self, size: int) -> bytes:
        for _ in range(_ATTEMPTS):  # files may be renamed while they are looked for
            with suppress(FileNotFoundError):
                data = self._read(parts_of(self.path), size)
                if data is not None:
                    return data
        return b""

    def _read(self, parts: list[Part], size: int) -> bytes | None:
        """Bytes from the position on; None when files have changed meanwhile."""
        for part in parts:
            if self.position < part.end:
                with part.path.open("rb") as file:
                    return self._part(file, part.start, size)
        start = parts[-1].end if parts else 0
        try:
            file = self.path.open("rb")
        except FileNotFoundError:
            return b"" if parts == parts_of(self.path) else None
        with file:
            if parts != parts_of(self.path):  # else it is the one that begins at `start`
                return None
            return self._part(file, start, size)

    def _part(self, file: BinaryIO, start: int, size: int) -> bytes:
        if start > self.position:
            self.missed_bytes += start - self.position
            self.position = start
        elif start < self.position:
            file.seek(self.position - start - 1)
            if file.read(1) not in (b"\n", b""):  # other rows were written after a crash
                self.position += len(file.readline())
        file.seek(self.position - start)
        return file.read(size)

    def _lines(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        for line in data.split(b"\n")[:-1]:
            position = self.position
            self.position += len(line) + 1
            yield position, line

    def go_to_last(self, count: int) -> None:
        """Stand so many lines before the end, as far as there are so many."""
        parts = parts_of(self.path)
        if self.path.exists():
            parts.append(Part(parts[-1].end if parts else 0, self.path))
        for part in reversed(parts):
            data = part.path.read_bytes()
            *lines, _tail = data.split(b"\n")
            before = lines[: max(0, len(lines) - count)]
            self.position = part.start + sum(len(line) + 1 for line in before)
            count -= len(lines)
            if count <= 0:
                return
