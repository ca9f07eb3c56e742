"""The few file-system calls the spool relies on, in one place so that tests can make them fail."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from mt5bridge.spool.errors import SpoolLockedError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


class Disk:
    """Plain file-system calls; every one of them may raise OSError."""

    def open(self, path: Path) -> int:
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
        return os.open(path, flags, 0o644)

    def write_at(self, file: int, data: bytes, offset: int) -> None:
        """Write all of `data` at `offset`; a short write is continued until an error says why."""
        view = memoryview(data)
        os.lseek(file, offset, os.SEEK_SET)
        while view:
            view = view[os.write(file, view) :]

    def truncate(self, file: int, size: int) -> None:
        os.ftruncate(file, size)

    def sync(self, file: int) -> None:
        if sys.platform == "linux":
            os.fdatasync(file)
        else:
            os.fsync(file)

    def close(self, file: int) -> None:
        os.close(file)

    def rename(self, old: Path, new: Path) -> None:
        old.replace(new)

    def remove(self, path: Path) -> None:
        path.unlink(missing_ok=True)

    def sync_directory(self, directory: Path) -> None:
        """Make names created in `directory` durable; NTFS keeps its own journal of names."""
        if sys.platform == "win32":
            return
        file = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(file)
        finally:
            os.close(file)


def lock(path: Path) -> int:
    """Take the exclusive lock on `path` for this process; freed when the descriptor is closed."""
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        if sys.platform == "win32":
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(file)
        raise SpoolLockedError(
            f"{path.parent}: another process is writing here; stop it or use another directory"
        ) from error
    return file
