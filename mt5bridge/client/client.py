"""The terminal's side of the dialog, without sockets: frames and time in, frames out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import Enum
from typing import TypeAlias

from mt5bridge.client.outbox import Outbox
from mt5bridge.clock import Now
from mt5bridge.position import START, Position
from mt5bridge.records import DEAL, Records
from mt5bridge.wire import (
    DEALS_STREAM,
    LASTING,
    Account,
    Ack,
    Ask,
    Entry,
    Error,
    ErrorCode,
    Event,
    Frame,
    Halt,
    Heartbeat,
    Hello,
    Order,
    Properties,
    Recount,
    Resend,
    Signal,
    SignalResult,
    Standing,
    Subscribe,
    Subscribed,
    Symbol,
    Symbols,
    Wanted,
    Welcome,
    encode,
)

_BATCH_RECORDS = 1_000
_ROUND_TRIP_US_MAX = 2**32 - 1

Request: TypeAlias = Signal | Order | Ask
_EVENTS_A_BEAT = 32
"""After so many complex events a heartbeat goes out at once, for more to come (13.6)."""
_TIMEOUT_MS = 5_000  # until WELCOME names another


class ClientState(Enum):
    """Where the dialog stands."""

    OFFLINE = "offline"
    GREETING = "greeting"
    LIVE = "live"
    REFUSED = "refused"


class Client:
    """Sequences, windows, heartbeats and resumption of one terminal."""

    def __init__(self, hello: Hello, batch_records: int = _BATCH_RECORDS) -> None:
        self.state = ClientState.OFFLINE
        self.refusal: Error | None = None
        self.welcome: Welcome | None = None
        self.deals = Outbox(DEALS_STREAM, DEAL)
        self.symbols: dict[str, Symbol] = {}
        self.properties: dict[str, Properties] = {}
        self.ticks: dict[str, Outbox] = {}
        self.requests: list[Request] = []  # received, for the owner to take, in order
        self.halt: Halt | None = None  # the newest one received
        self.events: list[Event] = []  # received, for the owner to take, in order
        self.missed_events = 0  # by their numbers
        self.subscribed: Subscribed | None = None
        self._wanted: tuple[Entry, ...] = ()
        self._known: dict[str, int] = {}  # number of the newest one of each name
        self._taken_events = 0  # since the last heartbeat
        self.round_trip_ms: int | None = None
        self.utc_offset_ms = hello.utc_offset_ms
        self.whole_msc = 0  # UTC; the owner has taken all earlier ticks; 0: nobody knows
        self._hello = hello
        self.batch_records = batch_records
        self._resumes: dict[str, Position] = {}
        self._urgent: list[Frame] = []
        self._turn = 0
        self._heard_ms = self._beat_ms = 0
        self._token = 0
        self._beats: dict[int, int] = {}  # token to the time it was sent

    def add_symbol(self, symbol: Symbol, properties: Properties | None = None) -> None:
        """Publish a symbol; its stream number is set here."""
        stream = len(self.symbols) + 1
        self.symbols[symbol.name] = replace(symbol, stream=stream)
        if properties is not None:
            self.properties[symbol.name] = replace(properties, stream=stream)
        self.ticks[symbol.name] = Outbox(stream)
        if self.welcome is not None:
            self.ticks[symbol.name].begin(self.resume(symbol.name).sequence)
        if self.state is ClientState.LIVE:
            self._announce([self.symbols[symbol.name]])

    def change(self, symbol: str, properties: Properties) -> None:
        """Tell what else there is to know of a symbol, now and on each connection."""
        found = replace(properties, stream=self.symbols[symbol].stream)
        self.properties[symbol] = found
        if self.state is ClientState.LIVE:
            self._urgent.append(found)

    def take_ticks(self, symbol: str, ticks: Records) -> None:
        """Give sequences to ticks new in the tick base; RuntimeError before the first WELCOME."""
        self._check_welcomed()
        self.ticks[symbol].append(ticks, self.utc_offset_ms)

    def take_deals(self, deals: Records) -> None:
        """Give sequences to new deal revisions; RuntimeError before the first WELCOME."""
        self._check_welcomed()
        self.deals.append(deals, self.utc_offset_ms)

    def connected(self, now: Now) -> None:
        """A connection stands: say hello."""
        self.state = ClientState.GREETING
        self.refusal = None
        self._heard_ms = now.ms
        hello = replace(self._hello, time_msc=now.utc_msc, utc_offset_ms=self.utc_offset_ms)
        self._urgent = [hello]

    def disconnected(self) -> None:
        """The connection is gone; everything unacknowledged is kept."""
        self.state = ClientState.OFFLINE
        self._urgent.clear()
        self._beats.clear()

    def silent(self, now: Now) -> bool:
        """Whether the daemon has been silent for so long that the connection is to be dropped."""
        timeout_ms = self.welcome.timeout_ms if self.welcome else _TIMEOUT_MS
        return self.state is not ClientState.OFFLINE and now.ms - self._heard_ms > timeout_ms

    def report(self, result: SignalResult) -> None:
        """Tell what became of a signal; lost when offline, since the daemon asks again."""
        if self.state is ClientState.LIVE:
            self._urgent.append(result)

    def tell(self, state: Account | Recount) -> None:
        """Tell how the account stands, or what an interval holds; left out when offline."""
        if self.state is ClientState.LIVE:
            self._urgent.append(state)

    def subscribe(self, *wanted: Entry) -> None:
        """Ask for complex events, now and on each connection; what was missed comes, too."""
        self._wanted = wanted
        if self.state is ClientState.LIVE:
            self._subscribe()

    def go_on(self, numbering: int, numbers: Mapping[str, int]) -> None:
        """Know complex events from an earlier run: the newest number had of each name.

        WireError (a ValueError) for a number or name that cannot be.
        """
        known = tuple(Standing(number, name, "") for name, number in numbers.items())
        encode(Subscribed(numbering, known))
        self.subscribed, self._known = Subscribed(numbering, known), dict(numbers)

    def resume(self, symbol: str) -> Position:
        """Where the daemon's disk stands in a symbol's ticks, from its last WELCOME."""
        return self._resumes.get(symbol, START)

    def receive(self, frame: Frame, now: Now) -> None:
        """Take one frame of the daemon."""
        self._heard_ms = now.ms
        match frame:
            case Welcome():
                self._welcomed(frame, now)
            case Ack():
                self._acknowledged(frame)
            case Resend():
                if outbox := self.outbox(frame.stream):
                    outbox.rewind(frame.first)
            case Heartbeat():
                self._heard(frame, now)
            case Signal() | Order() | Ask():
                self.requests.append(frame)
            case Halt():
                self.halt = frame
            case Subscribed():
                self._told_standings(frame)
            case Event():
                self._take_event(frame)
            case Error():
                self._refused(frame, now)
            case _:
                text = f"{type(frame).__name__} is the terminal's"
                self._urgent.append(Error.of(ErrorCode.UNEXPECTED_FRAME, text))

    def outgoing(self, now: Now, frames_max: int = 64) -> list[Frame]:
        """What may be sent now: at most `frames_max` frames of records, and what is urgent."""
        self._beat(now)
        frames, self._urgent = self._urgent, []
        if self.state is ClientState.LIVE:
            self._fill(frames, frames_max)
        return frames

    @property
    def unacknowledged(self) -> int:
        """How many records are not known to be on the daemon's disk."""
        return self.deals.unacknowledged + sum(box.unacknowledged for box in self.ticks.values())

    def outbox(self, stream: int) -> Outbox | None:
        """The stream with this number."""
        if stream == DEALS_STREAM:
            return self.deals
        boxes = list(self.ticks.values())
        return boxes[stream - 1] if stream <= len(boxes) else None

    def _check_welcomed(self) -> None:
        if self.welcome is None:
            raise RuntimeError("no WELCOME yet, which tells where the sequences go on")

    def _fill(self, frames: list[Frame], frames_max: int) -> None:
        while frame := self.deals.next_frame(self.batch_records):
            frames.append(frame)
        boxes = list(self.ticks.values())
        window = self.welcome.window_records if self.welcome else 0
        room = window - sum(box.in_flight for box in boxes)
        idle = 0
        while idle < len(boxes) and len(frames) < frames_max and room > 0:
            box = boxes[self._turn % len(boxes)]
            self._turn += 1
            before = box.in_flight
            tick_frame = box.next_frame(min(self.batch_records, room))
            room -= box.in_flight - before
            idle = idle + 1 if tick_frame is None else 0
            if tick_frame is not None:
                frames.append(tick_frame)

    def _beat(self, now: Now) -> None:
        if self.state is not ClientState.LIVE or self.welcome is None:
            return
        wants_more = self._taken_events >= _EVENTS_A_BEAT
        if now.ms - self._beat_ms < self.welcome.heartbeat_ms and not wants_more:
            return
        self._taken_events = 0
        self._beat_ms = now.ms
        self._token += 1
        self._beats = {self._token: now.ms}
        marks = tuple(box.mark() for box in [self.deals, *self.ticks.values()])
        round_trip_us = min(1_000 * (self.round_trip_ms or 0), _ROUND_TRIP_US_MAX)
        offset_ms = self.utc_offset_ms
        self._urgent.append(
            Heartbeat(
                self._token, now.utc_msc, offset_ms, round_trip_us, self._complete_msc(), marks
            )
        )

    def _complete_msc(self) -> int:
        """What a heartbeat promises, server time; 0: nothing."""
        if not self.ticks or not self.whole_msc:
            return 0
        complete = min(box.complete_msc(self.whole_msc) for box in self.ticks.values())
        return complete + self.utc_offset_ms

    def _welcomed(self, welcome: Welcome, now: Now) -> None:
        first = self.welcome is None
        self.state = ClientState.LIVE
        self.welcome = welcome
        self._resumes = {
            stream.name: Position(stream.durable, stream.time_msc, stream.count_at_msc)
            for stream in welcome.streams
        }
        self._beat_ms = now.ms
        for name, outbox in [("", self.deals), *self.ticks.items()]:
            go_on = outbox.begin if first else outbox.resume
            go_on(self.resume(name).sequence)
        self._announce(list(self.symbols.values()))
        if self._wanted:
            self._subscribe()

    def _subscribe(self) -> None:
        known = [Entry(Wanted.KNOWN, number, name) for name, number in self._known.items()]
        numbering = self.subscribed.numbering if self.subscribed else 0
        self._urgent.append(Subscribe(numbering, (*self._wanted, *known)))

    def _told_standings(self, frame: Subscribed) -> None:
        if self.subscribed is None or self.subscribed.numbering != frame.numbering:
            self._known = {name: n for name, n in self._known.items() if name in LASTING}
        for one in frame.events:
            known = self._known.setdefault(one.name, one.number)
            if one.name in LASTING and one.number < known:  # it has begun anew
                self._known[one.name] = one.number
        self.subscribed = frame

    def _take_event(self, event: Event) -> None:
        self._taken_events += 1
        last = self._known.get(event.name, 0)
        if event.number > last:
            if not event.is_of_feed:
                self.missed_events += event.number - last - 1
            self._known[event.name] = event.number
            self.events.append(event)

    def _announce(self, symbols: list[Symbol]) -> None:
        if symbols:
            self._urgent.append(Symbols(tuple(symbols)))
        names = [one.name for one in symbols if one.name in self.properties]
        self._urgent += [self.properties[name] for name in names]

    def _heard(self, beat: Heartbeat, now: Now) -> None:
        if beat.token in self._beats:
            self.round_trip_ms = now.ms - self._beats.pop(beat.token)
        for mark in beat.marks:
            if outbox := self.outbox(mark.stream):
                outbox.acknowledge(mark.passed)

    def _acknowledged(self, ack: Ack) -> None:
        for durable in ack.streams:
            if outbox := self.outbox(durable.stream):
                outbox.acknowledge(durable.sequence)

    def _refused(self, error: Error, now: Now) -> None:
        if error.code in _GREET_AGAIN and self.state is ClientState.LIVE:
            self.connected(now)
        elif error.code in _FINAL:
            self.state = ClientState.REFUSED
            self.refusal = error


_GREET_AGAIN = (ErrorCode.HELLO_FIRST, ErrorCode.UNKNOWN_STREAM)
_FINAL = (
    ErrorCode.WRONG_VERSION,
    ErrorCode.IDENTITY_IN_USE,
    ErrorCode.SUPERSEDED,
    ErrorCode.LIMIT,
    ErrorCode.NOT_ALLOWED,
)
