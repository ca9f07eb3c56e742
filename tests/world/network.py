"""Connections without sockets: frames wait, come in any number, and are gone with a connection."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import zmq

from mt5bridge.clock import Clock
from mt5bridge.server.refusals import Refusals
from mt5bridge.server.settings import Settings
from mt5bridge.server.sockets import PLAIN, Entrance

ROOM = 256
"""Frames that wait for a peer; more find no room."""


@dataclass(eq=False)
class Connection:
    """One of a peer that was let in as `user`. Frames go `up` to the daemon and `down` to it."""

    route: bytes
    user: str
    up: deque[bytes] = field(default_factory=deque)
    down: deque[bytes] = field(default_factory=deque)
    is_open: bool = True
    arrives: int = 0
    """Frames of `up` that the daemon finds now."""
    room: int = ROOM


class Lines:
    """All connections of a world. They end with the daemon's life."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._number = 0
        self.open: dict[bytes, Connection] = {}

    def connect(self, user: str) -> Connection:
        """A peer is let in."""
        self._number += 1
        made = Connection(PLAIN + self._number.to_bytes(5, "little"), user)
        self.open[made.route] = made
        return made

    def hang_up(self, line: Connection) -> None:
        """It ends. What was on its way up is lost, from some frame on; so is what came down."""
        self.open.pop(line.route, None)
        line.is_open = False
        line.up.clear()
        kept = self._chance.randint(0, len(line.down))
        while len(line.down) > kept:
            line.down.pop()

    def end(self) -> None:
        """The daemon is gone."""
        for line in list(self.open.values()):
            self.hang_up(line)

    def arrive(self) -> list[Connection]:
        """Some frames of some connections have arrived; those that have any."""
        for line in self.open.values():
            line.arrives = self._chance.randint(0, len(line.up))
        return [line for line in self.open.values() if line.arrives]


class Wire:
    """The daemon's end: a `Network` of one life, whose waiting is the world's turn.

    `on_sent` is told of each frame that the daemon sends.
    """

    address, curve_address = "tcp://world", ""

    def __init__(
        self,
        lines: Lines,
        chance: random.Random,
        turn: Callable[[], None],
        between: Callable[[], None],
        on_sent: Callable[[Connection, bytes], None],
    ) -> None:
        self._lines, self._chance = lines, chance
        self._turn, self._between, self._on_sent = turn, between, on_sent
        self._ready: list[Connection] = []

    def opened(self, _settings: Settings, _refusals: Refusals) -> Wire:
        """What a server is given to open its network with."""
        return self

    def wait(self, timeout_ms: int, clock: Clock) -> Sequence[Entrance]:
        self._turn()
        self._ready = self._lines.arrive()
        return [self] if self._ready else []

    def take(self, knows: Callable[[bytes], bool]) -> tuple[bytes, list[bytes], str, int]:
        """Frames of one connection keep their order; those of several come in any."""
        self._between()
        ready = [line for line in self._ready if line.arrives and line.is_open]
        if not ready:
            raise zmq.Again
        line = self._chance.choice(ready)
        line.arrives -= 1
        return line.route, [line.up.popleft()], "" if knows(line.route) else line.user, 1

    def send(self, route: bytes, data: bytes) -> None:
        line = self._lines.open.get(route)
        if line is None:
            raise zmq.ZMQError(zmq.EHOSTUNREACH)
        if len(line.down) >= line.room:
            raise zmq.Again
        line.down.append(data)
        self._on_sent(line, data)

    def cut(self, route: bytes) -> None:
        if line := self._lines.open.get(route):
            self._lines.hang_up(line)

    def look(self) -> Iterator[str]:
        yield from ()

    def wake(self) -> None:
        """Nobody sleeps."""

    def proven(self, route: bytes) -> None:
        """Nothing is held back of who has proved nothing."""

    def change(self, settings: Settings) -> None:
        """Whoever connects here was let in."""

    def close(self) -> None:
        self._lines.end()
