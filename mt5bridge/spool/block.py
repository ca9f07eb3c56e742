"""Blocks: length, checksum and durable mark around a payload; a scan never trusts a byte.

Each block names the size of its file that was already durable when it was written. Damage below
the greatest such mark is bit rot in acknowledged data and is stepped over; damage above it is the
torn tail of a crash, never acknowledged, and is cut off.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from zlib import crc32

BLOCK_MAGIC = b"BLK\x9c"
PAYLOAD_BYTES_MAX = 64 << 20

_HEAD = struct.Struct("<4sIIQ")
"""magic, CRC-32 of all that follows, payload length, durable bytes."""
HEAD_BYTES = _HEAD.size
_COVERED = struct.Struct("<IQ")


@dataclass(frozen=True, slots=True)
class Block:
    """A payload whose checksum holds, and where it lies in its file."""

    offset: int
    end: int
    durable_bytes: int
    payload: memoryview


@dataclass(frozen=True, slots=True)
class Damage:
    """Bytes `offset`..`end` of a file that are no block."""

    offset: int
    end: int


def encode(payload: bytes, durable_bytes: int) -> bytes:
    """A block around `payload`, to be written to a file of which `durable_bytes` are durable."""
    return head(payload, durable_bytes) + payload


def head(payload: bytes, durable_bytes: int) -> bytes:
    """What such a block begins with, before the payload."""
    size = len(payload)
    if size > PAYLOAD_BYTES_MAX:
        raise ValueError(f"a block of {size} bytes is over {PAYLOAD_BYTES_MAX}")
    checksum = crc32(payload, crc32(_COVERED.pack(size, durable_bytes)))
    return _HEAD.pack(BLOCK_MAGIC, checksum, size, durable_bytes)


def block_bytes(data: bytes, at: int) -> int:
    """How long the block is whose head is at `at`, as the head says; 0 when it is none."""
    if at + _HEAD.size > len(data):
        return 0
    magic, _, length, _ = _HEAD.unpack_from(data, at)
    return _HEAD.size + length if magic == BLOCK_MAGIC and length <= PAYLOAD_BYTES_MAX else 0


def scan(data: bytes, start: int = 0) -> Iterator[Block | Damage]:
    """The blocks of `data` from `start`, and the stretches between them that are none."""
    at = start
    while at < len(data):
        block = _block_at(data, at)
        if block is None:
            following = _resume(data, at + 1)
            yield Damage(at, following)
            at = following
        else:
            yield block
            at = block.end


def _block_at(data: bytes, at: int) -> Block | None:
    if at + _HEAD.size > len(data):
        return None
    magic, checksum, length, durable_bytes = _HEAD.unpack_from(data, at)
    begin = at + _HEAD.size
    if magic != BLOCK_MAGIC or length > PAYLOAD_BYTES_MAX or begin + length > len(data):
        return None
    payload = memoryview(data)[begin : begin + length]
    if crc32(payload, crc32(_COVERED.pack(length, durable_bytes))) != checksum:
        return None
    return Block(at, begin + length, durable_bytes, payload)


def _resume(data: bytes, at: int) -> int:
    """Where the next block at or after `at` begins; the end of `data` when there is none."""
    while (at := data.find(BLOCK_MAGIC, at)) >= 0:
        if _block_at(data, at) is not None:
            return at
        at += 1
    return len(data)
