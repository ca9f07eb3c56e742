"""Open files of this process: connections count among them, and the disk needs some, too."""

from __future__ import annotations

import contextlib
import sys

if sys.platform != "win32":
    import resource

FILES_WANTED = 65_536
"""Far more than terminals need; a bound, since every connection takes memory, too."""
RESERVE = 256
"""Files that no connection gets: the spool's, the journals', a database's, `status.json`."""


def raise_limit() -> None:
    """Let this process have more files open, as far as the system allows without asking."""
    if sys.platform != "win32":
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = FILES_WANTED if hard == resource.RLIM_INFINITY else min(hard, FILES_WANTED)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            with contextlib.suppress(ValueError, OSError):  # macOS has a lower one that it hides
                resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def connections_end() -> int:
    """The first file number that no connection may have.

    The lowest free number is given first: when a connection gets this one, all below are in use.
    """
    if sys.platform == "win32":
        return sys.maxsize  # its numbers say nothing, and files are not limited
    soft, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return sys.maxsize
    return soft - min(RESERVE, soft // 2)
