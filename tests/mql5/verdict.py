"""What Python's decoder says to frames, in the form in which the MQL5 side writes it."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from pathlib import Path

from mt5bridge.wire import Reason, WireError, decode, encode

# The order of WireReason in Wire/Codes.mqh; 0 is a good frame.
REASONS = (
    "frame",
    Reason.TRUNCATED,
    Reason.BAD_MAGIC,
    Reason.WRONG_VERSION,
    Reason.BAD_FLAGS,
    Reason.OVERSIZED,
    Reason.TRAILING_BYTES,
    Reason.BAD_CHECKSUM,
    Reason.UNKNOWN_TYPE,
    Reason.BAD_TEXT,
    Reason.BAD_VALUE,
    Reason.MULTIPART,
)


def verdict(data: bytes) -> tuple[str, bytes]:
    """ "frame" and the frame encoded again, or the reason of its refusal and nothing."""
    try:
        return "frame", encode(decode(data))
    except WireError as error:
        return error.reason, b""


def write_frames(path: Path, frames: Iterable[bytes]) -> int:
    """Put frames, each behind its length, into a file; how many there were."""
    count = 0
    with path.open("wb") as file:
        for data in frames:
            file.write(struct.pack("<I", len(data)) + data)
            count += 1
    return count


def read_verdicts(path: Path) -> Iterator[tuple[str, bytes]]:
    """What the MQL5 script wrote: a reason and a frame for each frame it read."""
    raw = path.read_bytes()
    at = 0
    while at < len(raw):
        reason, size = struct.unpack_from("<iI", raw, at)
        yield REASONS[reason], raw[at + 8 : at + 8 + size]
        at += 8 + size
