"""Frames that are almost right: mutations that know where a frame's fields are.

Each frame is a list of pieces (a number, a count, a text, a fixed field); pieces are replaced,
repeated, removed or damaged, and length and checksum are made to fit most of the time, so that
what is wrong is seen behind the header's checks.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any
from zlib import crc32

from mt5bridge.wire import VERSION, FrameType
from mt5bridge.wire.layout import Code, Entries, Numbers, RecordArray, TextPart, parts
from tests.wire.samples import FRAMES

HEADER_BYTES = 16

_NUMBERS = (0, 1, 2, 3, 8, 9, 99, 1_024, 1_025, 86_400_000, 86_400_001, 2**31, 2**63 - 1, 2**63,
            2**64 - 1, 253_402_300_799_999, 253_402_300_800_000, -62_135_596_800_000,
            -62_135_596_800_001)  # fmt: skip
_DOUBLES = (0.0, -0.0, 1e-300, -1.0, 1.5, 1e308, float("inf"), float("-inf"), float("nan"))
_TEXTS = (
    b"",
    b"A",
    b"EURUSD",
    "für €".encode(),
    "\U0001f600".encode(),
    b"\x00",
    b"a\x00b",
    b"\x7f",
    b"tab\t",
    b"\xc2\x80",
    b"\xc2\xa0",
    "\u200b".encode(),
    "\u2010".encode(),
    "\u2028".encode(),
    "\u3000".encode(),
    "\ue000".encode(),
    "\uf900".encode(),
    "\ufeffBOM".encode(),
    "\ufffd\ufffe\uffff".encode(),
    "\U0010ffff".encode(),
    b"\xc0\x80",
    b"\xc1\xbf",
    b"\xe0\x80\x80",
    b"\xe0\x9f\xbf",
    b"\xed\x9f\xbf",
    b"\xed\xa0\x80",
    b"\xed\xbf\xbf",
    b"\xf0\x8f\xbf\xbf",
    b"\xf4\x90\x80\x80",
    b"\xf5\x80\x80\x80",
    b"\x80",
    b"\xff",
    b"cut \xe2\x82",
    b"x" * 32,
    b"x" * 33,
    b"x" * 128,
    b"x" * 129,
    b"x" * 1_024,
    b"x" * 1_025,
    "€".encode() * 11,
    "€".encode() * 341 + b"x",
)


@dataclass(frozen=True, slots=True)
class Piece:
    """The bytes of one field; `kind` is number, double, count, text or fixed."""

    kind: str
    raw: bytes


def pieces(body: Any) -> Iterator[Piece]:
    """The fields of a frame's body."""
    for part in parts(body.__class__):
        match part:
            case Numbers(names=names):
                for name, code in zip(names, part.form.format[1:], strict=True):
                    kind = "double" if code == "d" else "number"
                    yield Piece(kind, struct.pack("<" + code, getattr(body, name)))
            case Code():
                yield Piece("number", part.pack(body))
            case TextPart():
                yield Piece("text", part.pack(body))
            case Entries(name=name):
                entries = getattr(body, name)
                yield Piece("count", struct.pack("<I", len(entries)))
                for entry in entries:
                    yield from pieces(entry)
            case RecordArray(name=name):
                records = getattr(body, name)
                yield Piece("count", struct.pack("<I", len(records)))
                yield from (Piece("fixed", record.tobytes()) for record in records)


_KINDS = 1 + max(FrameType)
SHAPES = tuple((int(frame.TYPE), tuple(pieces(frame))) for _, frame in FRAMES.values())


def seal(kind: int, body: bytes) -> bytes:
    """A frame of type `kind` whose length and checksum fit."""
    head = struct.pack("<4sBBHI", b"MT5B", VERSION, kind, 0, len(body))
    return head + struct.pack("<I", crc32(body, crc32(head))) + body


def frames(seed: int, count: int) -> Iterator[bytes]:
    """`count` mutated frames, the same ones for the same seed."""
    random = Random(seed)
    for _ in range(count):
        kind, shape = random.choice(SHAPES)
        changed = list(shape)
        for _ in range(random.choice((0, 1, 1, 1, 2, 4))):
            _change(random, changed)
        if random.random() < 0.03:
            kind = random.choice((0, _KINDS, 99, 255, random.randrange(1, _KINDS)))
        body = b"".join(piece.raw for piece in changed)
        yield _damage(random, seal(kind, body[: 2**20 + 1]))


def _change(random: Random, shape: list[Piece]) -> None:
    at = random.randrange(len(shape))
    match random.randrange(8):
        case 0:
            del shape[at]
            if not shape:
                shape.append(Piece("number", b"\0"))
        case 1:
            shape.insert(at, random.choice(shape))
        case 2:
            again = shape[at : at + random.randrange(1, 12)]
            shape[at:at] = again * random.choice((1, 1, 2, 40))
        case _:
            shape[at] = Piece(shape[at].kind, _other(random, shape[at]))


def _other(random: Random, piece: Piece) -> bytes:
    size = len(piece.raw)
    match piece.kind:
        case "text":
            raw = random.choice(_TEXTS) + (random.choice(_TEXTS) if random.random() < 0.3 else b"")
            said = len(raw) if random.random() < 0.9 else random.choice((0, 1, 1_025, 65_535))
            return struct.pack("<H", said) + raw
        case "double":
            return struct.pack("<d", random.choice(_DOUBLES))
        case "count":
            (count,) = struct.unpack("<I", piece.raw)
            choices = (0, count + 1, max(count - 1, 0), 1_025, 16_385, 2**31, 2**32 - 1)
            return struct.pack("<I", random.choice(choices) % 2**32)
        case "number":
            number: int = random.choice((*_NUMBERS, random.getrandbits(64), -1, -86_400_001))
            return (number % (1 << 8 * size)).to_bytes(size, "little")
    return random.randbytes(size)


def _damage(random: Random, data: bytes) -> bytes:
    choice = random.random()
    if choice < 0.6:
        return data
    changed = bytearray(data)
    if choice < 0.75:
        _flip(random, changed, 0)
        return bytes(changed)
    if choice < 0.85 and len(changed) > HEADER_BYTES:
        _flip(random, changed, HEADER_BYTES)
        return seal(changed[5], bytes(changed[HEADER_BYTES:]))
    if choice < 0.9:
        return data[: random.randrange(len(data) + 1)]
    if choice < 0.95:
        cut = random.randrange(len(data) + 1)
        return seal(changed[5], data[HEADER_BYTES : max(cut, HEADER_BYTES)])
    if choice < 0.97:
        changed[6 + random.randrange(2)] = random.randrange(256)
        changed[12:16] = struct.pack("<I", crc32(changed[16:], crc32(changed[:12])))
        return bytes(changed)
    return data + random.randbytes(random.choice((1, 2, 16)))


def _flip(random: Random, data: bytearray, begin: int) -> None:
    for _ in range(random.choice((1, 1, 2, 8))):
        data[random.randrange(begin, len(data))] ^= 1 << random.randrange(8)
