"""ZMTP as bytes, the ROUTER's side: greetings, commands, frames (rfc.zeromq.org/spec/37)."""

from __future__ import annotations

import struct

GREETING_BYTES = 64
MORE, LONG, COMMAND = 1, 2, 4


def greeting(mechanism: str = "PLAIN", version: tuple[int, int] = (3, 1)) -> bytes:
    """64 bytes: signature, version, mechanism, as-server."""
    head = b"\xff" + bytes(8) + b"\x7f" + bytes(version)
    return head + mechanism.encode().ljust(20, b"\0") + b"\1" + bytes(31)


def frame(body: bytes, flags: int = 0) -> bytes:
    """A frame, long when it must be."""
    if len(body) > 255 or flags & LONG:
        return struct.pack(">BQ", flags | LONG, len(body)) + body
    return struct.pack("BB", flags, len(body)) + body


def command(name: str, data: bytes = b"", flags: int = COMMAND) -> bytes:
    """A command frame."""
    return frame(bytes([len(name)]) + name.encode() + data, flags)


def prop(name: str, value: bytes) -> bytes:
    """A property of metadata."""
    return bytes([len(name)]) + name.encode() + struct.pack(">I", len(value)) + value


def ready(socket_type: str = "ROUTER") -> bytes:
    """READY as libzmq writes it."""
    return command("READY", prop("Socket-Type", socket_type.encode()) + prop("Identity", b""))


def error(reason: str = "400") -> bytes:
    """ERROR, the refusal of a handshake."""
    return command("ERROR", bytes([len(reason)]) + reason.encode())


def ping(context: bytes = b"", ttl_ds: int = 100) -> bytes:
    """PING with a time to live of tenths of a second."""
    return command("PING", struct.pack(">H", ttl_ds) + context)


def pong(context: bytes) -> bytes:
    """What answers a PING."""
    return command("PONG", context)
