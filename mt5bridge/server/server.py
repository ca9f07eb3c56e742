"""The ROUTER socket's loop: bytes to the terminals' sessions and back."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace
from threading import Event
from types import TracebackType
from typing import Self, TypeAlias

import zmq

from mt5bridge import clock as clocks
from mt5bridge.clock import Clock
from mt5bridge.server.batch import StreamKey, Trader
from mt5bridge.server.door import PARTS_MAX
from mt5bridge.server.feeds import Feeds
from mt5bridge.server.requests import Request
from mt5bridge.server.settings import Settings
from mt5bridge.server.sink import Sink
from mt5bridge.server.sockets import Entrance, OpenNetwork, Sockets
from mt5bridge.server.status import Status
from mt5bridge.server.survey import survey
from mt5bridge.server.terminals import Outgoing, Resumes, Route, Terminals
from mt5bridge.wire import Event as ComplexEvent
from mt5bridge.wire import Halt, Standing, WireError, encode

_FRAMES_A_POLL = 256  # taken together; then what they led to, and reminders, get their turn
_REMIND_MS = 50

Command: TypeAlias = Callable[[Terminals], object]


class Server:
    """Binds on creation; one thread calls `run` or `poll_once`, which call the sink.

    `resumes` says what of each (identity, stream) is on disk, `traders` which terminals trade;
    `network` opens what it is connected by.

    `acknowledge`, `send`, `wake` and `counters` may be called from any thread; `send_now`, `ask`,
    `forget`, `confirm`, `halt`, `tell_rules`, `publish`, `status` and what tells of terminals
    belong to the server's thread, in which the sink is called.
    """

    def __init__(
        self,
        settings: Settings,
        sink: Sink,
        resumes: Resumes | None = None,
        clock: Clock = clocks.now,
        traders: Iterable[Trader] = (),
        network: OpenNetwork = Sockets,
    ) -> None:
        settings.check()
        self.settings = settings
        self.terminals = Terminals(settings, sink, resumes or {}, traders)
        self.sink = sink
        self._clock = clock
        self.since_msc = clock().utc_msc
        self._commands: deque[Command] = deque()
        self._remind_ms = 0
        self.network = network(settings, self.terminals.refusals)
        self.terminals.proofs.on_proven = self.network.proven

    @property
    def address(self) -> str:
        """The bound address, with the port that was chosen for `tcp://127.0.0.1:*`."""
        return self.network.address

    @property
    def curve_address(self) -> str:
        """The same for connections by CURVE; empty when there are none."""
        return self.network.curve_address

    def acknowledge(self, identity: str, stream: StreamKey, sequence: int) -> None:
        """A stream is on disk up to `sequence`."""
        self._command(lambda terminals: terminals.acknowledge(identity, stream, sequence))

    def traders(self, symbol: str, identity: str | None = None) -> tuple[str, ...]:
        """Who trades a symbol (empty: anything), connected now or not; only `identity` if given."""
        return self.terminals.traders(symbol, identity)

    def owner(self, identity: str) -> str:
        """Names the account behind a terminal, as far as it has said so."""
        return self.terminals.owner(identity)

    def clock_difference_ms(self, identity: str) -> int | None:
        """How far a terminal's clock is ahead of ours; None before it has told its time."""
        return self.terminals.clock_difference_ms(identity)

    def send(self, identity: str, request: Request) -> None:
        """Send a signal or order to a terminal, at once or when it is back."""
        self._command(lambda terminals: terminals.send(identity, request))

    def send_now(self, identity: str, request: Request) -> str:
        """The same without delay; why it is not sent, if not."""
        refusal = self.terminals.send(identity, request)
        self._send(self.terminals.outgoing_of(identity))
        return refusal

    def ask(self, identity: str, ids: Iterable[int], account: str = "") -> None:
        """Ask a terminal, when it is on an account (empty: on any), what became of requests, which
        are never sent again.
        """
        self.terminals.ask(identity, ids, account)

    def confirm(self, identity: str, account: str) -> str:
        """Let a terminal trade on another account than before; why not, if not."""
        return self.terminals.confirm(identity, account)

    def forget(self, identity: str) -> str:
        """Let a terminal that is away go; why not, if not."""
        return self.terminals.forget(identity)

    def halt(self, halted: bool, reason: str) -> None:
        """Turn the kill switch of all terminals that trade."""
        self.terminals.set_halt(Halt(int(halted), reason))
        self._send(self.terminals.outgoing())

    def hold_events(self) -> None:
        """Let who wants complex events or feeds wait for `tell_rules`: not all are known yet."""
        self.terminals.events.is_held = True

    @property
    def holds_events(self) -> bool:
        """Whether they wait."""
        return self.terminals.events.is_held

    def tell_rules(self, numbering: int, standings: Iterable[Standing]) -> None:
        """Which complex events there are, numbered since when, to those who want some."""
        self.terminals.events.begin(numbering, standings)
        self._send(self.terminals.outgoing())

    def publish(self, events: Iterable[ComplexEvent]) -> None:
        """Send complex events to those who want them, as fast as they take them.

        WireError when one is no frame.
        """
        for event in events:
            self.terminals.events.add(event)
        self._send(self.terminals.outgoing())

    @property
    def feeds(self) -> Feeds:
        """What those who want some get from disk."""
        return self.terminals.events.feeds

    def status(self) -> Status:
        """How this server and its terminals stand."""
        return survey(self.terminals, self.address, self.since_msc, self._clock())

    def change_credentials(self, settings: Settings) -> None:
        """Let others in from now on; who is here and may not be any more is sent away."""
        self.settings = replace(
            self.settings,
            passwords=settings.passwords,
            grants=settings.grants,
            curve_keys=settings.curve_keys,
        )
        self.settings.check()
        self.network.change(self.settings)
        self._send(self.terminals.change_credentials(self.settings))

    def counters(self) -> dict[str, int]:
        """A copy of the counters."""
        return dict(self.sink.counters)

    def run(self, stop: Event) -> None:
        """Poll until `stop` is set; `wake` makes it look."""
        while not stop.is_set():
            self.poll_once(_REMIND_MS)

    def wake(self) -> None:
        """End a waiting `poll_once`."""
        self.network.wake()

    def poll_once(self, timeout_ms: int) -> int:
        """Wait for something to do, at most `timeout_ms`, and do it; the frames received."""
        received = sum(map(self._receive, self.network.wait(timeout_ms, self._clock)))
        if received:
            self.sink.on_taken()
        self._obey()
        self._remind()
        return received

    def close(self) -> None:
        """Close the socket; unsent frames are dropped, since terminals ask again."""
        self.network.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _command(self, command: Command) -> None:
        self._commands.append(command)
        self.network.wake()

    def _receive(self, door: Entrance) -> int:
        """Take all that waits, then let the sink work on it together; the number of frames.

        Work on many frames at once costs little more than on one, so whoever falls behind catches
        up, and what waits stays short.
        """
        now, received = self._clock(), 0
        while received < _FRAMES_A_POLL:
            try:
                route, parts, user, count = door.take(self.terminals.knows)
            except zmq.Again:
                break
            if count > PARTS_MAX + 1:
                self.sink.complain(
                    "connections_cut", f"{route.hex()}: a message of {count:,} parts"
                )
            received += 1
            if answers := self.terminals.receive(route, parts, now, user):
                self._send(answers)
        return received

    def _obey(self) -> None:
        while self._commands:
            self._commands.popleft()(self.terminals)
        self._send(self.terminals.outgoing())

    def _remind(self) -> None:
        now = self._clock()
        if now.ms >= self._remind_ms:
            self._remind_ms = now.ms + _REMIND_MS
            for route in self.terminals.proofs.overdue(now):
                self.network.cut(route)
            for text in self.network.look():
                self.sink.complain("connections_cut", text)
            self._send(self.terminals.remind(now))

    def _send(self, outgoing: Outgoing) -> None:
        full: set[Route] = set()
        for route, frame in outgoing:
            if route in full:  # nothing overtakes: orders come behind the halt before them
                self.terminals.unsent(route, frame)
                continue
            try:
                data = encode(frame, self.terminals.version(route))
                self.network.send(route, data)
            except WireError as problem:
                self._send(self.terminals.failed(route, problem))
            except zmq.Again:
                full.add(route)
                self.sink.count("unsent")
                self.terminals.unsent(route, frame)
            except zmq.ZMQError as error:
                if error.errno != zmq.EHOSTUNREACH:
                    raise
                self.terminals.gone(route)
