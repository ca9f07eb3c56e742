"""What ZMTP peers may send, right and wrong, cut into pieces anywhere."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import NamedTuple
from zlib import crc32

from tests.mql5 import zmtp

READY_STAGE = 3  # ZMTP_READY in Link/Zmtp.mqh
FAILED_STAGE = 4
BUFFERED_MAX = 2**20 + 16 + 9 + 65_536  # a whole frame, its head, and a piece


@dataclass(frozen=True, slots=True)
class Stream:
    """All bytes of a peer, and what a client must have received from it if they are right."""

    data: bytes
    messages: int
    multiparts: int
    checksum: int


class Outcome(NamedTuple):
    """What the client made of a stream; see ZmtpFuzz.mq5."""

    stage: int
    failure: int
    messages: int
    multiparts: int
    checksum: int
    said: int
    buffered_most: int


def right(random: Random) -> Stream:
    """A peer that keeps to the protocol."""
    out = [zmtp.greeting(version=(3, random.choice((0, 1, 2))))]
    out += [zmtp.command("WELCOME"), zmtp.ready()]
    messages = multiparts = checksum = 0
    for _ in range(random.randrange(20)):
        match random.randrange(6):
            case 0:
                out.append(zmtp.ping(random.randbytes(random.randrange(17))))
            case 1:
                out.append(zmtp.command("SUBSCRIBE", random.randbytes(random.randrange(300))))
            case 2:
                parts = [_body(random) for _ in range(random.randrange(1, 4))]
                out += [zmtp.frame(part, zmtp.MORE) for part in parts]
                out.append(zmtp.frame(_body(random)))
                messages, multiparts = messages + 1, multiparts + 1
            case _:
                body = _body(random)
                flags = random.choice((0, 0, zmtp.LONG))
                out.append(zmtp.frame(body, flags))
                messages, checksum = messages + 1, crc32(body, checksum)
    return Stream(b"".join(out), messages, multiparts, checksum)


def wrong(random: Random) -> Stream:
    """A peer that says something odd somewhere; what becomes of it is not foretold."""
    stream = right(random)
    data = bytearray(stream.data)
    for _ in range(random.choice((1, 1, 2, 5))):
        match random.randrange(5):
            case 0:
                data[random.randrange(len(data))] ^= 1 << random.randrange(8)
            case 1:
                data[random.randrange(len(data))] = random.randrange(256)
            case 2:
                at = random.randrange(len(data))
                del data[at : at + random.randrange(1, 9)]
            case 3:
                data[(at := random.randrange(len(data))) : at] = random.randbytes(9)
            case _:
                data[(at := random.randrange(64, len(data))) : at] = _odd(random)
        data = data or bytearray(1)
    return Stream(bytes(data), 0, 0, 0)


def _body(random: Random) -> bytes:
    return random.randbytes(random.choice((0, 1, 30, 255, 256, 700)))


def _odd(random: Random) -> bytes:
    return random.choice(
        (
            zmtp.error(),
            zmtp.frame(b"^RROR\x03400", zmtp.COMMAND),
            zmtp.ready("PUB"),
            zmtp.command("READY", b"\x05half"),
            zmtp.command("", b"nameless"),
            zmtp.command("PING"),
            zmtp.command("PING", bytes(19)),
            zmtp.command("HUGE", bytes(5_000)),
            struct.pack(">BQ", zmtp.LONG, 2**63 + 5),
            struct.pack(">BQ", zmtp.LONG, 2**20 + 17),
            struct.pack(">BQ", zmtp.LONG | zmtp.COMMAND, 4_097),
            b"\x08\x01x",
            b"\x05\x01x",
            b"HTTP/1.1 400 Bad Request\r\n\r\n",
        )
    )


def pieces(random: Random, data: bytes) -> list[bytes]:
    """`data` cut anywhere: whole, into single bytes, or in between."""
    match random.randrange(4):
        case 0:
            return [data]
        case 1:
            return [data[at : at + 1] for at in range(len(data))]
    cuts = sorted(random.randrange(len(data) + 1) for _ in range(random.randrange(1, 30)))
    return [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]


def write(path: Path, streams: Iterable[tuple[Stream, list[bytes]]]) -> None:
    """Put cut streams into the file that ZmtpFuzz.mq5 reads."""
    with path.open("wb") as file:
        for _, cut in streams:
            file.write(struct.pack("<I", len(cut)))
            file.writelines(struct.pack("<I", len(piece)) + piece for piece in cut)


def read_outcomes(path: Path) -> list[Outcome]:
    """What ZmtpFuzz.mq5 wrote."""
    return [Outcome(*numbers) for numbers in struct.iter_unpack("<7I", path.read_bytes())]
