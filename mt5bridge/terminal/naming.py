"""Names for terminals of one machine, so that publishers of one account differ by default.

The first terminal that is found has none: its publisher is ACCOUNT@SERVER. Each other that gets
our sources is named, and its publisher is ACCOUNT@SERVER/NAME; so is each that is not found by
itself, as there may be more of these that nobody knows of. A name never changes by itself, and none
is given to a terminal that has published without one: its streams would begin anew. One whose file
is damaged gets its name again, as that follows from the folders; until then it does not publish.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

from mt5bridge.spool.disk import replace_file
from mt5bridge.terminal.folders import DataFolder
from mt5bridge.terminal.install import is_installed, remove
from mt5bridge.terminal.sources import OWN

PLACE = Path("Files", OWN, "terminal.txt")
"""Relative to `MQL5`."""
HEAD = "mt5bridge terminal 1"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,39}")


def name_of(folder: DataFolder) -> str:
    """The name a terminal was given; empty without one, or when its file is damaged."""
    try:
        lines = (folder.mql5 / PLACE).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return ""
    if len(lines) != 2 or lines[0] != HEAD or not lines[1].startswith("name "):
        return ""
    name = lines[1].removeprefix("name ")
    return name if NAME.fullmatch(name) else ""


def is_damaged(folder: DataFolder) -> bool:
    """Whether it was given a name that cannot be read any more."""
    return (folder.mql5 / PLACE).exists() and not name_of(folder)


def names(folders: Iterable[DataFolder], found: Iterable[DataFolder]) -> dict[Path, str]:
    """What each of `folders` is to be called, beside all that are `found`; empty for no name."""
    found = list(found)
    places = {one.path for one in found}
    known = {one.path: one for one in (*found, *folders)}
    held = {path: name_of(one) for path, one in known.items() if _is_settled(one)}
    for folder in folders:
        if folder.path not in held:
            taken = {name.casefold() for name in held.values()}
            is_first = folder.path in places and "" not in taken and not is_damaged(folder)
            held[folder.path] = "" if is_first else _free(folder, taken, folder.path in places)
    return {folder.path: held[folder.path] for folder in folders}


def write_name(folder: DataFolder, name: str) -> bool:
    """Give a name; whether that changed anything."""
    if not name or name_of(folder) == name:
        return False
    path = folder.mql5 / PLACE
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, f"{HEAD}\nname {name}\n".encode())
    return True


def take_name(folder: DataFolder) -> bool:
    """Remove the name; whether there was one."""
    return remove(folder.mql5, PLACE)


def _is_settled(folder: DataFolder) -> bool:
    """Whether its identity is decided: it has our sources, a name, or has published already."""
    if is_damaged(folder):
        return False
    ours = folder.mql5 / PLACE.parent
    has_published = ours.is_dir() and any(path.is_dir() for path in ours.iterdir())
    return has_published or bool(name_of(folder)) or is_installed(folder.mql5)


def _free(folder: DataFolder, taken: set[str], is_found: bool) -> str:
    """A name after the program's folder; if it may be taken, with what only this folder has."""
    plain = re.sub(r"[^A-Za-z0-9.-]+", "-", folder.name).strip("-.")[:24] or "terminal"
    if is_found and plain.casefold() not in taken:
        return plain
    return f"{plain}-{hashlib.sha256(str(folder.path).encode()).hexdigest()[:8]}"
