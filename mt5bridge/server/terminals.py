"""All terminals: which connection speaks for which identity, and who is refused."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from shlex import quote
from typing import TypeAlias, TypeVar

from loguru import logger

from mt5bridge.clock import Now
from mt5bridge.grant import Role
from mt5bridge.position import Position
from mt5bridge.server.batch import StreamKey, Trader, owner_of
from mt5bridge.server.events import EventStore
from mt5bridge.server.proofs import UNPROVEN, Proofs
from mt5bridge.server.refusals import Refusals
from mt5bridge.server.requests import Request
from mt5bridge.server.session import UNKNOWN, Session
from mt5bridge.server.settings import Settings, more_streams
from mt5bridge.server.sink import Sink
from mt5bridge.wire import (
    VERSION,
    Error,
    ErrorCode,
    Frame,
    Halt,
    Heartbeat,
    Hello,
    Reason,
    TradeMode,
    WireError,
    decode,
    version_of,
)

Route: TypeAlias = bytes
Outgoing: TypeAlias = list[tuple[Route, Frame]]
Resumes: TypeAlias = Mapping[tuple[str, StreamKey], Position]  # by identity and stream

_STRANGERS_MAX = 4_096
_Value = TypeVar("_Value")


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
        self.events = EventStore(settings.events_max)
        self.refusals = Refusals(sink)
        self.proofs = Proofs(settings.passwords, self.refusals)
        streams, known = _by_identity(resumes), {trader.identity: trader for trader in traders}
        self.sessions: dict[str, Session] = {}
        self.resting: dict[str, Session] = {}  # known, and counted and listed when it is back
        for identity in sorted(streams.keys() | known.keys()):
            trader = known.get(identity)
            place = self.resting if trader and trader.is_forgotten else self.sessions
            place[identity] = Session(
                identity, settings, sink, streams.get(identity), trader, self._has_room
            )
        self._resting_streams = _streams(self.resting)
        self.names = {identity for identity, _ in resumes} | known.keys()
        """The identities of which something is kept, here, in the spool or in the order journal."""
        self._by_route: dict[Route, Session] = {}
        self._routes: dict[str, Route] = {}
        self._users: dict[Route, str] = {}  # of routes that are somebody's
        self.unconfirmed: dict[str, str] = {}  # accounts of those that may not trade on them yet
        self._confirmed: set[str] = set()  # identities, since the start
        self._strangers: OrderedDict[Route, None] = OrderedDict()
        self._foreign: OrderedDict[Route, int] = OrderedDict()  # who speaks an earlier version
        self._connections = 0

    def knows(self, route: Route) -> bool:
        """Whether a terminal has introduced itself there; else `receive` is told the user."""
        return route in self._by_route

    def receive(self, route: Route, parts: list[bytes], now: Now, user: str = "") -> Outgoing:
        """Take one message of a peer, which was let in as `user`; what to answer, and whom."""
        if not self.proofs.is_proven(route, user):
            answers = self.proofs.take(route, b"".join(parts[:1]), user, now)
            return [(route, answer) for answer in answers]
        user = user.removeprefix(UNPROVEN)
        try:
            frame = decode(_only(parts))
        except WireError as error:
            if error.reason is Reason.WRONG_VERSION:
                self._note_version(route, version_of(parts[0]))
            return [(route, self._bad_frame(route, error))]
        self.sink.counters["frames"] += 1
        if isinstance(frame, Hello):
            return self._hello(route, frame, now, self._users.get(route, user))
        session = self._by_route.get(route)
        if session is None:
            return self._stranger(route)
        try:
            replies = session.receive(frame, now)
        except Exception as problem:  # noqa: BLE001 -- one peer's frame must not stop the others
            return self._fail(session, type(frame).__name__.upper(), problem)
        if not session.connected:
            self._drop(session, "it has ended")
        return [(route, reply) for reply in replies]

    def outgoing(self) -> Outgoing:
        """Requests and acknowledgements that are due."""
        return self._each(Session.outgoing, "what is due")

    def outgoing_of(self, identity: str) -> Outgoing:
        """The same of one terminal: a signal is not to wait until all the others were asked."""
        route = self._routes.get(identity)
        if route is None:
            return []
        return self._said(route, self._by_route[route], Session.outgoing, "what is due")

    def remind(self, now: Now) -> Outgoing:
        """What time makes due; forgets connections that have been silent too long."""
        for session in [session for session in self._by_route.values() if session.silent(now)]:
            self.sink.count("timeouts")
            self._drop(session, f"silent for more than {self.settings.timeout_ms} ms")
        return self._each(lambda session: session.remind(now), "what is missing")

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

    def send(self, identity: str, request: Request) -> str:
        """Queue a signal or order for a terminal; why not, if not.

        One that is not connected now gets it when it is back, and judges whether it has expired.
        """
        session = self._known(identity)
        return session.send(request) if session is not None else UNKNOWN

    def ask(self, identity: str, ids: Iterable[int], account: str = "") -> None:
        """Ask a terminal on an account (empty: any) what became of these requests, which are never
        sent again.
        """
        if session := self._known(identity):
            session.requests.ask(ids, account)

    def confirm(self, identity: str, account: str) -> str:
        """Let a terminal trade on another account than before; why not, if not.

        Only on the one that it came with, so that nothing is confirmed which nobody has seen.
        """
        session, came = self._known(identity), self.unconfirmed.get(identity)
        if came != account:
            return f"{identity} waits for {came or 'no account'}, not for {account}"
        if session is None:
            session = Session(identity, self.settings, self.sink, has_room=self._has_room)
            self.resting[identity] = session
            self._resting_streams = _streams(self.resting)
        if session.connected:
            return f"{identity} is connected with {session.owner}: stop its program first"
        session.confirm(account)
        self._confirmed.add(identity)
        del self.unconfirmed[identity]
        return ""

    def forget(self, identity: str) -> str:
        """Let a terminal that is away go, so that another one has its place; why not, if not.

        It gets no signals any more and is not listed. Where its streams stand stays known: when it
        comes back it is a terminal like any other, and its numbers go on.
        """
        session = self.sessions.get(identity)
        if session is None:
            return f"no terminal {identity} is known"
        if session.connected:
            return f"{identity} is connected: stop its program first"
        if not session.is_stored:
            return f"what {identity} has sent is not on disk yet: try again"
        session.forget()
        self._confirmed.discard(identity)
        self._rest(session)
        return ""

    def failed(self, route: Route, problem: Exception) -> Outgoing:
        """A frame for this connection could not be made; what to answer instead."""
        session = self._by_route.get(route)
        return self._fail(session, "an answer", problem) if session else []

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

    def version(self, route: Route) -> int:
        """3.4: in which version a connection understands an ERROR."""
        return self._foreign.get(route, VERSION)

    def connected(self) -> tuple[str, ...]:
        """The identities now connected."""
        return tuple(self._routes)

    def change_credentials(self, settings: Settings) -> Outgoing:
        """Others are let in from now on: who came as somebody that is gone, or has another password
        or may not be here any more, is told and has to come again.
        """
        before, self.settings = self.settings, settings
        self.proofs.change(settings.passwords)
        found: Outgoing = []
        for route, user in list(self._users.items()):
            session = self._by_route[route]
            session.grant = settings.grant_of(user)
            is_same = before.secrets_of(user) == settings.secrets_of(user)
            refusal = "" if is_same else "the credential was changed or removed"
            if session.hello is not None:
                refusal = refusal or settings.refuses_hello(user, session.hello)
            refusal = refusal or session.refuses_symbols()
            if refusal:
                found.append((route, self._not_allowed(session.identity, user, refusal)))
                self._drop(session, refusal)
            else:
                session.recall()
        return found

    def _not_allowed(self, identity: str, user: str, refusal: str) -> Error:
        return self._refuse(ErrorCode.NOT_ALLOWED, f"{identity}: {refusal} (user {user!r})")

    def _hello(self, route: Route, hello: Hello, now: Now, user: str) -> Outgoing:
        refusal = self.settings.refuses_hello(user, hello) or self._refuses_identity(hello, user)
        if refusal := refusal or self._refuses_account(hello, user):
            if previous := self._by_route.get(route):
                self._drop(previous, "it says to be another one")
            refused = (route, self._not_allowed(hello.identity, user, refusal))
            return [*self._probe(hello.identity, route, now), refused]
        session = self.sessions.get(hello.identity) or self._admitted(hello.identity)
        if session is None:
            return [(route, self._too_many(hello.identity))]
        if self._in_use(session, route, hello, now):
            text = f"{hello.identity} is connected already: give each terminal its own identity"
            refused = (route, self._refuse(ErrorCode.IDENTITY_IN_USE, text))
            return [*self._probe(hello.identity, route, now), refused]
        return self._bind(route, session, hello, now, user)

    def _probe(self, identity: str, route: Route, now: Now) -> Outgoing:
        """What the socket cannot send, and tells so, if an older connection is dead."""
        older = self._routes.get(identity, route)
        return [] if older == route else [(older, Heartbeat(0, now.utc_msc, 0, 0, 0, ()))]

    def _refuses_identity(self, hello: Hello, user: str) -> str:
        """12.6: why who may not trade or publish may not come as one that does; empty if it may.

        It would keep that terminal out, and have it known as one that trades no more.
        """
        known, grant = self._known(hello.identity), self.settings.grant_of(user)
        if known is None or grant.may(Role.TRADE):
            return ""
        own = f"come as another identity, such as {user}/dashboard"
        if known.told is not None and known.told.trades is not TradeMode.NONE:
            forget = f"`mt5cep terminals forget {quote(known.identity)}` if it is to trade no more"
            return f"it trades, and the credential has not the role `trade`: {own}, or {forget}"
        if known.has_published and not grant.may(Role.PUBLISH):
            return f"it publishes, and the credential has not the role `publish`: {own}"
        return ""

    def _refuses_account(self, hello: Hello, user: str) -> str:
        """12.7: why a terminal that trades may not come with this account; empty if it may."""
        identity, came = hello.identity, owner_of(hello)
        session = self._known(identity)
        known = session.account if session is not None else ""
        is_named = self.settings.grant_of(user).names_account(hello)
        is_allowed = bool(hello.demo) or user in self.settings.grants  # which says so expressly
        is_first = not known and is_allowed
        self.unconfirmed.pop(identity, None)
        if hello.trades is TradeMode.NONE or known == came or is_first or is_named:
            return ""
        self._note_unconfirmed(identity, came)
        remedy = f"`mt5cep terminals confirm {quote(identity)} {quote(came)}` at the daemon"
        if not known:
            return (
                f"account {came} is a real one, and nobody has said that it trades there: run "
                f"{remedy}, or give it a credential with --account and --allow-real"
            )
        return (
            f"it has traded on account {known} and comes with {came}: log in to {known}, give this "
            "terminal an identity of its own, or, if the account was changed on purpose, run "
            f"{remedy}"
        )

    def _note_unconfirmed(self, identity: str, account: str) -> None:
        """As many as there may be terminals, the newest: identities may be made up without end."""
        self.unconfirmed[identity] = account
        while len(self.unconfirmed) > self.settings.terminals_max:
            del self.unconfirmed[next(iter(self.unconfirmed))]

    def _known(self, identity: str) -> Session | None:
        return self.sessions.get(identity) or self.resting.get(identity)

    def _admitted(self, identity: str) -> Session | None:
        """A session for who has none, or comes back; None when nobody makes room for it."""
        if self._is_beyond(identity) or (identity not in self.resting and not self._has_room()):
            return None
        if len(self.sessions) >= self.settings.terminals_max:
            away = [session for session in self.sessions.values() if session.may_rest]
            if not away:
                return None
            self._rest(min(away, key=lambda session: session.heard_ms))
        session = self.resting.pop(identity, None)
        session = session or Session(identity, self.settings, self.sink, has_room=self._has_room)
        self.sessions[identity] = session
        self.names.add(identity)
        self._resting_streams = _streams(self.resting)
        return session

    def _is_beyond(self, identity: str) -> bool:
        """Whether it is one name too many: they can be made up without end."""
        return identity not in self.names and len(self.names) >= self.settings.identities_max

    def _too_many(self, identity: str) -> Error:
        """Which limit keeps it out, and what to do."""
        wanted = self.settings
        if self._is_beyond(identity):
            counter = "identities_refused"
            text = f"more than {wanted.identities_max} identities: raise identities_max, or give "
            text += "terminals the identities that they had"
        elif identity not in self.resting and not self._has_room():
            counter, text = "streams_refused", more_streams(wanted)
        else:
            counter = "refused_limit"
            text = f"connected or trading: {wanted.terminals_max} already; raise terminals_max, or "
            text += "forget one"
        self.sink.complain(counter, f"{identity}: {text}")
        return Error.of(ErrorCode.LIMIT, f"{identity}: {text}")

    def _has_room(self) -> bool:
        """Whether there may be one more stream."""
        return _streams(self.sessions) + self._resting_streams < self.settings.streams_max

    def _rest(self, session: Session) -> None:
        """Give a place away; who never sent anything and has nothing to do is not kept at all."""
        rested = session.rested()
        del self.sessions[session.identity]
        if rested.is_worth_keeping or session.identity in self._confirmed:
            self.resting[session.identity] = rested
            self._resting_streams = _streams(self.resting)
        elif not session.figures.has_told:
            self.names.discard(session.identity)
        logger.info("{} has made room", session.identity)

    def _in_use(self, session: Session, route: Route, hello: Hello, now: Now) -> bool:
        if not session.connected or session.silent(now) or session.hello is None:
            return False
        same_program = session.hello.instance == hello.instance
        return self._routes[session.identity] != route and not same_program

    def _bind(self, route: Route, session: Session, hello: Hello, now: Now, user: str) -> Outgoing:
        self._strangers.pop(route, None)
        self._foreign.pop(route, None)
        previous = self._by_route.pop(route, None)
        if previous is not None and previous is not session:
            self._drop(previous, "its connection changed identity")
        replies: Outgoing = []
        old_route = self._routes.get(session.identity, route)
        if old_route != route:
            self._by_route.pop(old_route, None)
            self._users.pop(old_route, None)
            replies.append(
                (old_route, Error.of(ErrorCode.SUPERSEDED, "another connection took over"))
            )
        self._by_route[route] = session
        self._routes[session.identity] = route
        self._users[route] = user
        session.grant = self.settings.grant_of(user)
        self._connections += 1
        self.sink.count("connections")
        logger.info("{} connected: {!r} {!r}", session.identity, hello.broker, hello.program)
        session.halt, session.events = self.halt, self.events
        try:
            return [*replies, (route, session.connect(hello, self._connections, now))]
        except Exception as problem:  # noqa: BLE001 -- as in receive()
            return [*replies, *self._fail(session, "HELLO", problem)]

    def _drop(self, session: Session, why: str) -> None:
        session.disconnect()
        route = self._routes.pop(session.identity, None)
        if route is not None:
            self._by_route.pop(route, None)
            self._users.pop(route, None)
        logger.info("{} disconnected: {}", session.identity, why)

    def _each(self, call: Callable[[Session], list[Frame]], what: str) -> Outgoing:
        """What all connected sessions say to something."""
        found: Outgoing = []
        for route, session in list(self._by_route.items()):
            found += self._said(route, session, call, what)
        return found

    def _said(
        self, route: Route, session: Session, call: Callable[[Session], list[Frame]], what: str
    ) -> Outgoing:
        try:
            return [(route, frame) for frame in call(session)]
        except Exception as problem:  # noqa: BLE001 -- as in receive()
            return self._fail(session, what, problem)

    def _fail(self, session: Session, what: str, problem: Exception) -> Outgoing:
        """End one connection for a fault of ours, which its log entry shows; raise what is not.

        HELLO is not asked for: who came back at once would fail again at once.
        """
        if self.sink.has_failed:
            raise problem
        name = type(problem).__name__
        times = self.sink.counters["sessions_failed"] + 1
        if times & (times - 1) == 0:
            logger.opt(exception=problem).error("{}: {} failed", session.identity, what)
        text = f"{what} could not be handled: {name}: {problem}"
        self.sink.complain("sessions_failed", f"{session.identity}: {text}")
        route = self._routes.get(session.identity)
        self._drop(session, f"{what} failed")
        if route is None:
            return []
        self._note_stranger(route)
        return [(route, Error.of(ErrorCode.BAD_FRAME, f"{text}; the daemon's log has the details"))]

    def _stranger(self, route: Route) -> Outgoing:
        self.sink.count("strangers")
        if route in self._strangers:
            return []
        self._note_stranger(route)
        return [(route, Error.of(ErrorCode.HELLO_FIRST, "send HELLO first"))]

    def _note_version(self, route: Route, version: int) -> None:
        if 0 < version < VERSION and route not in self._by_route:
            _note(self._foreign, route, version)

    def _note_stranger(self, route: Route) -> None:
        """From now on, silence is the answer to all but HELLO."""
        _note(self._strangers, route, None)

    def _refuse(self, code: ErrorCode, text: str) -> Error:
        self.sink.complain(f"refused_{code.name.lower()}", text)
        return Error.of(code, text)

    def _bad_frame(self, route: Route, error: WireError) -> Error:
        session = self._by_route.get(route)
        name = session.identity if session else route.hex()
        self.sink.complain(f"bad_frames_{error.reason}", f"{name}: {error.detail}")
        wrong = error.reason is Reason.WRONG_VERSION
        return Error.of(ErrorCode.WRONG_VERSION if wrong else ErrorCode.BAD_FRAME, str(error))


def _note(known: OrderedDict[Route, _Value], route: Route, value: _Value) -> None:
    """Remember something of a route that is nobody's; of too many, not of the first."""
    known[route] = value
    if len(known) > _STRANGERS_MAX:
        known.popitem(last=False)


def _by_identity(resumes: Resumes) -> dict[str, dict[StreamKey, Position]]:
    found: dict[str, dict[StreamKey, Position]] = {}
    for (identity, stream), position in resumes.items():
        if stream[0] in ("ticks", "deals"):
            found.setdefault(identity, {})[stream] = position
    return found


def _streams(sessions: Mapping[str, Session]) -> int:
    return sum(len(session.streams) for session in sessions.values())


def _only(parts: list[bytes]) -> bytes:
    if len(parts) != 1:
        raise WireError(Reason.MULTIPART, "several message parts, a frame is one")
    return parts[0]
