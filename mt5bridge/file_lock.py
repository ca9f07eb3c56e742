"""An exclusive lock on a file; the operating system frees that of a process that dies."""

from __future__ import annotations

import os
import sys
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


def lock(path: Path, *, wait: bool = False) -> int:
    """Take the lock for this process; it is free again when the descriptor is closed.

    The file is made where there is none, and stays. OSError, with the name of the file, where it
    can't be opened; BlockingIOError when another holds the lock, unless this is to `wait`.
    """
    file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o644)
    try:
        while not _is_taken(file, wait):
            pass
    except BaseException:
        os.close(file)
        raise
    return file


if sys.platform == "win32":

    def _is_taken(file: int, wait: bool) -> bool:
        try:  # it waits ten seconds at most
            msvcrt.locking(file, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        except OSError as problem:
            if not wait:
                raise BlockingIOError(*problem.args) from None
            return False
        return True

else:

    def _is_taken(file: int, wait: bool) -> bool:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        return True
