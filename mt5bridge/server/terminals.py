"""All terminals: which connection speaks for which identity, and who is refused."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from loguru import logger

from mt5bridge.clock import Now
from mt5bridge.position import Position
from mt5bridge.server.batch import StreamKey, Trader
from mt5bridge.server.requests import Request
from mt5bridge.server.session import Session
from mt5bridge.server.settings import Settings
from mt5bridge.server.sink import Sink
from mt5bridge.wire import (
    Error,
    ErrorCode,
    Frame,
    Halt,
    Heartbeat,
    Hello,
    Reason,
    WireError,
    decode,
)

Route: TypeAlias = bytes
Outgoing: TypeAlias = list[tuple[Route, Frame]]
Resumes: TypeAlias = Mapping[tuple[str, StreamKey], Position]  # by identity and stream

_STRANGERS_MAX = 4_096


class Terminals:
    """Sessions by identity and by route, without sockets."""

    def __init__(
        self,
        settings: Settings,
        sink: Sink,
        resumes: Resumes,
        traders: Iterable[Trader] = (),
    ) -> None:
        self.settings = settings
        self.sink = sink
        self.halt: Halt | None = None  # None: it was never on
        streams, known = _by_identity(resumes), {trader.identity: trader for trader in traders}
        self.sessions = {
            identity: Session(identity, settings, sink, streams.get(identity), known.get(identity))
            for identity in sorted(streams.keys() | known.keys())
        }
        self._by_route: dict[Route, Session] = {}
        self._routes: dict[str, Route] = {}
        self._strangers: OrderedDict[Route, None] = OrderedDict()
        self._connections = 0

    def receive(self, route: Route, parts: list[bytes], now: Now) -> Outgoing:
        """Take one message of a peer; what to answer, and whom."""
        try:
            frame = decode(_only(parts))
        except WireError as error:
            return [(route, self._bad_frame(route, error))]
        self.sink.counters["frames"] += 1
        if isinstance(frame, Hello):
            return self._hello(route, frame, now)
        session = self._by_route.get(route)
        if session is None:
            return self._stranger(route)
        replies = session.receive(frame, now)
        if not session.connected:
            self._drop(session, "said goodbye")
        return [(route, reply) for reply in replies]

    def outgoing(self) -> Outgoing:
        """Requests and acknowledgements that are due."""
        return [
            (route, frame)
            for route, session in self._by_route.items()
            for frame in session.outgoing()
        ]

    def remind(self, now: Now) -> Outgoing:
        """What time makes due; forgets connections that have been silent too long."""
        for session in [session for session in self._by_route.values() if session.silent(now)]:
            self.sink.count("timeouts")
            self._drop(session, f"silent for more than {self.settings.timeout_ms} ms")
        due = [(session, session.remind(now)) for session in self.sessions.values()]
        return [
            (self._routes[session.identity], frame) for session, frames in due for frame in frames
        ]

    def acknowledge(self, identity: str, stream: StreamKey, sequence: int) -> None:
        """A stream is on disk up to `sequence`."""
        if session := self.sessions.get(identity):
            session.acknowledge(stream, sequence)

    def traders(self, symbol: str, identity: str | None = None) -> tuple[str, ...]:
        """Who trades a symbol (empty: anything), connected now or not; only `identity` if given."""
        return tuple(
            name
            for name, session in self.sessions.items()
            if identity in (None, name) and session.may_trade(symbol)
        )

    def send(self, identity: str, request: Request) -> bool:
        """Queue a signal or order for a terminal; False when it has too many, or is unknown.

        One that is not connected now gets it when it is back, and judges whether it has expired.
        """
        session = self.sessions.get(identity)
        return session is not None and session.send(request)

    def ask(self, identity: str, ids: Iterable[int]) -> None:
        """Ask a terminal what became of these requests, which are never sent again."""
        if session := self.sessions.get(identity):
            session.requests.ask(ids)

    def set_halt(self, halt: Halt) -> None:
        """The kill switch: told to all that trade, now and whenever they connect."""
        self.halt = halt
        for session in self.sessions.values():
            session.halt = halt

    def owner(self, identity: str) -> str:
        """Names the account behind a terminal, as far as it has said so."""
        session = self.sessions.get(identity)
        return session.owner if session else identity

    def clock_difference_ms(self, identity: str) -> int | None:
        """How far a terminal's clock is ahead of ours; None before it has told its time."""
        session = self.sessions.get(identity)
        return session.figures.clock_difference_ms if session else None

    def gone(self, route: Route) -> None:
        """The socket does not know this connection any more."""
        if session := self._by_route.get(route):
            self._drop(session, "connection is gone")

    def unsent(self, route: Route, frame: Frame) -> None:
        """The socket had no room for a frame."""
        if session := self._by_route.get(route):
            session.unsent(frame)

    def connected(self) -> tuple[str, ...]:
        """The identities now connected."""
        return tuple(self._routes)

    def _hello(self, route: Route, hello: Hello, now: Now) -> Outgoing:
        session = self.sessions.get(hello.identity)
        if session is None:
            if len(self.sessions) >= self.settings.terminals_max:
                text = f"more than {self.settings.terminals_max} terminals: raise terminals_max"
                return [(route, self._refuse(ErrorCode.LIMIT, text))]
            session = Session(hello.identity, self.settings, self.sink)
            self.sessions[hello.identity] = session
        if self._in_use(session, route, hello, now):
            text = f"{hello.identity} is connected already: give each terminal its own identity"
            # If the older connection is dead, the socket tells so when it cannot send this.
            probe = (self._routes[session.identity], Heartbeat(0, now.utc_msc, 0, 0, ()))
            return [probe, (route, self._refuse(ErrorCode.IDENTITY_IN_USE, text))]
        return self._bind(route, session, hello, now)

    def _in_use(self, session: Session, route: Route, hello: Hello, now: Now) -> bool:
        if not session.connected or session.silent(now) or session.hello is None:
            return False
        same_program = session.hello.instance == hello.instance
        return self._routes[session.identity] != route and not same_program

    def _bind(self, route: Route, session: Session, hello: Hello, now: Now) -> Outgoing:
        self._strangers.pop(route, None)
        previous = self._by_route.pop(route, None)
        if previous is not None and previous is not session:
            self._drop(previous, "its connection changed identity")
        replies: Outgoing = []
        old_route = self._routes.get(session.identity, route)
        if old_route != route:
            self._by_route.pop(old_route, None)
            replies.append(
                (old_route, Error.of(ErrorCode.SUPERSEDED, "another connection took over"))
            )
        self._by_route[route] = session
        self._routes[session.identity] = route
        self._connections += 1
        self.sink.count("connections")
        logger.info("{} connected: {!r} {!r}", session.identity, hello.broker, hello.program)
        session.halt = self.halt
        return [*replies, (route, session.connect(hello, self._connections, now))]

    def _drop(self, session: Session, why: str) -> None:
        session.disconnect()
        route = self._routes.pop(session.identity, None)
        if route is not None:
            self._by_route.pop(route, None)
        logger.info("{} disconnected: {}", session.identity, why)

    def _stranger(self, route: Route) -> Outgoing:
        self.sink.count("strangers")
        if route in self._strangers:
            return []
        self._strangers[route] = None
        if len(self._strangers) > _STRANGERS_MAX:
            self._strangers.popitem(last=False)
        return [(route, Error.of(ErrorCode.HELLO_FIRST, "send HELLO first"))]

    def _refuse(self, code: ErrorCode, text: str) -> Error:
        self.sink.complain(f"refused_{code.name.lower()}", text)
        return Error.of(code, text)

    def _bad_frame(self, route: Route, error: WireError) -> Error:
        session = self._by_route.get(route)
        name = session.identity if session else route.hex()
        self.sink.complain(f"bad_frames_{error.reason}", f"{name}: {error.detail}")
        wrong = error.reason is Reason.WRONG_VERSION
        return Error.of(ErrorCode.WRONG_VERSION if wrong else ErrorCode.BAD_FRAME, str(error))


def _by_identity(resumes: Resumes) -> dict[str, dict[StreamKey, Position]]:
    found: dict[str, dict[StreamKey, Position]] = {}
    for (identity, stream), position in resumes.items():
        if stream[0] in ("ticks", "deals"):
            found.setdefault(identity, {})[stream] = position
    return found


def _only(parts: list[bytes]) -> bytes:
    if len(parts) != 1:
        raise WireError(Reason.MULTIPART, f"{len(parts)} message parts, a frame is one")
    return parts[0]
