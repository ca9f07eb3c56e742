"""The few file-system calls that everything durable relies on, so that tests can make them fail.

Whatever must survive a loss of power is written through `Disk`, or through the functions below,
which say in which order a file becomes durable.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from mt5bridge import file_lock
from mt5bridge.spool.errors import SpoolLockedError


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

    def make_directory(self, directory: Path, mode: int = 0o777) -> None:
        """Make one directory whose parent is there; it may be there already."""
        directory.mkdir(mode, exist_ok=True)

    def sync_directory(self, directory: Path) -> None:
        """Make names created in `directory` durable; NTFS keeps its own journal of names."""
        if sys.platform == "win32":
            return
        file = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(file)
        finally:
            os.close(file)


def make_directories(directory: Path, disk: Disk | None = None, mode: int = 0o777) -> None:
    """Make a directory and those above it that are missing, durably."""
    disk = disk or Disk()
    missing = [one for one in (directory, *directory.parents) if not one.is_dir()]
    there = missing[-1].parent if missing else directory
    with contextlib.suppress(PermissionError):  # then another user's, and older than this
        disk.sync_directory(there.parent)  # whoever made it may have been killed before
    for one in reversed(missing):
        disk.make_directory(one, mode)
        disk.sync_directory(one.parent)


def replace_file(path: Path, data: bytes, disk: Disk | None = None) -> None:
    """Put `data` at `path`, durably and at once: readers and a crash find the old or the new."""
    disk = disk or Disk()
    draft = path.with_name(f"{path.name}.part")
    with named(path):
        try:
            _put(draft, data, disk)
        except OSError:
            with contextlib.suppress(OSError):  # give a full disk its room back
                disk.remove(draft)
            raise
        disk.rename(draft, path)
        disk.sync_directory(path.parent)


def confirm(path: Path, data: bytes, disk: Disk | None = None, offset: int = 0) -> None:
    """Make a file end with `data` at `offset`, durably; before that it held the same, or more.

    For what a start has read and goes on with: when a sync has failed, a file may look whole while
    a part of it is in memory only, and no other sync would write that part.
    """
    disk = disk or Disk()
    with named(path):
        _put(path, data, disk, offset)
        disk.sync_directory(path.parent)


def _put(path: Path, data: bytes, disk: Disk, offset: int = 0) -> None:
    """Write and sync; the file ends behind `data`."""
    file = disk.open(path)
    try:
        disk.truncate(file, offset + len(data))
        disk.write_at(file, data, offset)
        disk.sync(file)
    finally:
        disk.close(file)


@contextlib.contextmanager
def named(path: Path) -> Iterator[None]:
    """Errors of calls that know a descriptor only shall name the file."""
    try:
        yield
    except OSError as problem:
        if problem.filename is None:
            problem.filename = str(path)
        raise


def lock(path: Path) -> int:
    """Take the exclusive lock on `path` for this process; freed when the descriptor is closed."""
    try:
        return file_lock.lock(path)
    except BlockingIOError as error:
        raise SpoolLockedError(
            f"{path.parent}: another process is writing here; stop it or use another directory"
        ) from error
