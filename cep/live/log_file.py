"""A file of the log, and what becomes of lines that cannot be written: nothing else."""

from __future__ import annotations

import glob
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from mt5bridge import clock


class Lines:
    """Where entries go. What cannot be written is lost, and told to `failed`: logging ends nobody.

    `failed` gets the problem, and None when it works again.
    """

    def __init__(
        self,
        write: Callable[[str], object],
        failed: Callable[[Exception | None], None],
        close: Callable[[], None] = lambda: None,
    ) -> None:
        self._write, self._failed, self._close = write, failed, close
        self._fails = False

    def write(self, message: str) -> None:
        try:
            self._write(message)
        except Exception as problem:  # noqa: BLE001 -- whatever a disk or a stream does
            self._fails = True
            self._failed(problem)
        else:
            if self._fails:
                self._fails = False
                self._failed(None)

    def stop(self) -> None:
        """Nothing more comes; called by Loguru."""
        self._close()


class RotatedFile:
    """Appends to a file; what would make it larger than `bytes_max` begins the next one.

    The old one gets the time into its name, and of those the newest `files` stay. OSError.
    """

    def __init__(self, path: Path, bytes_max: int, files: int) -> None:
        self._path, self._bytes_max, self._files = path, bytes_max, files
        self._open()

    def _open(self) -> None:
        self._file = self._path.open("ab", buffering=0)  # nothing waits in memory for room
        self._size = self._file.tell()
        self._is_torn = False

    def write(self, text: str) -> None:
        """At once, and whole where there is room."""
        data = text.encode(errors="backslashreplace")
        if self._size and self._size + len(data) > self._bytes_max:
            self._rotate()
        rest = memoryview(b"\n" + data if self._is_torn else data)
        while rest:
            count = self._file.write(rest)
            self._size += count
            rest = rest[count:]
            self._is_torn = bool(rest)

    def close(self) -> None:
        self._file.close()

    def _rotate(self) -> None:
        self._file.close()
        try:
            when = datetime.fromtimestamp(clock.now_msc() / 1000, UTC)
            name = f"{self._path.stem}.{when:%Y-%m-%d_%H-%M-%S_%f}{self._path.suffix}"
            self._path.replace(self._path.with_name(name))
            old = self._path.parent.glob(
                f"{glob.escape(self._path.stem)}.*{glob.escape(self._path.suffix)}"
            )
            for path in sorted(old, key=lambda one: one.stat().st_mtime_ns)[: -self._files]:
                path.unlink()
        finally:
            self._open()
