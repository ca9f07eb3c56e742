"""What a server is connected by: its doors, who is let in at them, and what ends its waiting."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any, Protocol, TypeAlias

import zmq

from mt5bridge.clock import Clock
from mt5bridge.server.authentication import Authenticator
from mt5bridge.server.door import Door
from mt5bridge.server.refusals import Refusals
from mt5bridge.server.settings import Settings
from mt5bridge.waker import Waker

PLAIN, CURVE = b"p", b"c"
"""The doors' marks, with which their routes begin."""


class Entrance(Protocol):
    """Where messages wait."""

    def take(self, knows: Callable[[bytes], bool]) -> tuple[bytes, list[bytes], str, int]:
        """One of them, as `Door.take` says; zmq.Again when none waits."""


class Network(Protocol):
    """What a server needs of it. `wake` may be called from any thread."""

    @property
    def address(self) -> str:
        """Where it listens."""

    @property
    def curve_address(self) -> str:
        """Where it listens for CURVE; empty: nowhere."""

    def wait(self, timeout_ms: int, clock: Clock) -> Sequence[Entrance]:
        """Where messages wait, as soon as some do, `wake` is called or the time has passed."""

    def wake(self) -> None:
        """End a waiting `wait`."""

    def send(self, route: bytes, data: bytes) -> None:
        """zmq.Again without room; zmq.ZMQError EHOSTUNREACH when the connection is gone."""

    def cut(self, route: bytes) -> None:
        """End a connection."""

    def look(self) -> Iterator[str]:
        """Ends connections that hold too much; says which."""

    def proven(self, route: bytes) -> None:
        """A connection is let in."""

    def change(self, settings: Settings) -> None:
        """Let others in from now on."""

    def close(self) -> None:
        """Unsent messages are dropped."""


class Sockets:
    """ROUTER sockets, bound on creation; but for `wake` they belong to the server's thread."""

    def __init__(self, settings: Settings, refusals: Refusals) -> None:
        with ExitStack() as stack:
            self._waker = Waker()
            stack.callback(self._waker.close)
            context: zmq.Context[Any] = zmq.Context()
            stack.callback(context.destroy, 0)
            self.authenticator = Authenticator(context, settings, refusals)
            self.doors = dict(self._opened(context, settings, refusals, stack))
            self._open = stack.pop_all()
        self._poller = zmq.Poller()
        self._poller.register(self._waker.fileno(), zmq.POLLIN)
        self._poller.register(self.authenticator.socket, zmq.POLLIN)
        for door in self.doors.values():
            self._poller.register(door.socket, zmq.POLLIN)
            self._poller.register(door.handshakes.socket, zmq.POLLIN)

    def _opened(
        self, context: zmq.Context[Any], settings: Settings, refusals: Refusals, stack: ExitStack
    ) -> Iterator[tuple[bytes, Door]]:
        """The doors that there are to be, by mark."""
        guards = self.authenticator
        for mark, address, guard in (
            (PLAIN, settings.bind, guards.guard),
            (CURVE, settings.curve_bind, guards.guard_curve),
        ):
            if address:
                door = Door(context, address, mark, settings, refusals, guard)
                stack.callback(door.socket.close, 0)
                yield mark, door

    @property
    def address(self) -> str:
        """The bound address, with the port that was chosen for `tcp://127.0.0.1:*`."""
        return self.doors[PLAIN].address

    @property
    def curve_address(self) -> str:
        """The same for connections by CURVE; empty when there are none."""
        return self.doors[CURVE].address if CURVE in self.doors else ""

    def wait(self, timeout_ms: int, clock: Clock) -> Sequence[Door]:
        """Also answers libzmq, which asks whom to let in, and follows handshakes."""
        ready = dict(self._poller.poll(timeout_ms))
        if self._waker.fileno() in ready:
            self._waker.reset()
        if self.authenticator.socket in ready:
            self.authenticator.answer(clock().ms)
        for door in self.doors.values():
            if door.handshakes.socket in ready:
                door.handshakes.look(clock().ms)
        return [door for door in self.doors.values() if door.socket in ready]

    def wake(self) -> None:
        """End a waiting `wait`."""
        self._waker.wake()

    def send(self, route: bytes, data: bytes) -> None:
        """By the door that the route's first byte names."""
        self.doors[route[:1]].send(route, data)

    def cut(self, route: bytes) -> None:
        """End a connection, if it can be told from others."""
        self.doors[route[:1]].inflow.cut(route)

    def look(self) -> Iterator[str]:
        """Ends connections that hold too much; says which."""
        for door in self.doors.values():
            yield from door.inflow.look()

    def proven(self, route: bytes) -> None:
        """A connection is let in: only at the door for passwords something is to be proved."""
        self.doors[PLAIN].inflow.proven(route)

    def change(self, settings: Settings) -> None:
        """Let others in from now on."""
        self.authenticator.change(settings)

    def close(self) -> None:
        """Unsent messages are dropped."""
        self._open.close()


OpenNetwork: TypeAlias = Callable[[Settings, Refusals], Network]
