"""Which of our programs a data folder has, and whether they are compiled from what is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path, PureWindowsPath
from typing import NamedTuple

from mt5bridge.terminal.folders import DataFolder
from mt5bridge.terminal.install import digest, read_manifest
from mt5bridge.terminal.sources import OWN, source_files, sources_version

INCLUDE = re.compile(r'^\s*#include\s+(?:<(?P<common>[^>]+)>|"(?P<beside>[^"]+)")', re.MULTILINE)
NEEDED = (Path("Experts", OWN, "Publisher.mq5"), Path("Indicators", OWN, "TickSpy.mq5"))
"""What every user of the publisher compiles."""
TRADER = Path("Experts", OWN, "Trader.mq5")


class State(StrEnum):
    """Where a compiled program stands against its sources."""

    CURRENT = "current"
    OLD = "older than its sources"
    MISSING = "not there"


class Program(NamedTuple):
    """One of our programs in a data folder."""

    path: Path
    """The source, relative to `MQL5`."""
    state: State
    version: str
    """The sources that `mt5cep` has compiled it from; empty when MetaEditor was used by hand."""

    @property
    def compiled(self) -> Path:
        """Where MetaEditor writes it."""
        return self.path.with_suffix(".ex5")


def programs(folder: DataFolder) -> Iterator[Program]:
    """Our programs in a folder, indicators first: an expert may be compiled for one."""
    found = (path for path in source_files(folder.mql5) if path.suffix == ".mq5")
    manifest = read_manifest(folder.mql5)
    records = manifest.compiled if manifest else {}
    for path in sorted(found, key=lambda path: (path.parts[0] != "Indicators", path)):
        compiled = folder.mql5 / path.with_suffix(".ex5")
        record = records.get(path.with_suffix(".ex5").as_posix())
        is_known = record is not None and _digest(compiled) == record.digest
        yield Program(path, _state(folder, path), record.version if record and is_known else "")


def version_of(program: Program, folder: DataFolder) -> str:
    """What a compiled program tells of itself; a current one has its sources' version."""
    there = sources_version(folder.mql5) or ""
    return there if program.state is State.CURRENT else program.version


def closure(mql5: Path, program: Path) -> set[Path]:
    """A program's source and all that it includes, as far as they are there; absolute paths."""
    found: set[Path] = set()
    waiting = [mql5 / program]
    while waiting:
        path = waiting.pop()
        if path in found or not path.is_file():
            continue
        found.add(path)
        for include in INCLUDE.finditer(path.read_text(encoding="utf-8", errors="replace")):
            name = PureWindowsPath(include["common"] or include["beside"])
            above = mql5 / "Include" if include["common"] else path.parent
            waiting.append(Path(above, *name.parts).resolve())
    return found


def _state(folder: DataFolder, program: Path) -> State:
    """A program must not be older than any source that went into it."""
    compiled = folder.mql5 / program.with_suffix(".ex5")
    if not compiled.is_file():
        return State.MISSING
    newest = max(path.stat().st_mtime_ns for path in closure(folder.mql5, program))
    return State.OLD if compiled.stat().st_mtime_ns < newest else State.CURRENT


def _digest(path: Path) -> str:
    try:
        return digest(path.read_bytes())
    except OSError:
        return ""
