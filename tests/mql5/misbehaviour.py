"""What a ROUTER may do wrong, one function each, by the failure the client must find."""

from __future__ import annotations

import struct
from random import Random

from tests.mql5 import zmtp
from tests.mql5.router import Behaviour, Peer


def says(data: bytes) -> Behaviour:
    """Says this and waits until the client has had enough."""

    def behave(peer: Peer) -> None:
        peer.send(data)
        peer.until_closed()

    return behave


def falls_silent_behind(data: bytes) -> Behaviour:
    """Says this, never anything again, and leaves it to the client to give up."""

    def behave(peer: Peer) -> None:
        peer.send(data)
        peer.until_given_up()

    return behave


def falls_silent_when_greeted(data: bytes) -> Behaviour:
    """The same behind good greetings."""

    def behave(peer: Peer) -> None:
        peer.greet()
        peer.send(data)
        peer.until_given_up()

    return behave


def falls_silent_when_let_in(data: bytes) -> Behaviour:
    """The same behind WELCOME."""

    def behave(peer: Peer) -> None:
        peer.let_in()
        peer.send(data)
        peer.until_given_up()

    return behave


def falls_silent_when_up(data: bytes) -> Behaviour:
    """The same when the client is up, which shows by its first message."""

    def behave(peer: Peer) -> None:
        peer.shake_hands()
        peer.take(1)
        peer.send(data)
        peer.until_given_up()

    return behave


def says_when_greeted(data: bytes) -> Behaviour:
    """The same behind good greetings."""

    def behave(peer: Peer) -> None:
        peer.greet()
        peer.send(data)
        peer.until_closed()

    return behave


def says_when_let_in(data: bytes) -> Behaviour:
    """The same behind WELCOME, where READY is due."""

    def behave(peer: Peer) -> None:
        peer.let_in()
        peer.send(data)
        peer.until_closed()

    return behave


def says_when_ready(data: bytes) -> Behaviour:
    """The same behind a good handshake."""

    def behave(peer: Peer) -> None:
        peer.shake_hands()
        peer.send(data)
        peer.until_closed()

    return behave


def closes_behind(data: bytes, ready: bool = False) -> Behaviour:
    """Says this, perhaps behind a good handshake, and closes."""

    def behave(peer: Peer) -> None:
        if ready:
            peer.shake_hands()
        peer.send(data)

    return behave


def resets_behind(data: bytes, ready: bool = False) -> Behaviour:
    """Says this, perhaps behind a good handshake, and resets the connection."""

    def behave(peer: Peer) -> None:
        if ready:
            peer.shake_hands()
        peer.send(data)
        peer.reset()

    return behave


