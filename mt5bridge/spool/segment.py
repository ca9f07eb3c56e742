"""Segment files: names, header, and reading one back without trusting it."""

from __future__ import annotations

import contextlib
import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from mt5bridge.spool.block import HEAD_BYTES, Block, Damage, block_bytes, scan
from mt5bridge.spool.disk import Disk
from mt5bridge.spool.errors import GroupError, SpoolError
from mt5bridge.spool.group import Group, Stream
from mt5bridge.spool.state import Checkpoint

MAGIC = b"MT5SPOOL"
VERSION = 2
ALIASED_SINCE = 2
"""The first format that knows aliased streams; without any, segments are of the one before."""
_HEADER = struct.Struct("<8sII")
HEADER_BYTES = _HEADER.size
_PREFIX = "segment-"


class SegmentState(StrEnum):
    """A segment's state is its file name's suffix, so that one rename changes it atomically."""

    OPEN = "open"
    SEALED = "seg"
    ARCHIVED = "arc"


@dataclass(frozen=True, slots=True, order=True)
class Segment:
    """One file of a spool; segments sort in the order they were written."""

    number: int
    path: Path
    state: SegmentState
    size_bytes: int


def path_of(directory: Path, number: int, state: SegmentState) -> Path:
    return directory / f"{_PREFIX}{number:010d}.{state.value}"


def list_segments(directory: Path) -> list[Segment]:
    """All segments of `directory`, oldest first; other files are not looked at."""
    found: dict[int, Segment] = {}
    for path in sorted(directory.glob(f"{_PREFIX}*")):
        digits, _, suffix = path.name.removeprefix(_PREFIX).partition(".")
        if digits.isdigit() and suffix in set(SegmentState):
            try:
                segment = Segment(int(digits), path, SegmentState(suffix), path.stat().st_size)
            except FileNotFoundError:  # archived or deleted meanwhile by its owner
                continue
            found[segment.number] = segment
    return [found[number] for number in sorted(found)]


def mark_archived(segment: Segment, disk: Disk | None = None) -> None:
    """Say that a sealed segment is safe elsewhere, so that it may go when space is needed."""
    if segment.state is SegmentState.SEALED:
        disk = disk or Disk()
        disk.rename(segment.path, segment.path.with_suffix(f".{SegmentState.ARCHIVED.value}"))
        disk.sync_directory(segment.path.parent)


def format_of(streams: Iterable[Stream]) -> int:
    """The oldest format in which a segment can have these: earlier versions read it, too."""
    return ALIASED_SINCE if any(len(stream) > 2 for stream in streams) else ALIASED_SINCE - 1


def header(version: int = VERSION) -> bytes:
    """The first bytes of a segment."""
    fields = struct.pack("<8sI", MAGIC, version)
    return fields + struct.pack("<I", zlib.crc32(fields))


@dataclass(frozen=True, slots=True)
class Content:
    """What a segment file holds: the groups in order, and the stretches that are damaged."""

    path: Path
    checkpoint: Checkpoint | None
    blocks: list[tuple[Block, Group]]
    damages: list[Damage]
    size_bytes: int

    @property
    def groups(self) -> Iterator[Group]:
        return (group for _, group in self.blocks)


def read_content(path: Path) -> Content:
    """Read and check a whole segment. SpoolError when it was written by a newer version."""
    data = _read(path)
    damages = _check_header(path, data)
    checkpoint: Checkpoint | None = None
    blocks: list[tuple[Block, Group]] = []
    for item in scan(data, HEADER_BYTES):
        if isinstance(item, Damage):
            damages.append(item)
        elif checkpoint is None and not blocks and (found := Checkpoint.decode(item.payload)):
            checkpoint = found
        else:
            try:
                blocks.append((item, Group.decode(item.payload)))
            except GroupError:
                damages.append(Damage(item.offset, item.end))
    return Content(path, checkpoint, blocks, damages, len(data))


def read_checkpoint(path: Path) -> Checkpoint | None:
    """The checkpoint of a segment alone, or None when it is damaged."""
    size = block_bytes(_read(path, HEADER_BYTES + HEAD_BYTES), HEADER_BYTES)
    first = next(scan(_read(path, HEADER_BYTES + size), HEADER_BYTES), None)
    return Checkpoint.decode(first.payload) if isinstance(first, Block) else None


def _read(path: Path, bytes_max: int = -1) -> bytes:
    """The bytes of a segment, under its new name when it was just sealed or archived."""
    for state in (SegmentState.OPEN, SegmentState.SEALED, SegmentState.ARCHIVED):
        with (
            contextlib.suppress(FileNotFoundError),
            path.with_suffix(f".{state.value}").open("rb") as file,
        ):
            return file.read(bytes_max)
    raise SpoolError(f"{path}: the segment is gone; it was archived and its space was needed")


def _check_header(path: Path, data: bytes) -> list[Damage]:
    if len(data) < HEADER_BYTES:
        return [Damage(0, len(data))]
    magic, version, checksum = _HEADER.unpack_from(data)
    if zlib.crc32(data[: HEADER_BYTES - 4]) != checksum or magic != MAGIC:
        return [Damage(0, HEADER_BYTES)]
    if not 1 <= version <= VERSION:
        raise SpoolError(
            f"{path}: written in format {version}, this program reads up to {VERSION}; "
            "install the newer release or use another spool directory"
        )
    return []
