"""One terminal's dialog, without sockets: frames and time in, frames out."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mt5bridge.clock import Now
from mt5bridge.position import Position
from mt5bridge.records import Records
from mt5bridge.server.batch import DEALS, Batch, Gap, Outcome, StreamKey, ticks_of, wire_name
from mt5bridge.server.settings import Settings
from mt5bridge.server.signals import SignalQueue
from mt5bridge.server.sink import Sink
from mt5bridge.server.stream import Stream, Verdict
from mt5bridge.validate import QualityArray, quality_counts, tick_quality
from mt5bridge.wire import (
    DEALS_STREAM,
    Ack,
    Bye,
    Deals,
    Durable,
    Error,
    ErrorCode,
    Frame,
    Heartbeat,
    Hello,
    Lost,
    Mark,
    Resend,
    Resume,
    Signal,
    SignalResult,
    Symbol,
    Symbols,
    Ticks,
    Welcome,
)


class Session:
    """What the daemon knows of one identity; it outlives connections."""

    def __init__(
        self,
        identity: str,
        settings: Settings,
        sink: Sink,
        resume: Mapping[StreamKey, Position] | None = None,
    ) -> None:
        self.identity = identity
        self.settings = settings
        self.sink = sink
        self.streams = {
            key: Stream.resumed(key, position) for key, position in (resume or {}).items()
        }
        self.streams.setdefault(DEALS, Stream(DEALS))
        self.symbols: dict[str, Symbol] = {}
        self.keys: dict[int, StreamKey] = {}  # by stream number, on this connection
        self.ids: dict[StreamKey, int] = {}
        self.behind: set[int] = set()  # stream numbers that may miss something
        self.hello: Hello | None = None
        self.connected = False
        self.heard_ms = 0
        self.signals = SignalQueue()
        self.acked: set[StreamKey] = set()  # streams whose ACK is to be sent

    def connect(self, hello: Hello, session: int, now: Now) -> Welcome:
        """Begin a connection; what the last one agreed on ids is void."""
        self.hello = hello
        self.connected = True
        self.heard_ms = now.ms
        self.keys = {DEALS_STREAM: DEALS}
        self.ids = {DEALS: DEALS_STREAM}
        self.acked.clear()
        self.behind.clear()
        self.signals.reconnected()
        for stream in self.streams.values():
            stream.reconnected()
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
        """The connection is gone; positions and signals stay."""
        self.connected = False

    def silent(self, now: Now) -> bool:
        """Whether nothing was heard for longer than the timeout."""
        return now.ms - self.heard_ms > self.settings.timeout_ms

    def receive(self, frame: Frame, now: Now) -> list[Frame]:
        """Take one frame of the connected terminal; the replies, in order."""
        self.heard_ms = now.ms
        match frame:
            case Ticks() | Deals():
                return self._receive_records(frame, now)
            case Heartbeat():
                return self._receive_heartbeat(frame, now)
            case Symbols():
                return self._receive_symbols(frame)
            case Lost():
                return self._receive_lost(frame, now)
            case SignalResult():
                self._receive_result(frame)
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

    def send(self, signal: Signal) -> bool:
        """Queue a signal; False when too many are without a result."""
        if len(self.signals) >= self.settings.signals_max:
            self.sink.complain("signals_refused", f"{self.identity}: too many without a result")
            return False
        self.signals.add(signal)
        return True

    def outgoing(self) -> list[Frame]:
        """What is due without having been asked: signals and acknowledgements."""
        if not self.connected:
            return []
        frames: list[Frame] = [*self.signals.due()]
        if self.acked:
            frames += self._ack()
        return frames

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
        durable = tuple(Durable(number, stream.durable.sequence) for number, stream in known)
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
        records = frame.records[known:]
        quality, latest_msc = _quality(frame, records, stream.latest_msc)
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
        if not self.sink.on_batch(batch):
            self.sink.complain("refused", f"{self.identity}: {len(records)} records wait")
            stream.refuse(batch.last, now.ms)
            return
        stream.take(records, now.ms)
        stream.latest_msc = latest_msc
        self._count_batch(batch)

    def _count_batch(self, batch: Batch) -> None:
        self.sink.count("deals" if batch.stream == DEALS else "ticks", len(batch.records))
        for mark, number in quality_counts(batch.quality).items():
            self.sink.count(f"quality_{mark}", number)

    def _receive_heartbeat(self, beat: Heartbeat, now: Now) -> list[Frame]:
        frames: list[Frame] = []
        for mark in beat.marks:
            stream = self._stream(mark.stream)
            if stream is None:
                return [self._unknown(mark.stream)]
            if mark.passed >= stream.expected:
                # Frames keep their order, so what was sent before this and is not here is missing.
                stream.seen = max(stream.seen, mark.passed)
                frames += self._ask(mark.stream, stream, now)
        marks = tuple(self._mark(stream_id) for stream_id in self.keys)
        return [Heartbeat(beat.token, now.utc_msc, 0, marks), *frames]

    def _mark(self, stream_id: int) -> Mark:
        stream = self.streams[self.keys[stream_id]]
        return Mark(stream_id, stream.expected - 1, stream.durable.sequence)

    def _receive_symbols(self, frame: Symbols) -> list[Frame]:
        for symbol in frame.symbols:
            if refusal := self._refuse_symbol(symbol):
                return [refusal]
            key = ticks_of(symbol.name)
            self.keys[symbol.stream] = key
            self.ids[key] = symbol.stream
            self.symbols[symbol.name] = symbol
            stream = self.streams.setdefault(key, Stream(key))
            if stream.durable.sequence:
                self.acked.add(key)  # the disk may have gone on since WELCOME
        return []

    def _refuse_symbol(self, symbol: Symbol) -> Error | None:
        key = ticks_of(symbol.name)
        known = self.keys.get(symbol.stream, key)
        if known != key:
            text = f"stream {symbol.stream} is {known[1]}; {symbol.name} needs another number"
            return Error.of(ErrorCode.UNEXPECTED_FRAME, text)
        if key not in self.streams and len(self.streams) > self.settings.symbols_max:
            text = f"more than {self.settings.symbols_max} symbols: raise symbols_max"
            return Error.of(ErrorCode.LIMIT, text)
        return None

    def _receive_lost(self, lost: Lost, now: Now) -> list[Frame]:
        stream = self._stream(lost.stream)
        if stream is None:
            return [self._unknown(lost.stream)]
        if lost.first > stream.expected:
            stream.seen = max(stream.seen, lost.last)
            return self._ask(lost.stream, stream, now)
        if lost.last >= stream.expected:
            self._record_gap(stream, lost, now)
        return []

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
        self.sink.complain("gaps", f"{place} lost: {lost.reason.name} {lost.text!r}")
        self.sink.count("lost", gap.last - gap.first + 1)
        self.sink.on_gap(gap)
        stream.skip_to(lost.last, now.ms)

    def _receive_result(self, result: SignalResult) -> None:
        self.signals.settle(result)
        self.sink.count("signal_results")
        self.sink.on_outcome(Outcome(self.identity, result))

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


def _quality(frame: Ticks | Deals, records: Records, latest_msc: int) -> tuple[QualityArray, int]:
    if isinstance(frame, Ticks):
        return tick_quality(records, latest_msc)
    return np.zeros(len(records), np.uint8), latest_msc
