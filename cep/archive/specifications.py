"""What is told of symbols and accounts becomes part of an archive, each version once."""

from __future__ import annotations

from collections.abc import ItemsView, Iterable
from pathlib import Path
from typing import Any

import msgspec

from cep.account.specifications import FILE, Version, decode, encode
from cep.archive.archive import Archive
from cep.archive.errors import ArchiveError
from cep.archive.manifest import save


def specify(archive: Archive, told: Iterable[Version]) -> tuple[Version, ...]:
    """Add what is told; of each version what its source has not told already from then on."""
    with archive.writing():
        known, new = archive.manifest.specifications, list[Version]()
        for one in told:
            said = _said((*known, *new), one)
            more = {key: value for key, value in one.told.items() if (key, value) not in said}
            if more:
                new.append(msgspec.structs.replace(one, told=more))
        _add(archive, new)
    return tuple(new)


def _said(versions: Iterable[Version], one: Version) -> ItemsView[str, Any]:
    """What the source of a version has told already of the same from the same time on."""
    place = (one.symbol, one.source, one.since_msc)
    found: dict[str, Any] = {}
    for other in versions:
        if (other.symbol, other.source, other.since_msc) == place:
            found |= other.told
    return found.items()


def take_told(spool: Path, archive: Archive) -> tuple[int, ArchiveError | None]:
    """Add what a daemon has written in the folder of its spool, to an archive that is held; how
    much was new, and what the first line is whose words cannot be used.
    """
    told, problem = told_in(spool)
    known = set(map(encode, archive.manifest.specifications))
    new = {line: one for one in told if (line := encode(one)) not in known}
    _add(archive, new.values())
    return len(new), problem


def told_in(spool: Path) -> tuple[list[Version], ArchiveError | None]:
    """What terminals told, as a daemon has written it in the folder of its spool, and what is wrong
    with the first line that cannot be used. A last line without an end is left for the next time.
    """
    path = spool / FILE
    try:
        lines = path.read_bytes().split(b"\n")[:-1]
    except FileNotFoundError:
        return [], None
    found, problem = list[Version](), None
    for number, line in enumerate(lines, start=1):
        try:
            found.append(decode(line))
        except ValueError as error:
            problem = problem or ArchiveError(
                f"{path}:{number}: {error}; mend or remove the line, then run the same again: all "
                "else is archived"
            )
    return found, problem


def _add(archive: Archive, new: Iterable[Version]) -> None:
    if added := tuple(new):
        known = (*archive.manifest.specifications, *added)
        updated = msgspec.structs.replace(archive.manifest, specifications=known)
        archive.manifest = save(archive.store, updated)
