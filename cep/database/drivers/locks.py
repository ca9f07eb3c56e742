"""A lock beside a database file: two runs must not share their tables."""

from __future__ import annotations

import os
from pathlib import Path

from cep.database.errors import DatabaseError
from mt5bridge.file_lock import lock


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
            self._files[name] = lock(path)
        except BlockingIOError:
            raise in_use(name, self._path) from None
        except OSError as error:
            raise DatabaseError(f"{path} cannot be written: {error.strerror}") from error

    def free(self) -> None:
        """Let go of all."""
        while self._files:
            os.close(self._files.popitem()[1])


def in_use(name: str, place: str) -> DatabaseError:
    """Another run has the tables."""
    return DatabaseError(
        f"another run uses the tables `{name}..` of {place}; end it, or use another prefix"
    )