def floods(data: bytes, bytes_max: int) -> Behaviour:
    """Says this again and again, takes nothing meanwhile, and closes."""

    def behave(peer: Peer) -> None:
        peer.shake_hands()
        for _ in range(bytes_max // len(data)):
            peer.send(data)

    return behave


def dribbles(peer: Peer) -> None:
    """Is the real ROUTER, one byte at a time, up to the end of its READY but one."""
    peer.pipe(bytes_max=_UP_BYTES - 1, step=1)


def takes_nothing(peer: Peer) -> None:
    """Shakes hands and then neither reads nor says anything."""
    peer.shake_hands()
    peer.until_hung_up()


_UP_BYTES = 117  # greeting, WELCOME and READY of libzmq
# A peer that has closed is noticed by reading or by writing, whichever comes first.
_GONE = (
    "the other side closed",
    "reading from the connection failed",
    "sending to the connection failed",
)
# Reset so early, it may not have been seen to stand at all.
_RESET = (*_GONE, "nobody accepts connections")
_GARBAGE = bytes([1]) + Random(4).randbytes(99)
_HALF_FRAME = struct.pack(">BQ", zmtp.LONG, 5_000) + bytes(100)
_GREETING = zmtp.greeting()

# Name, behaviour, and the beginning of what the client must say about it.
WRONG: dict[str, tuple[Behaviour, str | tuple[str, ...]]] = {
    "garbage": (says(_GARBAGE), "the other side does not speak ZMTP"),
    "http": (says(b"HTTP/1.1 400 Bad Request\r\n\r\n"), "the other side does not speak ZMTP"),
    "ff_garbage": (says(b"\xff" * 9 + b"\x00"), "the other side does not speak ZMTP"),
    "zmtp_1": (says(b"\xff" + bytes(8) + b"\x7f\x00"), "the other side speaks an older ZMTP"),
    "zmtp_2": (says(b"\xff" + bytes(8) + b"\x7f\x01\x05"), "the other side speaks an older ZMTP"),
    "null": (says(zmtp.greeting("NULL")), "the other side does not ask for a user"),
    "curve": (says(zmtp.greeting("CURVE")), "the other side does not ask for a user"),
    "publisher": (says_when_let_in(zmtp.ready("PUB")), "the other side is no ROUTER"),
    "error": (says_when_greeted(zmtp.error()), "the daemon refuses the credential"),
    "libzmq_error": (
        says_when_greeted(zmtp.frame(b"^RROR\x03400", zmtp.COMMAND)),
        "the daemon refuses the credential",
    ),
    "welcome": (says_when_let_in(zmtp.command("WELCOME")), "the other side sent what is not"),
    "no_welcome": (says_when_greeted(zmtp.ready()), "the other side sent what is not"),
    "early": (says_when_greeted(zmtp.frame(b"early")), "the other side sent what is not"),
    "metadata": (says_when_let_in(zmtp.command("READY", b"\5ab")), "the other side sent what is"),
    "flags": (says_when_ready(b"\x80\x00"), "the other side sent what is not ZMTP"),
    "long_ping": (says_when_ready(zmtp.ping(bytes(17))), "the other side sent what is not"),
    "huge_frame": (
        says_when_ready(struct.pack(">BQ", zmtp.LONG, 2**62)),
        "the other side announced a frame above the limit",
    ),
    "large_frame": (
        says_when_ready(struct.pack(">BQ", zmtp.LONG, 2**20 + 17)),
        "the other side announced a frame above the limit",
    ),
    "huge_command": (
        says_when_greeted(zmtp.command("READY", bytes(100_000))),
        "the other side announced a frame above the limit",
    ),
    "endless_parts": (
        floods(zmtp.frame(bytes(60_000), zmtp.MORE), 4_000_000),
        "the other side announced a frame above the limit",
    ),
    "closes": (closes_behind(b""), _GONE),
    "closes_greeting": (closes_behind(_GREETING), _GONE),
    "closes_half_greeting": (closes_behind(_GREETING[:20]), _GONE),
    "closes_ready": (closes_behind(b"", ready=True), _GONE),
    "closes_half_frame": (closes_behind(_HALF_FRAME, ready=True), _GONE),
    "resets": (resets_behind(b""), _RESET),
    "resets_greeting": (resets_behind(_GREETING), _RESET),
    "resets_half_frame": (resets_behind(_HALF_FRAME, ready=True), _GONE),
    "flood_pings": (floods(zmtp.ping(b"x" * 16), 3_000_000), _GONE),
    "flood_unknown": (floods(zmtp.command("JUNK", bytes(99)), 3_000_000), _GONE),
    "silent": (falls_silent_behind(b""), "the other side did not finish the handshake"),
    "silent_greeting": (
        falls_silent_behind(_GREETING[:11]),
        "the other side did not finish the handshake",
    ),
    "no_welcome_comes": (
        falls_silent_when_greeted(b""),
        "the other side did not finish the handshake",
    ),
    "no_ready": (falls_silent_when_let_in(b""), "the other side did not finish the handshake"),
    "half_ready": (falls_silent_when_let_in(zmtp.ready()[:9]), "the other side did not finish"),
    "silent_ready": (falls_silent_when_up(b""), "the other side does not answer any more"),
    "half_frame": (falls_silent_when_up(_HALF_FRAME), "the other side does not answer any more"),
    "dribbles": (dribbles, _GONE),
}
