"""A daemon without sockets that is spoken to frame by frame."""

from __future__ import annotations

from collections.abc import Iterable

from mt5bridge.clock import Now
from mt5bridge.server import Batch, Funds, Gap, Outcome, Settings, Sink, Trader, Watermark
from mt5bridge.server.status import Status
from mt5bridge.server.survey import survey
from mt5bridge.server.terminals import Resumes, Terminals
from mt5bridge.simulator import simulated_hello, simulated_symbol
from mt5bridge.wire import Frame, Symbol, Symbols, Ticks, encode
from tests.wire.samples import some_ticks

SETTINGS = Settings(heartbeat_ms=100, timeout_ms=1_000, resend_after_ms=50)


class Dialog:
    """Sends frames from routes at set times and keeps what came out."""

    def __init__(
        self,
        settings: Settings = SETTINGS,
        resumes: Resumes | None = None,
        traders: Iterable[Trader] = (),
    ) -> None:
        self.batches: list[Batch] = []
        self.gaps: list[Gap] = []
        self.watermarks: list[Watermark] = []
        self.outcomes: list[Outcome] = []
        self.traders: list[Trader] = []
        self.funds: list[Funds] = []
        self.room = True
        self.ms = 10_000
        self.sink = Sink(
            on_batch=self._take,
            on_watermark=self.watermarks.append,
            on_gap=self._take_gap,
            on_outcome=self.outcomes.append,
            on_trader=self.traders.append,
            on_funds=self.funds.append,
        )
        self.terminals = Terminals(settings, self.sink, resumes or {}, traders)

    @property
    def now(self) -> Now:
        return Now(self.ms, 1_700_000_000_000 + self.ms)

    @property
    def counters(self) -> dict[str, int]:
        return dict(self.sink.counters)

    def say(self, frame: Frame, route: bytes = b"r") -> list[Frame]:
        """The replies to this route."""
        return self.say_bytes(encode(frame), route)

    def say_bytes(self, data: bytes, route: bytes = b"r") -> list[Frame]:
        replies = self.terminals.receive(route, [data], self.now)
        return [frame for to, frame in replies if to == route]

    def greet(self, route: bytes = b"r", identity: str = "demo", instance: int = 1) -> list[Frame]:
        return self.say(simulated_hello(identity, instance), route)

    def begin(self, *names: str) -> None:
        """Greet and publish symbols as streams 1, 2, ..."""
        self.greet()
        self.say(Symbols(tuple(symbol(name, at) for at, name in enumerate(names, 1))))

    def due(self) -> list[Frame]:
        """What the daemon sends unasked."""
        frames = [*self.terminals.outgoing(), *self.terminals.remind(self.now)]
        return [frame for _, frame in frames]

    def status(self) -> Status:
        """What the daemon tells of itself."""
        return survey(self.terminals, "", 0, self.now)

    def _take_gap(self, gap: Gap) -> bool:
        if self.room:
            self.gaps.append(gap)
        return self.room

    def _take(self, batch: Batch) -> bool:
        if self.room:
            self.batches.append(batch)
        return self.room


def symbol(name: str, stream: int) -> Symbol:
    """A symbol with this number."""
    usual = simulated_symbol(name)
    return Symbol(stream, 5, 3, usual.point, usual.tick_size, 1e5, 0.01, 100.0, 0.01, name)


def ticks(first: int, count: int, stream: int = 1) -> Ticks:
    """A frame of ticks."""
    return Ticks(stream, 0, first, some_ticks(count))
