"""A lock beside a database file: two runs must not share their tables."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from cep.database.errors import DatabaseError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


class FileLocks:
    """Locks of one connection, by name; the operating system frees those of a process that dies.

    They are files `<database>-<name>lock`, which stay. A database in memory needs none.
    """

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._files: dict[str, int] = {}

    def claim(self, name: str) -> None:
        """Hold the lock; DatabaseError when another run does."""
        if self._path is None or name in self._files:
            return
        path = Path(f"{self._path}-{name}lock")
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o644)
        except OSError as error:
            raise DatabaseError(f"{path} cannot be written: {error.strerror}") from error
        try:
            if sys.platform == "win32":
                msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
            else:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(file)
            raise in_use(name, self._path) from None
        self._files[name] = file

    def free(self) -> None:
        """Let go of all."""
        while self._files:
            os.close(self._files.popitem()[1])


def in_use(name: str, place: str) -> DatabaseError:
    """Another run has the tables."""
    return DatabaseError(
        f"another run uses the tables `{name}..` of {place}; end it, or use another prefix"
    )
