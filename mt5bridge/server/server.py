"""The ROUTER socket's loop: bytes to the terminals' sessions and back."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import replace
from threading import Event
from types import TracebackType
from typing import Any, Self, TypeAlias

import zmq

from mt5bridge import clock as clocks
from mt5bridge.clock import Clock
from mt5bridge.grant import Grant
from mt5bridge.server.authentication import Authenticator
from mt5bridge.server.batch import StreamKey, Trader
from mt5bridge.server.handshakes import Handshakes
from mt5bridge.server.inflow import PART_OVERHEAD_BYTES, Inflow, port_of
from mt5bridge.server.proofs import UNPROVEN
from mt5bridge.server.requests import Request
from mt5bridge.server.settings import BindError, Settings
from mt5bridge.server.sink import Sink
from mt5bridge.server.status import Status
from mt5bridge.server.survey import survey
from mt5bridge.server.terminals import Outgoing, Resumes, Route, Terminals
from mt5bridge.waker import Waker
from mt5bridge.wire import FRAME_BYTES_MAX, Halt, Standing, WireError, encode
from mt5bridge.wire import Event as ComplexEvent

_FRAMES_A_POLL = 256  # taken together; then what they led to, and reminders, get their turn
_REMIND_MS = 50
HANDSHAKE_MS = 10_000
"""From connecting to being let in, after which libzmq hangs up: who says nothing, too little or a
wrong password holds an open file until then. A terminal takes milliseconds, a busy machine more."""
_PARTS_MAX = 16  # a message of more is no mistake

Command: TypeAlias = Callable[[Terminals], object]


class Server:
    """Binds on creation; one thread calls `run` or `poll_once`, which call the sink.

    `resumes` says what of each (identity, stream) is on disk, `traders` which terminals trade.

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
    ) -> None:
        settings.check()
        self.settings = settings
        self.terminals = Terminals(settings, sink, resumes or {}, traders)
        self.sink = sink
        self._clock = clock
        self.since_msc = clock().utc_msc
        self._commands: deque[Command] = deque()
        self._remind_ms = 0
        with ExitStack() as stack:
            self._waker = Waker()
            stack.callback(self._waker.close)
            context: zmq.Context[Any] = zmq.Context()
            stack.callback(context.destroy, 0)
            self._socket = _router(context, settings)
            refusals = self.terminals.refusals
            plain = settings.allow_plain
            words = settings.passwords
            self._authenticator = Authenticator(context, words, refusals, allow_plain=plain)
            self._authenticator.guard(self._socket)
            self._inflow = Inflow(0, settings.message_mib_max << 20)
            most = settings.connections_max
            self._handshakes = Handshakes(self._socket, refusals, self._inflow, most)
            _bind(self._socket, settings.bind)
            self._inflow.port = port_of(self.address)
            self.terminals.proofs.on_proven = self._inflow.proven
            stack.callback(self._socket.close, 0)
            self._open = stack.pop_all()
        self._poller = zmq.Poller()
        self._poller.register(self._socket, zmq.POLLIN)
        self._poller.register(self._waker.fileno(), zmq.POLLIN)
        self._poller.register(self._authenticator.socket, zmq.POLLIN)
        self._poller.register(self._handshakes.socket, zmq.POLLIN)

    @property
    def address(self) -> str:
        """The bound address, with the port that was chosen for `tcp://127.0.0.1:*`."""
        return self._socket.get_string(zmq.LAST_ENDPOINT).rstrip("\0")

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
        self._send(self.terminals.outgoing())
        return refusal

    def ask(self, identity: str, ids: Iterable[int]) -> None:
        """Ask a terminal what became of requests, which are never sent again."""
        self.terminals.ask(identity, ids)

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

    def status(self) -> Status:
        """How this server and its terminals stand."""
        return survey(self.terminals, self.address, self.since_msc, self._clock())

    def change_credentials(self, passwords: dict[str, str], grants: dict[str, Grant]) -> None:
        """Let others in from now on; who is here and may not be any more is sent away."""
        self.settings = replace(self.settings, passwords=passwords, grants=grants)
        self.settings.check()
        self._authenticator.change(passwords)
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
        self._waker.wake()

    def poll_once(self, timeout_ms: int) -> int:
        """Wait for something to do, at most `timeout_ms`, and do it; the frames received."""
        ready = dict(self._poller.poll(timeout_ms))
        if self._waker.fileno() in ready:
            self._waker.reset()
        if self._authenticator.socket in ready:
            self._authenticator.answer(self._clock().ms)
        if self._handshakes.socket in ready:
            self._handshakes.look(self._clock().ms)
        received = self._receive() if self._socket in ready else 0
        self._obey()
        self._remind()
        return received

    def close(self) -> None:
        """Close the socket; unsent frames are dropped, since terminals ask again."""
        self._open.close()

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
        self._waker.wake()

    def _receive(self) -> int:
        """Take all that waits, then let the sink work on it together; the number of frames.

        Work on many frames at once costs little more than on one, so whoever falls behind catches
        up, and what waits stays short.
        """
        now, received = self._clock(), 0
        while received < _FRAMES_A_POLL:
            try:
                route, parts, user = self._take()
            except zmq.Again:
                break
            received += 1
            if answers := self.terminals.receive(route, parts, now, user):
                self._send(answers)
        self.sink.on_taken()
        return received

    def _take(self) -> tuple[Route, list[bytes], str]:
        """One message, who sent it, and, of a stranger, who it was let in as. zmq.Again when none
        waits. Of the parts behind its first, which none may have, nothing is kept; too many of them
        end the connection.
        """
        take, inflow = self._socket.recv, self._inflow
        route, user = take(zmq.NOBLOCK), ""
        if inflow.knows(route) and self.terminals.knows(route):
            parts = [take()]
        else:
            first = take(copy=False)
            parts, user = [first.bytes], _user_of(first)
            if not inflow.knows(route):
                inflow.begin(route, _file_of(first), is_let_in=not user.startswith(UNPROVEN))
        size, more = len(parts[0]) + PART_OVERHEAD_BYTES, 0
        while self._socket.getsockopt(zmq.RCVMORE):
            size += len(take(copy=False)) + PART_OVERHEAD_BYTES
            more += 1
        inflow.took(route, size)
        if more > _PARTS_MAX:
            self.sink.complain("connections_cut", f"{route.hex()}: a message of {more + 1:,} parts")
            inflow.cut(route)
        return route, [*parts, b""] if more else parts, user

    def _obey(self) -> None:
        while self._commands:
            self._commands.popleft()(self.terminals)
        self._send(self.terminals.outgoing())

    def _remind(self) -> None:
        now = self._clock()
        if now.ms >= self._remind_ms:
            self._remind_ms = now.ms + _REMIND_MS
            for route in self.terminals.proofs.overdue(now):
                self._inflow.cut(route)
            for text in self._inflow.look():
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
                self._socket.send_multipart([route, data], zmq.NOBLOCK)
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


