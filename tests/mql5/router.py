"""A ROUTER that misbehaves on its first connections and is a pipe to a real one afterwards.

Real TCP. Each connection is served by its own thread, in the order in which they come; what a
connection does is a function of a `Peer`, so that a test lists the misbehaviour it wants.
"""

from __future__ import annotations

import select
import socket
import struct
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import TypeAlias

from tests.mql5 import zmtp
from tests.waiting import LONG_MS, LONG_S

_CHUNK_BYTES = 65_536
_LOOK_MS = 20
_GIVES_UP_MS = 1_000
"""So long we wait for what a leap of the clock brings about, before the next one."""


class Peer:
    """One accepted connection; OSError ends its behaviour."""

    def __init__(
        self, link: socket.socket, behind: tuple[str, int], pass_time: Callable[[], None] | None
    ) -> None:
        self.link = link
        self.behind = behind
        self.pass_time = pass_time
        self._look_ms = _LOOK_MS
        link.settimeout(LONG_S)
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, data: bytes) -> None:
        """All of it."""
        self.link.sendall(data)

    def take(self, count: int) -> bytes:
        """Exactly `count` bytes; EOFError if the client closes before."""
        found = b""
        while len(found) < count:
            if not (more := self.link.recv(count - len(found))):
                raise EOFError
            found += more
        return found

    def until_closed(self) -> None:
        """Take whatever comes until the client gives up."""
        with suppress(OSError):
            while self.link.recv(_CHUNK_BYTES):
                pass

    def until_given_up(self) -> None:
        """Take whatever comes, and let time pass while nothing does, until the client gives up."""
        while not self._comes(select.POLLIN | select.POLLRDHUP) or self.link.recv(_CHUNK_BYTES):
            pass

    def until_hung_up(self) -> None:
        """Take nothing and let time pass until the client gives up."""
        while not self._comes(select.POLLRDHUP):
            pass

    def _comes(self, event: int) -> bool:
        """Whether it does before time has passed; without a clock that can be moved, waits."""
        poll = select.poll()
        poll.register(self.link, event)
        if poll.poll(LONG_MS if self.pass_time is None else self._look_ms):
            return True
        if self.pass_time is not None:
            self.pass_time()
            self._look_ms = _GIVES_UP_MS
        return False

    def reset(self) -> None:
        """Close with a RST instead of a FIN."""
        self.link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def greet(self) -> None:
        """Exchange greetings."""
        self.send(zmtp.greeting())
        self.take(zmtp.GREETING_BYTES)

    def shake_hands(self) -> None:
        """The whole handshake of PLAIN, whoever comes."""
        self.let_in()
        self.take_command()
        self.send(zmtp.ready())

    def let_in(self) -> None:
        """The handshake up to WELCOME."""
        self.greet()
        self.take_command()
        self.send(zmtp.command("WELCOME"))

    def take_command(self) -> None:
        """HELLO, INITIATE: whatever the client says."""
        head = self.take(2)
        self.take(head[1])

    def pipe(self, bytes_max: int | None = None, step: int = _CHUNK_BYTES) -> None:
        """Be the real ROUTER, for `bytes_max` bytes to the client, at most `step` at a time."""
        with socket.create_connection(self.behind, LONG_S) as real:
            real.settimeout(LONG_S)
            real.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            up = threading.Thread(target=_copy, args=(self.link, real, None, _CHUNK_BYTES))
            up.start()
            _copy(real, self.link, bytes_max, step)
            for link in (real, self.link):
                with suppress(OSError):
                    link.shutdown(socket.SHUT_RDWR)
            up.join()


Behaviour: TypeAlias = Callable[[Peer], None]


class Router:
    """Listens; `behaviours` are for its first connections, `behind` is the real ROUTER's port.

    `buffer_bytes`: what the system keeps of what is not taken. `pass_time` moves the client's
    clock; without it a client that is left alone gives up when it wants to.
    """

    def __init__(
        self,
        behaviours: Sequence[Behaviour],
        behind: int,
        buffer_bytes: int | None = None,
        pass_time: Callable[[], None] | None = None,
    ) -> None:
        self._pass_time = pass_time
        self.accepted = 0
        self._behaviours = list(behaviours)
        self._behind = ("127.0.0.1", behind)
        self._listener = socket.create_server(("127.0.0.1", 0))
        if buffer_bytes is not None:
            self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer_bytes)
        self.port: int = self._listener.getsockname()[1]
        self._links: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept)]

    def __enter__(self) -> Router:
        self._threads[0].start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._threads[0].join()
        for link in self._links:
            with suppress(OSError):
                link.shutdown(socket.SHUT_RDWR)
        for thread in self._threads[1:]:
            thread.join()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                link, _ = self._listener.accept()
                self._links.append(link)
                thread = threading.Thread(target=self._serve, args=(link, self._next()))
                self._threads.append(thread)
                thread.start()

    def _next(self) -> Behaviour:
        self.accepted += 1
        return self._behaviours.pop(0) if self._behaviours else Peer.pipe

    def _serve(self, link: socket.socket, behaviour: Behaviour) -> None:
        with link, suppress(OSError, EOFError):
            behaviour(Peer(link, self._behind, self._pass_time and partial(self._leap, link)))

    def _leap(self, link: socket.socket) -> None:
        """Let time pass, unless the client has gone on to another connection, which that ends."""
        if self._pass_time is not None and link is self._links[-1]:
            self._pass_time()


def _copy(source: socket.socket, target: socket.socket, bytes_max: int | None, step: int) -> None:
    left = bytes_max
    with suppress(OSError):
        while left is None or left > 0:
            data = source.recv(step if left is None else min(step, left))
            if not data:
                break
            target.sendall(data)
            left = None if left is None else left - len(data)
    if bytes_max is None:
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)
