"""What is known of each stream: the position a source resumes from."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import numpy as np

from mt5bridge.position import START, Position
from mt5bridge.records import TICK
from mt5bridge.spool.group import Group, RecordKind, StreamKey

_NOTHING = np.empty(0, TICK)


class StreamState(msgspec.Struct, frozen=True):
    """The end of one stream; times are the source's own (server time).

    What a source declares lost is in the groups alone: its texts would fill the checkpoints.
    """

    position: Position = START

    @property
    def sequence(self) -> int:
        return self.position.sequence


Streams = dict[StreamKey, StreamState]


def fold(streams: Streams, group: Group) -> None:
    """Bring `streams` up to date with `group`."""
    state = streams.get(group.key, StreamState())
    if group.kind is RecordKind.GAP:
        last = max(state.sequence, *(last for _, last in group.records.tolist()))
        streams[group.key] = StreamState(state.position.advanced(last, _NOTHING))
    elif len(group.records):
        position = state.position.advanced(group.last_sequence, group.records, group.quality)
        streams[group.key] = StreamState(position)


class Checkpoint(msgspec.Struct, frozen=True):
    """First block of a segment: everything a reader must know from the segments before it."""

    spool: str
    next_ingest: int
    streams: list[tuple[str, tuple[str, ...], StreamState]]

    @classmethod
    def of(cls, spool: str, next_ingest: int, streams: Streams) -> Checkpoint:
        return cls(spool, next_ingest, [(*key, state) for key, state in streams.items()])

    def as_streams(self) -> Streams:
        return {(source, stream): state for source, stream, state in self.streams}

    def encode(self) -> bytes:
        return msgspec.json.encode(self)

    @classmethod
    def decode(cls, payload: memoryview) -> Checkpoint | None:
        """The checkpoint in `payload`, or None when it holds something else."""
        try:
            return msgspec.json.decode(payload, type=cls)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None


def fold_all(streams: Streams, groups: Iterable[Group]) -> Streams:
    """`streams` after all of `groups`, as a new mapping."""
    folded = dict(streams)
    for group in groups:
        fold(folded, group)
    return folded
