"""One terminal's dialog, without sockets: frames and time in, frames out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from mt5bridge.clock import Now
from mt5bridge.grant import ANYTHING, Pace, Role
from mt5bridge.position import Position
from mt5bridge.server.batch import (
    DEALS,
    Batch,
    Funds,
    Gap,
    Outcome,
    StreamKey,
    Trader,
    Watermark,
    owner_of,
    wire_name,
)
from mt5bridge.server.events import EVENTS_A_HEARTBEAT, EventStore, Subscription
from mt5bridge.server.figures import Figures
from mt5bridge.server.names import Names, renamed
from mt5bridge.server.odd import count_batch, difference_text, quality_of
from mt5bridge.server.recount import Agreement
from mt5bridge.server.requests import Request, RequestQueue
from mt5bridge.server.settings import Settings, more_streams
from mt5bridge.server.sink import Sink
from mt5bridge.server.specified import Specified, specified
from mt5bridge.server.stream import Stream, Verdict
from mt5bridge.wire import (
    DEALS_STREAM,
    Account,
    Ack,
    Ask,
    Bye,
    Deals,
    Durable,
    Error,
    ErrorCode,
    Event,
    Frame,
    Halt,
    Heartbeat,
    Hello,
    Lost,
    Mark,
    Order,
    Properties,
    Recount,
    Resend,
    Resume,
    Signal,
    SignalResult,
    Subscribe,
    Subscribed,
    Symbol,
    Symbols,
    Ticks,
    TradeMode,
    Welcome,
    WireError,
    encode,
)

_PUBLISHED = (Ticks, Deals, Lost, Recount, Properties)
TOO_MANY = "too many requests without a result"
UNKNOWN = "no such terminal is known"


class Session:
    """What the daemon knows of one identity; it outlives connections."""

    def __init__(
        self,
        identity: str,
        settings: Settings,
        sink: Sink,
        resume: Mapping[StreamKey, Position] | None = None,
        trader: Trader | None = None,
        has_room: Callable[[], bool] = lambda: True,
    ) -> None:
        self.identity = identity
        self.settings = settings
        self.sink = sink
        self.has_room = has_room  # for one more stream, among those of all terminals
        self.names = Names(settings.aliases.of(identity))
        self.streams = {
            key: Stream.resumed(key, position)
            for key, position in renamed(resume or {}, self.names).items()
        }
        self.streams.setdefault(DEALS, Stream(DEALS))
        self.trades = trader.trades if trader else TradeMode.NONE
        self.symbols: dict[str, Symbol | None] = dict.fromkeys(trader.symbols if trader else ())
        self.told = trader  # what is known of it as a trader
        self.is_noted = trader is not None  # that the sink was told of it
        self.is_renamed = False  # another program will tell its symbols anew
        self.keys: dict[int, StreamKey] = {}  # by stream number, on this connection
        self.ids: dict[StreamKey, int] = {}
        self.behind: set[int] = set()  # stream numbers that may miss something
        self.hello: Hello | None = None
        self.connected = False
        self.heard_ms = 0
        self.figures = Figures()
        self.requests = RequestQueue()
        self.halt: Halt | None = None  # to be told on this connection
        self.grant = ANYTHING  # of who is connected, or was last
        self.pace = Pace()
        self.acked: set[StreamKey] = set()  # streams whose ACK is to be sent
        self.events = EventStore()
        self.wanted: Subscribe | None = None  # on this connection, not begun with yet
        self.subscription: Subscription | None = None  # on this connection

    def connect(self, hello: Hello, session: int, now: Now) -> Welcome:
        """Begin a connection; what the last one agreed on ids is void."""
        self.is_renamed |= self.hello is None or self.hello.instance != hello.instance
        self.hello = hello
        self.trades = hello.trades
        if self.trades is not TradeMode.NONE and self.account not in ("", self.owner):
            self.confirm(self.owner)
        self.figures.greeted(hello, now)
        self.connected = True
        self.heard_ms = now.ms
        self.keys = {DEALS_STREAM: DEALS}
        self.ids = {DEALS: DEALS_STREAM}
        self.acked.clear()
        self.behind.clear()
        self.requests.reconnected()
        self.names.reconnected()
        self.subscription = self.wanted = None
        self.recall()
        for stream in self.streams.values():
            stream.reconnected()
        self._tell_trader()
        return Welcome(
            session=session,
            time_msc=now.utc_msc,
            heartbeat_ms=self.settings.heartbeat_ms,
            timeout_ms=self.settings.timeout_ms,
            window_records=self.settings.window_records,
            program=self.settings.program,
            streams=tuple(_resume(stream) for stream in self.streams.values()),
        )

    def disconnect(self) -> None:
        """The connection is gone; positions and requests stay."""
        self.connected = False
        self.subscription = None

    @property
    def is_stored(self) -> bool:
        """Whether all that was taken is on disk."""
        return all(one.stored == one.expected - 1 for one in self.streams.values())

    @property
    def may_rest(self) -> bool:
        """Whether nobody misses it: it is away, is sent nothing, and the disk knows the rest.

        Who trades and has not said what is sent no signals.
        """
        trades = self.trades is not TradeMode.NONE and self.symbols
        return not (self.connected or trades or self.requests) and self.is_stored

    def rested(self) -> Session:
        """What must be known when it comes back: where its streams stand, and its requests."""
        known = {key: one.durable for key, one in self.streams.items() if one.stored}
        fresh = Session(self.identity, self.settings, self.sink, known, has_room=self.has_room)
        fresh.requests, fresh.told, fresh.is_noted = self.requests, self.told, self.is_noted
        return fresh

    @property
    def is_worth_keeping(self) -> bool:
        """Whether something of it counts when it comes back: records, requests, its account."""
        has_streams = any(one.stored for one in self.streams.values())
        return has_streams or bool(self.requests) or bool(self.is_noted and self.account)

    @property
    def has_published(self) -> bool:
        """Whether records of it were taken."""
        return any(one.expected > 1 for one in self.streams.values())

    def forget(self) -> None:
        """It trades no more, as far as anybody knows, also over a restart."""
        self.trades = TradeMode.NONE
        self.symbols.clear()
        self._note(Trader(self.identity, "", TradeMode.NONE, ()))

    @property
    def account(self) -> str:
        """Names the account that it may trade on, the first it has traded on or the one confirmed
        since; empty: any.
        """
        return self.told.owner if self.told else ""

    def confirm(self, account: str) -> None:
        """It may trade on another account from now on; what was meant for the one before is never
        sent, but asked about when that one is back.
        """
        self.requests.ask(one.id for one in self.requests)
        told = self.told or Trader(self.identity, "", TradeMode.NONE, ())
        self.is_noted = True
        self._note(replace(told, owner=account))

    def silent(self, now: Now) -> bool:
        """Whether nothing was heard for longer than the timeout."""
        return now.ms - self.heard_ms > self.settings.timeout_ms

    def receive(self, frame: Frame, now: Now) -> list[Frame]:
        """Take one frame of the connected terminal; the replies, in order."""
        self.heard_ms = now.ms
        if isinstance(frame, _PUBLISHED) and not self.grant.may(Role.PUBLISH):
            return self._not_allowed("the credential does not have the role `publish`")
        if isinstance(frame, Subscribe) and not self.grant.may(Role.READ):
            return self._not_allowed("the credential does not have the role `read`")
        match frame:
            case Ticks() | Deals():
                return self._receive_records(frame, now)
            case Heartbeat():
                return self._receive_heartbeat(frame, now)
            case Symbols():
                return self._receive_symbols(frame, now)
            case Properties():
                return self._receive_properties(frame, now)
            case Lost():
                return self._receive_lost(frame, now)
            case SignalResult():
                self._receive_result(frame)
            case Recount():
                return self._receive_recount(frame)
            case Account():
                self._receive_account(frame)
            case Subscribe():
                self.wanted = frame
                self._subscribe()
            case Bye():
                self.disconnect()
            case Error():
                self.sink.complain("errors_received", f"{self.identity}: {frame.text!r}")
            case _:
                return [Error.of(ErrorCode.UNEXPECTED_FRAME, f"{type(frame).__name__} is mine")]
        return []

    def acknowledge(self, stream: StreamKey, sequence: int) -> None:
        """A stream is on disk up to `sequence`; the ACK goes out with the next `outgoing`."""
        found = self.streams.get(stream)
        if found is not None and found.acknowledge(sequence):
            self.acked.add(stream)

    def send(self, request: Request) -> str:
        """Queue a signal or order; why not, if not."""
        if refusal := self._refuses(request):
            self.sink.complain("signals_refused", f"{self.identity}: {refusal}")
        else:
            if self.told is not None and not self.is_noted:
                self.is_noted = True
                self._note(self.told)
            self.requests.add(request, self.account)
        return refusal

    def recall(self) -> None:
        """Ask about what waits and is not allowed (any more): it may have been sent before."""
        refused = [one.id for one in self.requests if self.grant.refuses_request(one)]
        if refused:
            text = f"{self.identity}: requests that its credential does not allow: {len(refused)}"
            self.sink.complain("signals_refused", text)
            self.requests.ask(refused)

    def refuses_symbols(self) -> str:
        """Why one of the symbols may not be here; empty if all may."""
        return next(filter(None, map(self.grant.refuses_symbol, self.symbols)), "")

    def outgoing(self) -> list[Frame]:
        """What is due without having been asked: requests and acknowledgements."""
        if not self.connected:
            return []
        frames: list[Frame] = []
        if self.trades is not TradeMode.NONE:
            frames += self._due_halt()
            frames += self._due_requests()
        if self.acked:
            frames += self._ack()
        self._subscribe()
        if self.subscription is not None:
            frames += self._due_events(self.subscription)
        return frames

    def _due_requests(self) -> Iterator[Frame]:
        for request in self.requests.due(self.account):
            named = self.names.to_terminal(request)
            if named is None:
                self.requests.unsent(request)
            else:
                yield named

    def _subscribe(self) -> None:
        """Begin with what is wanted, as soon as it is known which events there are."""
        if self.wanted is not None and not self.events.is_held:
            self.subscription = Subscription(self.events, self.wanted, self.grant.named_account)
            self.wanted = None

    def _due_events(self, subscription: Subscription) -> list[Frame]:
        """13.6: behind everything else, and no more than a slow terminal takes."""
        frames: list[Frame] = [*subscription.due()]
        if dropped := subscription.dropped:
            subscription.dropped = 0
            self.sink.complain("events_left_out", f"{self.identity}: {dropped} were not kept")
            self.sink.count("events_dropped", dropped)
        self.sink.count("events_sent", sum(isinstance(frame, Event) for frame in frames))
        return frames

    def unsent(self, frame: Frame) -> None:
        """The socket had no room for a frame; the terminal asks again for records only."""
        match frame:
            case Halt():
                self.halt = frame
            case Signal() | Order() | Ask():
                self.requests.unsent(frame)
            case Subscribed() | Event() if self.subscription is not None:
                self.subscription.unsent(frame)

    @property
    def owner(self) -> str:
        """Names the account, as far as the terminal has ever said so."""
        return owner_of(self.hello) if self.hello is not None else self.account or self.identity

    def may_trade(self, symbol: str) -> bool:
        """Whether this terminal trades, and this symbol; empty: anything."""
        return self.trades is not TradeMode.NONE and (not symbol or symbol in self.symbols)

    def _refuses(self, request: Request) -> str:
        """Why a request may not be sent; one that waits already was judged."""
        if len(self.requests) >= self.settings.signals_max:
            return TOO_MANY
        if request.id in self.requests:
            return ""
        if refusal := self.grant.refuses_request(request):
            return refusal
        try:
            encode(request)
        except WireError as problem:  # queued, it would end each of the terminal's connections
            return str(problem)
        return self.pace.refuses(request, self.grant.orders_per_minute)

    def _not_allowed(self, refusal: str) -> list[Frame]:
        """12.6: the connection ends, and nothing of the frame is taken."""
        self.disconnect()
        text = f"{self.identity}: {refusal}"
        self.sink.complain("refused_not_allowed", text)
        return [Error.of(ErrorCode.NOT_ALLOWED, text)]

    def _due_halt(self) -> list[Frame]:
        due, self.halt = self.halt, None
        return [due] if due else []

    def _tell_trader(self) -> None:
        is_off = self.trades is TradeMode.NONE
        account = self.account if is_off else self.owner
        trader = Trader(self.identity, account, self.trades, tuple(sorted(self.symbols)))
        is_known = self.told is not None or not is_off
        if trader != self.told and is_known:
            self._note(trader)

    def _note(self, trader: Trader) -> None:
        """Tell who trades, and what. One that has only greeted leaves nothing on the disk: names
        can be made up without end.
        """
        self.told = trader
        if self.is_noted or (self.symbols and trader.trades is not TradeMode.NONE):
            self.is_noted = True
            self.sink.tell_trader(trader)

    def remind(self, now: Now) -> list[Frame]:
        """Requests for what is still missing."""
        if not self.connected:
            return []
        asked = [self._ask(number, self.streams[self.keys[number]], now) for number in self.behind]
        self.behind = {i for i in self.behind if self.streams[self.keys[i]].missing()}
        return [frame for frames in asked for frame in frames]

    def _ack(self) -> list[Frame]:
        known = [(self.ids[key], self.streams[key]) for key in self.acked if key in self.ids]
        self.acked.clear()
        durable = tuple(Durable(number, stream.stored) for number, stream in known)
        return [Ack(durable)] if durable else []

    def _receive_records(self, frame: Ticks | Deals, now: Now) -> list[Frame]:
        stream = self._stream(frame.stream)
        if stream is None:
            return [self._unknown(frame.stream)]
        count = len(frame.records)
        verdict = stream.judge(frame.first, frame.first + count - 1)
        if verdict is Verdict.NEW:
            self._offer(stream, frame, now)
        elif verdict is Verdict.DUPLICATE:
            self.sink.count("duplicates", count)
        else:
            self.sink.count("beyond", count)
        return self._ask(frame.stream, stream, now) if stream.missing() else []

    def _offer(self, stream: Stream, frame: Ticks | Deals, now: Now) -> None:
        known = stream.expected - frame.first
        records = frame.records[known:] if known else frame.records
        if stream.key == DEALS:
            records = self.names.of_deals(records)
        until_msc = now.utc_msc + self.settings.ahead_max_ms
        quality, latest_msc = quality_of(frame, records, stream.latest_msc, until_msc)
        batch = Batch(
            self.identity,
            stream.key,
            stream.expected,
            records,
            quality,
            frame.utc_offset_ms,
            now.utc_msc,
        )
        if known:
            self.sink.count("duplicates", known)
        if not self.sink.take(batch):
            self.sink.complain("refused", f"{self.identity}: records that wait: {len(records)}")
            stream.refuse(batch.last, now.ms)
            return
        stream.take(records, now.ms, quality)
        stream.latest_msc = latest_msc
        count_batch(self.sink, batch)
        self._compare(stream)

    def _receive_heartbeat(self, beat: Heartbeat, now: Now) -> list[Frame]:
        self.figures.beaten(beat, now)
        if self.subscription is not None:
            self.subscription.credit = EVENTS_A_HEARTBEAT
        frames: list[Frame] = []
        for mark in beat.marks:
            stream = self._stream(mark.stream)
            if stream is None:
                return [self._unknown(mark.stream)]
            if mark.passed >= stream.expected:
                # Frames keep their order, so what was sent before this and is not here is missing.
                stream.seen = max(stream.seen, mark.passed)
                frames += self._ask(mark.stream, stream, now)
        self._believe(beat, now)
        marks = tuple(self._mark(stream_id) for stream_id in self.keys)
        return [Heartbeat(beat.token, now.utc_msc, 0, 0, 0, marks), *frames]

    def _believe(self, beat: Heartbeat, now: Now) -> None:
        """8.8: take a promise, unless records that were sent before it are missing."""
        found = Watermark(self.identity, beat.complete_msc, beat.utc_offset_ms)
        is_whole = not any(stream.missing() for stream in self.streams.values())
        if not beat.complete_msc or not is_whole or found.utc_msc <= self.figures.complete_msc:
            return
        if found.utc_msc > now.utc_msc + self.settings.ahead_max_ms:
            text = f"{self.identity}: promises ticks up to {beat.complete_msc} ms of server time"
            self.sink.complain("far_times", f"{text}. Are the clocks of both machines right?")
            return
        self.figures.complete_msc = found.utc_msc
        self.sink.tell_watermark(found)

    def _mark(self, stream_id: int) -> Mark:
        stream = self.streams[self.keys[stream_id]]
        return Mark(stream_id, stream.expected - 1, stream.stored)

    def _receive_symbols(self, frame: Symbols, now: Now) -> list[Frame]:
        if self.is_renamed:
            self.is_renamed = False
            self.symbols.clear()
        refusals = (self.grant.refuses_symbol(self.names.key(s.name)[1]) for s in frame.symbols)
        if refused := self.names.refuses(frame.symbols) or next(filter(None, refusals), ""):
            return self._not_allowed(refused)
        taken: list[Symbol] = []
        for symbol in frame.symbols:
            if refusal := self._refuse_symbol(symbol):
                return [refusal]
            key, known = self.names.key(symbol.name), self.names.take(symbol)
            self.keys[symbol.stream] = key
            self.ids[key] = symbol.stream
            self.symbols[known.name] = known
            taken.append(known)
            stream = self.streams.setdefault(key, Stream(key))
            if stream.stored:
                self.acked.add(key)  # the disk may have gone on since WELCOME
        self._tell_trader()
        if self.hello is not None:
            self.sink.tell_specified(specified(self.hello, self.grant, taken, now.utc_msc))
        return []

    def _receive_properties(self, frame: Properties, now: Now) -> list[Frame]:
        if (key := self.keys.get(frame.stream)) is None:
            return [self._unknown(frame.stream)]
        currency = "" if self.hello is None else self.hello.currency
        self.sink.tell_specified([Specified(self.identity, key[1], frame, now.utc_msc, currency)])
        return []

    def _refuse_symbol(self, symbol: Symbol) -> Error | None:
        key = self.names.key(symbol.name)
        known = self.keys.get(symbol.stream, key)
        if known != key:
            text = f"stream {symbol.stream} is {known[-1]}; {symbol.name} needs another number"
            return Error.of(ErrorCode.UNEXPECTED_FRAME, text)
        number = self.ids.get(key, symbol.stream)
        if number != symbol.stream:  # else numbers without end, each of them in every HEARTBEAT
            text = f"{symbol.name} is stream {number} already, and not {symbol.stream} too"
            return Error.of(ErrorCode.UNEXPECTED_FRAME, text)
        if key not in self.streams and len(self.streams) > self.settings.symbols_max:
            text = f"more than {self.settings.symbols_max} symbols: raise symbols_max"
            return self._limit("symbols_refused", text)
        if key not in self.streams and not self.has_room():
            return self._limit("streams_refused", more_streams(self.settings))
        return None

    def _limit(self, counter: str, text: str) -> Error:
        self.sink.complain(counter, f"{self.identity}: {text}")
        return Error.of(ErrorCode.LIMIT, text)

    def _receive_lost(self, lost: Lost, now: Now) -> list[Frame]:
        stream = self._stream(lost.stream)
        if stream is None:
            return [self._unknown(lost.stream)]
        if lost.first > stream.expected:
            stream.seen = max(stream.seen, lost.last)
            return self._ask(lost.stream, stream, now)
        if lost.last < stream.expected:
            return []
        self._record_gap(stream, lost, now)
        return self._ask(lost.stream, stream, now) if stream.missing() else []

    def _record_gap(self, stream: Stream, lost: Lost, now: Now) -> None:
        gap = Gap(
            self.identity,
            stream.key,
            stream.expected,
            lost.last,
            lost.reason,
            lost.text,
            now.utc_msc,
        )
        name = wire_name(stream.key) or "deals"
        place = f"{self.identity} {name} {gap.first}..{gap.last}"
        if not self.sink.tell_gap(gap):
            self.sink.complain("refused", f"{place}: that they are lost has to wait")
            stream.refuse(gap.last, now.ms)
            return
        self.sink.complain("gaps", f"{place} lost: {lost.reason.name} {lost.text!r}")
        self.sink.count("lost", gap.last - gap.first + 1)
        stream.skip_to(lost.last, now.ms)
        self._compare(stream)

    def _receive_recount(self, recount: Recount) -> list[Frame]:
        stream = self._stream(recount.stream)
        if stream is None:
            return [self._unknown(recount.stream)]
        stream.ledger.recounted(recount)
        self._compare(stream)
        return []

    def _compare(self, stream: Stream) -> None:
        """7.7, 7.8: what recounts show that can be checked now."""
        for found in stream.ledger.checked():
            stream.recounts[found.agreement] += 1
            if found.agreement is Agreement.DIFFERING:
                stream.last_difference = difference_text(found)
                place = f"{self.identity} {wire_name(stream.key)}"
                self.sink.complain("recounts_differing", f"{place}: {stream.last_difference}")
            else:
                self.sink.count(f"recounts_{found.agreement.name.lower()}")

    def _receive_account(self, account: Account) -> None:
        self.figures.account = account
        self.sink.tell_funds(Funds(self.identity, self.owner, account))

    def _receive_result(self, result: SignalResult) -> None:
        was_asked = self.requests.is_asked(result.id)
        self.requests.settle(result, self.owner)
        self.sink.count("signal_results")
        self.sink.tell_outcome(Outcome(self.identity, result, self.owner, was_asked))

    def _ask(self, stream_id: int, stream: Stream, now: Now) -> list[Frame]:
        missing = stream.missing()
        if missing is None:
            return []
        self.behind.add(stream_id)
        if not stream.ask(now.ms, self.settings.resend_after_ms):
            return []
        self.sink.count("resends")
        return [Resend(stream_id, *missing)]

    def _stream(self, stream_id: int) -> Stream | None:
        key = self.keys.get(stream_id)
        return None if key is None else self.streams[key]

    def _unknown(self, stream_id: int) -> Frame:
        self.sink.complain("unknown_streams", f"{self.identity}: stream {stream_id}")
        return Error.of(ErrorCode.UNKNOWN_STREAM, f"stream {stream_id}: send SYMBOLS first")


def _resume(stream: Stream) -> Resume:
    durable = stream.durable
    return Resume(durable.sequence, durable.time_msc, durable.count_at_msc, wire_name(stream.key))
