"""What libzmq holds of connections and has not handed over: a bound that it does not have itself.

A message of several parts is handed over when its last part is there, and until then its parts are
counted by no limit: the high-water mark counts whole messages, and the largest size is that of a
part. So a message without end grows until the memory is gone, and nobody hears of it. The kernel
knows what it has received on a connection; what of that was not handed over must be in memory.

Linux only, where the kernel can be asked. Elsewhere nothing is bounded here.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_STATM = Path("/proc/self/statm")
_FILES = Path("/proc/self/fd")
_PAGE_BYTES = 4_096
_RECEIVED = struct.Struct("<Q")
_RECEIVED_AT = 128  # of tcpi_bytes_received in struct tcp_info
_TCP_INFO_BYTES = _RECEIVED_AT + _RECEIVED.size
PART_OVERHEAD_BYTES = 9
"""Of a long part on the wire."""


STUCK_BYTES = 2 << 20
"""More than any frame has; a part takes up to 32 times the memory that it has bytes on the wire."""


@dataclass(slots=True)
class _Connection:
    """What was handed over from a connection, which is known by its file and its peer."""

    route: bytes
    file: int
    peer: object
    is_let_in: bool
    bytes: int = 0
    bytes_before: int = -1  # when it was last examined


class Inflow:
    """Cuts connections that hold more than `bytes_max`, or hand nothing over and grow.

    Looking costs little: connections are examined when the process has grown by `grown_bytes`.
    """

    def __init__(self, port: int, bytes_max: int = 64 << 20, grown_bytes: int = 64 << 20) -> None:
        self.port = port
        self._bytes_max = bytes_max
        self._grown_bytes = grown_bytes
        self._calm_bytes = _process_bytes()
        self._is_supported = self._calm_bytes > 0
        self._by_route: dict[bytes, _Connection] = {}
        self._by_file: dict[int, _Connection] = {}

    def knows(self, route: bytes) -> bool:
        """Whether `begin` was called for a route, or need not be."""
        return route in self._by_route or not self._is_supported

    def accepted(self, file: int) -> None:
        """A connection begins that has this file; what had it before has ended."""
        if old := self._by_file.pop(file, None):
            self._by_route.pop(old.route, None)

    def is_silent(self, file: int) -> bool:
        """Whether the connection with this file has handed nothing over, so far as is known, or
        nothing but attempts to be let in.
        """
        found = self._by_file.get(file)
        return self._is_supported and not (found and found.is_let_in)

    def proven(self, route: bytes) -> None:
        """A connection is let in."""
        if found := self._by_route.get(route):
            found.is_let_in = True

    def begin(self, route: bytes, file: int, *, is_let_in: bool = True) -> None:
        """The first message of a route has come, from this file of the process."""
        if old := self._by_file.get(file):  # it was closed, and its number given away again
            self._by_route.pop(old.route, None)
        found = _Connection(route, file, None, is_let_in)
        with contextlib.suppress(OSError), _copy(file) as connection:
            found.peer = connection.getpeername()
        self._by_route[route] = self._by_file[file] = found

    def took(self, route: bytes, size: int) -> None:
        """So many bytes of a route were handed over."""
        if found := self._by_route.get(route):
            found.bytes += size

    def cut(self, route: bytes) -> None:
        """Close a connection, if it can be told from others."""
        found = self._by_route.get(route)
        if found is not None and found.peer is not None:
            with contextlib.suppress(OSError), _copy(found.file) as connection:
                if connection.getpeername() == found.peer:
                    break_off(connection)

    def look(self) -> list[str]:
        """Cut who holds too much; what to say of each. To be called often."""
        size = _process_bytes()
        if size < self._calm_bytes + self._grown_bytes:
            self._calm_bytes = min(self._calm_bytes, size)
            return []
        self._calm_bytes = size
        return list(self._cut_worst())

    def _cut_worst(self) -> Iterator[str]:
        for file in _files():
            with contextlib.suppress(OSError), _copy(file) as connection:
                if self._is_ours(connection):
                    peer = connection.getpeername()
                    held = self._held(_received(connection), file, peer)
                    if held:
                        break_off(connection)
                        yield f"{peer[0]}:{peer[1]}: {held:,} bytes that are no whole message"

    def _is_ours(self, connection: socket.socket) -> bool:
        is_tcp = connection.family in (socket.AF_INET, socket.AF_INET6)
        return is_tcp and connection.getsockname()[1] == self.port

    def _held(self, received: int, file: int, peer: object) -> int:
        """What a connection holds, if that is too much; else 0."""
        found = self._by_file.get(file)
        if found is None or found.peer != peer:  # it has never handed anything over
            return received if received > STUCK_BYTES else 0
        is_stuck, found.bytes_before = found.bytes == found.bytes_before, found.bytes
        held = received - found.bytes
        return held if held > self._bytes_max or (is_stuck and held > STUCK_BYTES) else 0


def _process_bytes() -> int:
    """Memory of this process; 0 where nobody tells."""
    try:
        return int(_STATM.read_text().split()[1]) * _PAGE_BYTES
    except (OSError, IndexError, ValueError):
        return 0


def _files() -> list[int]:
    try:
        return [int(path.name) for path in _FILES.iterdir()]
    except OSError:
        return []


def _copy(file: int) -> socket.socket:
    """The socket behind a file, kept from being closed and given to another while it is looked at.

    OSError when it is none.
    """
    copy = os.dup(file)
    try:
        return socket.socket(fileno=copy)
    except OSError:
        os.close(copy)
        raise


def break_off(connection: socket.socket) -> None:
    """End a connection at once: the peer is not waited for, and libzmq lets go of what it has."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.shutdown(socket.SHUT_RDWR)


def _received(connection: socket.socket) -> int:
    """Bytes that the kernel has received on a connection. OSError when it does not tell."""
    told = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_BYTES)
    if len(told) < _TCP_INFO_BYTES:
        raise OSError("the kernel does not tell what it has received")
    (received,) = _RECEIVED.unpack_from(told, _RECEIVED_AT)
    return int(received)


def port_of(address: str) -> int:
    """The port of a ZeroMQ address; 0 when it has none."""
    digits = address.rpartition(":")[2]
    return int(digits) if digits.isdigit() else 0
