"""Frames to bytes and back: the 16-byte header and its checks (PROTOCOL.md section 3)."""

from __future__ import annotations

import struct
from zlib import crc32

from mt5bridge.wire.errors import Reason, WireError
from mt5bridge.wire.frames import FRAMES, Frame, Order, Signal
from mt5bridge.wire.layout import Reader, pack_body, unpack_body

MAGIC = b"MT5B"
VERSION = 2
BODY_BYTES_MAX = 1_048_576

_VERSION_AT = 4
_HEAD = struct.Struct("<4sBBHI")  # magic, version, type, flags, body length
_CRC = struct.Struct("<I")  # of the head and the body
_HEADER = struct.Struct(_HEAD.format + "I")
HEADER_BYTES = _HEADER.size
FRAME_BYTES_MAX = HEADER_BYTES + BODY_BYTES_MAX

_BY_TYPE = {int(frame.TYPE): frame for frame in FRAMES}


def encode(frame: Frame, version: int = VERSION) -> bytes:
    """The frame's bytes; WireError when a value does not fit its field.

    Another `version` is for an ERROR, which has the same form in all: it can be read there.
    """
    if isinstance(frame, (Signal, Order)) and version == VERSION:
        return _newest.encode(frame)
    return _encode(frame, version)


class _Newest:
    """Remembers the newest request, which is encoded to see whether it can be, where it is made and
    where it is queued, before it is sent. What is the same object has the same bytes.
    """

    def __init__(self) -> None:
        self._known: tuple[Signal | Order | None, bytes] = None, b""

    def encode(self, request: Signal | Order) -> bytes:
        """In any thread: request and bytes are replaced together."""
        known, data = self._known
        if known is not request:
            data = _encode(request, VERSION)
            self._known = request, data
        return data


_newest = _Newest()


def _encode(frame: Frame, version: int) -> bytes:
    body = pack_body(frame)
    if len(body) > BODY_BYTES_MAX:
        raise WireError(Reason.OVERSIZED, f"body of {len(body)} bytes, at most {BODY_BYTES_MAX}")
    head = _HEAD.pack(MAGIC, version, frame.TYPE, 0, len(body))
    return b"".join((head, _CRC.pack(crc32(body, crc32(head))), body))


def version_of(data: bytes) -> int:
    """The version in a frame's header."""
    return data[_VERSION_AT]


def decode(data: bytes) -> Frame:
    """The frame in `data`, which it may keep a view of; WireError and nothing else if none."""
    if len(data) < HEADER_BYTES:
        raise WireError(Reason.TRUNCATED, f"{len(data)} bytes, a header has {HEADER_BYTES}")
    magic, version, number, flags, body_bytes, checksum = _HEADER.unpack_from(data)
    seen = len(data) - HEADER_BYTES
    if magic != MAGIC or version != VERSION or not seen == body_bytes <= BODY_BYTES_MAX:
        _refuse_head(magic, version, body_bytes, seen)
    found = crc32(memoryview(data)[HEADER_BYTES:], crc32(data[: _HEAD.size]))
    if found != checksum:
        raise WireError(Reason.BAD_CHECKSUM, f"{found:#010x}, header says {checksum:#010x}")
    if flags:
        raise WireError(Reason.BAD_FLAGS, f"flags {flags:#06x}, version {VERSION} has none")
    if number not in _BY_TYPE:
        raise WireError(Reason.UNKNOWN_TYPE, f"type {number}")
    return _decode_body(_BY_TYPE[number], data)


def _refuse_head(magic: bytes, version: int, body_bytes: int, body_bytes_seen: int) -> None:
    """Say what is wrong with it."""
    if magic != MAGIC:
        raise WireError(Reason.BAD_MAGIC, f"{magic!r} instead of {MAGIC!r}")
    if version != VERSION:
        raise WireError(Reason.WRONG_VERSION, f"version {version}, this side speaks {VERSION}")
    if max(body_bytes, body_bytes_seen) > BODY_BYTES_MAX:
        raise WireError(Reason.OVERSIZED, f"body of {body_bytes} bytes, at most {BODY_BYTES_MAX}")
    if body_bytes_seen < body_bytes:
        raise WireError(Reason.TRUNCATED, f"{body_bytes_seen} of {body_bytes} body bytes")
    if body_bytes_seen > body_bytes:
        raise WireError(Reason.TRAILING_BYTES, f"bytes too many: {body_bytes_seen - body_bytes}")


def _decode_body(frame: type[Frame], data: bytes) -> Frame:
    reader = Reader(data, HEADER_BYTES)
    decoded: Frame = unpack_body(frame, reader)
    if reader.at != len(data):
        raise WireError(
            Reason.TRAILING_BYTES,
            f"bytes after the end of {frame.__name__}: {len(data) - reader.at}",
        )
    return decoded
