"""Files of an archive replaced by others with the same records, in one step."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from cep.archive.archive import Archive
from cep.archive.manifest import File, Mode, save


def replace_files(archive: Archive, old: Iterable[File], new: Iterable[File]) -> None:
    """Let `new` files, which are written, take the place of `old` ones, and remove these."""
    gone = {file.path for file in old}
    kept = [file for file in archive.manifest.files if file.path not in gone]
    archive.manifest = save(
        archive.store, msgspec.structs.replace(archive.manifest, files=(*kept, *new))
    )
    for path in gone:
        archive.store.remove(path)


def tag_of(archive: Archive, letter: str, mode: Mode) -> str:
    """What tells a new file from those there: the same day and symbol may have one of each mode."""
    return f"-{letter}{archive.manifest.generation + 1}" + ("s" if mode is Mode.SORTED else "")
