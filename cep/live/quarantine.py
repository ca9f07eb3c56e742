"""What is stored and cannot be borne: left out by name, so that the rest is served."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec
from loguru import logger

from mt5bridge.spool import Group
from mt5bridge.spool.disk import Disk, make_directories, replace_file

RECORDS_MAX = 16
"""Groups found in one start; more are no bad records but rules that can bear none."""

Complain = Callable[[str, str], None]


def warn(name: str, text: str) -> None:
    """Complain to the log alone."""
    logger.warning("{}: {}", name, text)


class RecordError(Exception):
    """The rules raised at a stored group."""

    def __init__(self, group: Group, problem: Exception) -> None:
        name = type(problem).__name__
        super().__init__(f"records {group.ingest} to {group.last_ingest}: {name}: {problem}")
        self.group = group
        self.problem = problem


class LeftOut(msgspec.Struct, frozen=True):
    """Records that the rules are not shown."""

    ingest: int
    last_ingest: int
    source: str
    stream: tuple[str, ...]
    sequence: int
    why: str


class Quarantine:
    """A file of JSON lines beside the snapshots, read at the start and added to while it lasts."""

    def __init__(self, folder: Path, spool: str, complain: Complain) -> None:
        self.path = folder / f"{spool}.quarantine"
        self._complain = complain
        self._found = 0
        lines = self.path.read_bytes().splitlines() if self.path.exists() else []
        self.entries = [entry for entry in map(_entry, lines) if entry is not None]
        for entry in self.entries:
            self._tell(entry)

    def rest(self, groups: Iterable[Group]) -> Iterator[Group]:
        """Those groups that are not left out."""
        ingests = {entry.ingest for entry in self.entries}
        return (group for group in groups if not group.width or group.ingest not in ingests)

    def add(self, error: RecordError) -> None:
        """Leave a group out from now on; raises the error when there is no end of them."""
        self._found += 1
        if self._found > RECORDS_MAX:
            logger.error("{} groups of records made the rules raise: are they sound?", self._found)
            raise error.problem
        logger.opt(exception=error.problem).error("{}", error)
        group, why = error.group, f"{type(error.problem).__name__}: {error.problem}"
        entry = LeftOut(
            group.ingest, group.last_ingest, group.source, group.stream, group.sequence, why
        )
        self.entries.append(entry)
        self._write()
        self._tell(entry)

    def _tell(self, entry: LeftOut) -> None:
        place = f"{entry.source} {' '.join(entry.stream)} from {entry.sequence} on"
        text = f"records {entry.ingest} to {entry.last_ingest} ({place}): {entry.why}"
        remedy = f"the rules are not shown them; remove {self.path} to try again"
        self._complain("records_quarantined", f"{text}; {remedy}")

    def _write(self) -> None:
        make_directories(self.path.parent)
        replace_file(self.path, b"".join(msgspec.json.encode(e) + b"\n" for e in self.entries))


def _entry(line: bytes) -> LeftOut | None:
    try:
        return msgspec.json.decode(line, type=LeftOut)
    except msgspec.MsgspecError as problem:
        logger.error("{!r}: {}; left out", line, problem)
        return None


def set_file_aside(path: Path, problem: Exception, complain: Complain) -> None:
    """Rename a file that cannot be read, so that it is looked at no more and kept for repair."""
    other = path.with_name(f"{path.name}.bad")
    Disk().rename(path, other)  # a crash that undoes it finds the file, and renames it again
    why = f"{type(problem).__name__}: {problem}"
    complain("files_quarantined", f"{path}: {why}; it is now {other.name}, and not needed to go on")
