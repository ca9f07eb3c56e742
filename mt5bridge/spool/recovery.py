"""What a spool directory still holds after any crash, and where writing goes on."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from mt5bridge.spool.block import Damage
from mt5bridge.spool.segment import Content, Segment, SegmentState, list_segments, read_content
from mt5bridge.spool.state import Streams, fold_all


@dataclass(frozen=True, slots=True)
class Recovery:
    """State at the last durable record.

    `damages` are stretches of acknowledged data that can no longer be read, by file;
    `torn_bytes` is the tail of an interrupted write, which nobody was told is safe.
    """

    spool: str = ""
    last_ingest: int = 0
    streams: Streams = field(default_factory=dict)
    damages: tuple[tuple[Path, Damage], ...] = ()
    torn_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Tail:
    """The newest segment, how much of it is to be kept, and how much of that was durable."""

    segment: Segment
    keep_bytes: int
    durable_bytes: int


def examine(directory: Path) -> tuple[Recovery, Tail | None]:
    """What `directory` holds; reads back to the newest segment with a whole checkpoint."""
    segments = list_segments(directory)
    if not segments:
        return Recovery(), None
    newest, *older = reversed(segments)
    content = read_content(newest.path)
    whole = content
    if newest.state is SegmentState.OPEN:
        content = durable_part(whole)
    contents = [content]
    while contents[-1].checkpoint is None and older:
        contents.append(read_content(older.pop(0).path))
    recovery = _recovery(contents[::-1], whole)
    return recovery, Tail(newest, content.size_bytes, declared_durable(content))


def declared_durable(content: Content) -> int:
    """How many bytes were on disk for certain when the last whole block was written."""
    return max((block.durable_bytes for block, _ in content.blocks), default=0)


def durable_part(content: Content) -> Content:
    """`content` of an open segment without what a crash may have left half written.

    The cut is at the first damage that no later block declares to have been durable.
    """
    durable = declared_durable(content)
    cut = min(
        (damage.offset for damage in content.damages if damage.offset >= durable),
        default=content.size_bytes,
    )
    return Content(
        content.path,
        content.checkpoint if cut else None,
        [(block, group) for block, group in content.blocks if block.end <= cut],
        [damage for damage in content.damages if damage.offset < cut],
        cut,
    )


def _recovery(contents: list[Content], whole: Content) -> Recovery:
    checkpoint = contents[0].checkpoint
    streams = checkpoint.as_streams() if checkpoint else {}
    last = checkpoint.next_ingest - 1 if checkpoint else 0
    for content in contents:
        streams = fold_all(streams, content.groups)
        last = max([last, *(group.last_ingest for group in content.groups)])
    # A number once given out, even one that was cut off, is never given to another record.
    last = max([last, *(group.last_ingest for group in whole.groups)])
    return Recovery(
        spool=checkpoint.spool if checkpoint else "",
        last_ingest=last,
        streams=streams,
        damages=tuple((content.path, damage) for content in contents for damage in content.damages),
        torn_bytes=whole.size_bytes - contents[-1].size_bytes,
    )