def _user_of(frame: zmq.Frame) -> str:
    """Who the authenticator has let in on the connection that a frame has come from."""
    return str(frame.get("User-Id"))


def _file_of(frame: zmq.Frame) -> int:
    """The file of the connection that a frame has come from; -1 where there is none."""
    try:
        return int(frame.get(zmq.SRCFD))
    except (zmq.ZMQError, TypeError, ValueError):
        return -1


def _bind(socket: zmq.Socket[bytes], address: str) -> None:
    try:
        socket.bind(address)
    except zmq.ZMQError as error:
        raise BindError(
            f"cannot listen on {address}: {error}. Is another daemon running? Else use another port"
        ) from None


def _router(context: zmq.Context[Any], settings: Settings) -> zmq.Socket[bytes]:
    socket: zmq.Socket[bytes] = context.socket(zmq.ROUTER)
    socket.linger = 0
    # No handover: a terminal is known by its HELLO, and every connection has its own route.
    socket.router_mandatory = True  # sending to a connection that is gone is told, not swallowed
    socket.rcvhwm = socket.sndhwm = settings.frames_queued_max
    # Somewhat larger frames still get an answer; beyond, libzmq drops the connection.
    socket.maxmsgsize = 4 * FRAME_BYTES_MAX
    socket.handshake_ivl = HANDSHAKE_MS
    # No ZMTP heartbeats: libzmq aborts (`!_io_error`) when one is due on a connection that was lost
    # while its input was stopped by the high-water mark. Sessions have heartbeats of their own.
    socket.tcp_keepalive = 1
    return socket
