"""What a spool is called: the same from its first record on, and never again for another spool.

Every segment names its spool. Before there is one, a file does: what the first records lead to must
be the same when a crash undoes them and they are sent again.
"""

from __future__ import annotations

import contextlib
import re
import uuid
from pathlib import Path

from mt5bridge.spool.disk import Disk, replace_file

_NAME = "IDENTITY"
_BEGUN = re.compile(rb"s[0-9a-f]{32}")


def identity(directory: Path, disk: Disk) -> str:
    """The name of a spool that has no segment yet; on disk when this returns, if there is room.

    Without room nothing becomes durable anyway, and the first segment will hold the name.
    """
    path = directory / _NAME
    if path.exists() and _BEGUN.fullmatch(found := path.read_bytes()):
        return found.decode()
    name = f"s{uuid.uuid4().hex}"
    with contextlib.suppress(OSError):
        replace_file(path, name.encode(), disk)
    return name


def forget(directory: Path, disk: Disk) -> None:
    """A segment names the spool now; if all of them get lost, what follows is another spool."""
    path = directory / _NAME
    if path.exists():
        disk.remove(path)


def is_in_ids(spool: str) -> bool:
    """Whether ids are made of this spool's name, too.

    Spools that were begun before ids were made so have names of 32 hexadecimal digits; their
    records keep the ids under which they may have been acted on.
    """
    return spool.startswith("s")
