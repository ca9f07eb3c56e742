"""Files of an archive replaced by others with the same records, in one step.

Who has opened the archive before goes on reading the old ones, until they are removed a day later.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from cep.archive.archive import Archive
from cep.archive.manifest import File, Mode, save
from cep.archive.paths import RETIRED
from mt5bridge import clock
from mt5bridge.history.zones import HOUR_MS
from mt5bridge.spool.disk import Disk

KEEP_MS = 24 * HOUR_MS
"""So long a file that was replaced can be read by those who have opened the archive before."""


def replace_files(archive: Archive, old: Iterable[File], new: Iterable[File]) -> None:
    """Let `new` files, which are written, take the place of `old` ones, which are retired."""
    gone = {file.path for file in old}
    kept = [file for file in archive.manifest.files if file.path not in gone]
    archive.manifest = save(
        archive.store, msgspec.structs.replace(archive.manifest, files=(*kept, *new))
    )
    archive.store.retire(gone)


def forget_replaced(archive: Archive, keep_ms: int = KEEP_MS, now_msc: int | None = None) -> int:
    """Remove files that were replaced `keep_ms` ago, or before; how many are kept."""
    until_msc = (clock.now_msc() if now_msc is None else now_msc) - keep_ms
    found = list(archive.directory.glob(f"{RETIRED}/*"))
    old = [path for path in found if path.stat().st_mtime * 1000 <= until_msc]
    for path in old:
        Disk().remove(path)
    return len(found) - len(old)


def tag_of(archive: Archive, letter: str, mode: Mode) -> str:
    """What tells a new file from those there: the same day and symbol may have one of each mode."""
    return f"-{letter}{archive.manifest.generation + 1}" + ("s" if mode is Mode.SORTED else "")
