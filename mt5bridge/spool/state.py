"""What is known of each stream: the position a source resumes from."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

import msgspec
import numpy as np

from mt5bridge.position import START, Position
from mt5bridge.records import TICK
from mt5bridge.spool.group import Group, RecordKind, StreamKey

_NOTHING = np.empty(0, TICK)
_GROUPS_MAX = 512
_RECORDS_MAX = 8_192
"""So many may wait to be looked at, in memory."""


class StreamState(msgspec.Struct, frozen=True):
    """The end of one stream; times are the source's own (server time).

    What a source declares lost is in the groups alone: its texts would fill the checkpoints.
    """

    position: Position = START

    @property
    def sequence(self) -> int:
        return self.position.sequence


Streams = dict[StreamKey, StreamState]


def fold(streams: Streams, groups: Iterable[Group]) -> set[StreamKey]:
    """Bring `streams` up to date with groups in order, those of a stream together; its keys."""
    found: dict[StreamKey, list[Group]] = {}
    for group in groups:
        found.setdefault(group.key, []).append(group)
    for key, own in found.items():
        position = streams.get(key, StreamState()).position
        for is_gap, run in groupby(own, lambda group: group.kind is RecordKind.GAP):
            position = (_past_gaps if is_gap else _past)(position, list(run))
        streams[key] = StreamState(position)
    return set(found)


def _past_gaps(position: Position, gaps: list[Group]) -> Position:
    last = max(last for gap in gaps for _, last in gap.records.tolist())
    return position.advanced(max(position.sequence, last), _NOTHING)


def _past(position: Position, groups: list[Group]) -> Position:
    parts = [(group.records, group.quality) for group in groups if len(group.records)]
    return position.advanced_by(groups[-1].last_sequence, parts) if parts else position


class Ends:
    """The ends of streams whose groups come a few at a time.

    Sequences are known at once. The times behind them are looked at for many groups together, when
    somebody asks: one by one, that costs more than to write the groups.
    """

    def __init__(self, streams: Streams) -> None:
        self._streams = dict(streams)
        self._sequences = {key: state.sequence for key, state in streams.items()}
        self._groups: list[Group] = []
        self._records = 0

    def take(self, groups: Iterable[Group]) -> dict[StreamKey, int]:
        """Groups in order; the last sequence of each of their streams."""
        known, found = self._sequences, dict[StreamKey, int]()
        for group in groups:
            key, count = (group.source, group.stream), len(group.records)
            if group.kind is RecordKind.GAP:
                last = max(known.get(key, 0), int(group.records["last"].max(initial=0)))
            else:
                last = group.sequence + count - 1 if count else known.get(key, 0)
            known[key] = found[key] = last
            self._records += count
            self._groups.append(group)
        if len(self._groups) >= _GROUPS_MAX or self._records >= _RECORDS_MAX:
            self._fold()
        return found

    def streams(self) -> Streams:
        """All of them, as they are now."""
        self._fold()
        return dict(self._streams)

    def _fold(self) -> None:
        groups, self._groups, self._records = self._groups, [], 0
        fold(self._streams, groups)


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
    fold(folded, groups)
    return folded
