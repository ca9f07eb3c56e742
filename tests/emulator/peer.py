"""A TCP peer for SocketProbe: sends back what it gets, or misbehaves."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum

from tests.waiting import LONG_S


class Manner(Enum):
    """What the peer does with a connection."""

    ECHO = "send everything back"
    CLOSE = "close it after the first bytes"
    STALL = "never read"


class Peer:
    """Accepts one connection after the other; remembers what came in."""

    def __init__(self, manner: Manner) -> None:
        self._manner = manner
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self.port: int = self._socket.getsockname()[1]
        self.received = bytearray()
        self.connections = 0

    def _serve(self) -> None:
        while not self._stopped.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            with connection:
                connection.settimeout(LONG_S)
                self._converse(connection)

    def _converse(self, connection: socket.socket) -> None:
        if self._manner is Manner.STALL:
            self._stopped.wait(LONG_S)
            return
        try:
            while data := connection.recv(65_536):
                self.received += data
                if self._manner is Manner.CLOSE:
                    return
                connection.sendall(data)
        except OSError:
            return

    def stop(self) -> None:
        self._stopped.set()
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(LONG_S)

    def start(self) -> None:
        self._thread.start()


@contextmanager
def peer(manner: Manner = Manner.ECHO) -> Iterator[Peer]:
    """A running peer."""
    running = Peer(manner)
    running.start()
    try:
        yield running
    finally:
        running.stop()
