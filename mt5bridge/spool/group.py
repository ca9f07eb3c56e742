"""A record group: what one batch of received records is on disk, and its byte form."""

from __future__ import annotations

import struct
from enum import IntEnum
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from mt5bridge.records import DEAL, TICK, utc_msc
from mt5bridge.spool.errors import GroupError
from mt5bridge.validate import ALL_GOOD, near

Stream = tuple[str, ...]
"""`("ticks", symbol)`, `("deals",)` or `("clock",)`; a symbol's name at its source is last."""

_ALIAS = "\0"
"""Between a symbol and its source's own name for it: in format 2, and in no name."""

StreamKey = tuple[str, Stream]
"""(source identity, stream): what owns one run of sequence numbers."""

CLOCK = np.dtype([("time_msc", "<i8")])
"""What a clock record says, see `Told`."""

GAP = np.dtype([("first", "<i8"), ("last", "<i8")])
"""An interval of sequence numbers that the source declared lost, both ends included."""


class RecordKind(IntEnum):
    TICKS = 1
    DEALS = 2
    CLOCK = 3
    GAP = 4


class Told(IntEnum):
    """What a clock record says: its quality mark."""

    OWN = 0  # the time by the daemon's own clock
    COMPLETE = 1  # a watermark: all earlier ticks of its source were stored, but for late ones
    AWAY = 2  # from here on nothing waits for its source


DTYPES: dict[RecordKind, np.dtype[Any]] = {
    RecordKind.TICKS: TICK,
    RecordKind.DEALS: DEAL,
    RecordKind.CLOCK: CLOCK,
    RecordKind.GAP: GAP,
}
_STREAM_KINDS = {"ticks": RecordKind.TICKS, "deals": RecordKind.DEALS, "clock": RecordKind.CLOCK}
_STREAM_NAMES = {kind: name for name, kind in _STREAM_KINDS.items()}

_HEAD = struct.Struct("<qqqIBBHHH")
"""ingest, sequence, utc_offset_ms, count, kind, stream kind, lengths of source, symbol, note."""


class Group(msgspec.Struct, frozen=True, eq=False, gc=False):
    """Consecutive records of one stream; record i has ingest `ingest + i`, seq `sequence + i`.

    `quality` holds one bit mask a record, or nothing when all are good. A gap has no ingest
    numbers of its own: `ingest` is that of the next record, and `note` is the reason given.
    """

    ingest: int
    kind: RecordKind
    source: str
    stream: Stream
    sequence: int
    records: npt.NDArray[Any]
    utc_offset_ms: int = 0
    quality: npt.NDArray[np.uint8] = msgspec.field(default_factory=lambda: ALL_GOOD)
    note: str = ""

    @property
    def key(self) -> StreamKey:
        return (self.source, self.stream)

    @property
    def own_key(self) -> StreamKey:
        """The same in the source's own names: what owns one run of sequence numbers for good."""
        return (self.source, own_stream(self.stream))

    @property
    def width(self) -> int:
        """How many ingest numbers the group takes."""
        return 0 if self.kind is RecordKind.GAP else len(self.records)

    @property
    def last_ingest(self) -> int:
        return self.ingest + self.width - 1

    @property
    def last_sequence(self) -> int:
        return self.sequence + self.width - 1

    @property
    def utc_msc(self) -> npt.NDArray[np.int64]:
        """Event times of the records, UTC ms."""
        return utc_msc(self.records, self.utc_offset_ms)

    @property
    def near_msc(self) -> npt.NDArray[np.int64]:
        """Event times, UTC ms, of those records whose time can be: it may be none of them."""
        return utc_msc(near(self.records, self.quality), self.utc_offset_ms)

    def encode(self) -> bytes:
        records, quality = self.records, self.quality
        if records.dtype != DTYPES[self.kind]:
            records = records.astype(DTYPES[self.kind])
        count, kind = len(records), int(self.kind)
        stream_kind, lengths, texts = _texts(self.source, self.stream, self.note)
        marks = b""
        if len(quality):
            if len(quality) != count:
                raise GroupError(f"{len(quality)} quality marks for {count} records")
            marks, kind = quality.astype(np.uint8).tobytes(), kind | 0x80
        head = _HEAD.pack(
            self.ingest, self.sequence, self.utc_offset_ms, count, kind, stream_kind, *lengths
        )
        return b"".join((head, texts, marks, records.tobytes()))

    @classmethod
    def decode(cls, data: memoryview) -> Group:
        """The group in `data`; its arrays are read-only views of it."""
        try:
            return cls._decode(data)
        except (struct.error, ValueError, KeyError) as error:
            raise GroupError(f"not a record group: {error}") from error

    @classmethod
    def _decode(cls, data: memoryview) -> Group:
        ingest, sequence, offset, count, kind, stream_kind, *lengths = _HEAD.unpack_from(data)
        at = _HEAD.size
        texts = []
        for length in lengths:
            texts.append(str(data[at : at + length], "utf-8"))
            at += length
        source, symbol, note = texts
        marks = count if kind & 0x80 else 0
        dtype = DTYPES[RecordKind(kind & 0x7F)]
        if len(data) != at + marks + count * dtype.itemsize:
            raise GroupError(f"{len(data)} bytes do not hold {count} records")
        name = _STREAM_NAMES[RecordKind(stream_kind)]
        return cls(
            ingest=ingest,
            kind=RecordKind(kind & 0x7F),
            source=source,
            stream=(name, *symbol.split(_ALIAS)) if name == "ticks" else (name,),
            sequence=sequence,
            records=np.frombuffer(data, dtype, count, at + marks),
            utc_offset_ms=offset,
            quality=np.frombuffer(data, np.uint8, marks, at),
            note=note,
        )


@lru_cache(maxsize=4_096)
def _texts(source: str, stream: Stream, note: str) -> tuple[int, tuple[int, ...], bytes]:
    """The kind of a stream, and the texts of its groups, whose lengths come before."""
    symbol = _ALIAS.join(stream[1:])
    texts = [text.encode() for text in (source, symbol, note)]
    return int(_STREAM_KINDS[stream[0]]), tuple(map(len, texts)), b"".join(texts)


def own_stream(stream: Stream) -> Stream:
    """A stream by its source's own name: aliases may change, sequence numbers go on."""
    return (stream[0], stream[-1]) if len(stream) > 2 else stream


def clock_group(
    ingest: int, key: StreamKey, sequence: int, told: Told, time_msc: int, utc_offset_ms: int = 0
) -> Group:
    """A clock record; its time is server time where it has an offset."""
    source, stream = key
    quality = np.array([told] if told else [], np.uint8)
    records = np.array([(time_msc,)], CLOCK)
    return Group(
        ingest, RecordKind.CLOCK, source, stream, sequence, records, utc_offset_ms, quality
    )


def told(group: Group) -> Told:
    """What a clock record says."""
    return Told(int(group.quality[0])) if len(group.quality) else Told.OWN


def gap(ingest: int, key: StreamKey, first: int, last: int, reason: str) -> Group:
    """The record that sequence numbers `first`..`last` of `key` are lost for good."""
    source, stream = key
    interval = np.array([(first, last)], GAP)
    return Group(ingest, RecordKind.GAP, source, stream, first, interval, note=reason)
