"""A terminal and a daemon with a bad line between them, a disk and a clock; no sockets."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from mt5bridge.client import Client, ClientState
from mt5bridge.clock import Now
from mt5bridge.position import START, Position
from mt5bridge.records import TICK, Records
from mt5bridge.server import Batch, Gap, Settings, Sink, StreamKey, Watermark, ticks_of
from mt5bridge.server.terminals import Terminals
from mt5bridge.simulator import simulated_hello, simulated_symbol
from mt5bridge.wire import LostReason, WireError, decode, encode

IDENTITY = "demo"
SETTINGS = Settings(
    heartbeat_ms=100, timeout_ms=500, resend_after_ms=50, window_records=20, symbols_max=10
)


def numbered_ticks(count: int) -> Records:
    """Ticks whose volume is their sequence, three to a millisecond."""
    ticks = np.zeros(count, TICK)
    ticks["volume"] = np.arange(1, count + 1)
    ticks["time_msc"] = 1_000 + np.arange(count) // 3
    ticks["bid"], ticks["ask"] = 1.0, 2.0
    return ticks


@dataclass
class Disk:
    """What the daemon wrote; only what is committed survives its crash."""

    received: dict[StreamKey, list[Batch | Gap]] = field(default_factory=lambda: defaultdict(list))
    committed: dict[StreamKey, int] = field(default_factory=lambda: defaultdict(int))
    full: bool = False

    def take(self, batch: Batch) -> bool:
        if not self.full:
            self.received[batch.stream].append(batch)
        return not self.full

    def take_gap(self, gap: Gap) -> bool:
        if not self.full:
            self.received[gap.stream].append(gap)
        return not self.full

    def commit(self) -> dict[StreamKey, int]:
        for stream, items in self.received.items():
            self.committed[stream] = len(items)
        return {stream: items[-1].last for stream, items in self.received.items() if items}

    def crash(self) -> None:
        for stream, items in self.received.items():
            del items[self.committed[stream] :]

    def positions(self) -> dict[tuple[str, StreamKey], Position]:
        return {(IDENTITY, stream): _position(items) for stream, items in self.received.items()}

    def volumes(self, symbol: str) -> list[int]:
        """The stored ticks' sequences by content, lost ones left out."""
        items = self.received[ticks_of(symbol)]
        return [n for item in items if isinstance(item, Batch) for n in item.records["volume"]]

    def durable(self, symbol: str) -> list[int]:
        """Those that would survive a crash."""
        items = self.received[ticks_of(symbol)][: self.committed[ticks_of(symbol)]]
        return [n for item in items if isinstance(item, Batch) for n in item.records["volume"]]

    def lost(self, symbol: str) -> set[int]:
        """The sequences in recorded gaps."""
        gaps = [item for item in self.received[ticks_of(symbol)] if isinstance(item, Gap)]
        return {n for gap in gaps for n in range(gap.first, gap.last + 1)}


class Link:
    """Moves frames one by one, as told; `heal` lets everything run until all is on disk."""

    def __init__(self, symbols: tuple[str, ...], count: int) -> None:
        self.base = {name: numbered_ticks(count) for name in symbols}
        self.disk = Disk()
        self.promises: list[int] = []
        self.now = Now(1_000, 5_000)
        self.up: list[bytes] = []
        self.down: list[bytes] = []
        self.route = b"0"
        self.start_daemon()
        self.start_client()

    def start_daemon(self) -> None:
        """A daemon that knows only what is on disk; nobody is connected."""
        self.disk.crash()
        sink = Sink(
            on_batch=self.disk.take, on_gap=self.disk.take_gap, on_watermark=self.check_promise
        )
        self.daemon = Terminals(SETTINGS, sink, self.disk.positions())
        self.hang_up()

    def start_client(self) -> None:
        """A terminal without memory; its tick base is still there."""
        self.instance = getattr(self, "instance", 0) + 1
        self.client = Client(simulated_hello(IDENTITY, self.instance), batch_records=4)
        self.taken: dict[str, int] | None = None  # unknown until WELCOME
        for name in self.base:
            self.client.add_symbol(simulated_symbol(name))
        self.hang_up()

    def hang_up(self) -> None:
        """The line breaks; what was on it is gone."""
        self.up.clear()
        self.down.clear()
        if hasattr(self, "client"):
            self.client.disconnected()

    def connect(self) -> None:
        """A new line, if there is none."""
        if self.client.state is ClientState.OFFLINE:
            self.route = str(int(self.route) + 1).encode()
            self.client.connected(self.now)

    def take(self, symbol: str, count: int) -> None:
        """The terminal takes ticks from its tick base."""
        if self.taken is not None:
            first = self.taken[symbol]
            ticks = self.base[symbol][first : first + count]
            self.client.take_ticks(symbol, ticks)
            self.taken[symbol] = first + len(ticks)
            self.client.whole_msc = min(map(self._next_msc, self.base))

    def _next_msc(self, symbol: str) -> int:
        """The time of the next tick to be taken: all earlier ones are."""
        assert self.taken is not None
        times = self.base[symbol]["time_msc"]
        return int(times[min(self.taken[symbol], len(times) - 1)])

    def check_promise(self, watermark: Watermark) -> None:
        """The daemon has, or knows as lost, all that is promised."""
        self.promises.append(watermark.utc_msc)
        for name, ticks in self.base.items():
            promised = ticks["volume"][ticks["time_msc"] < watermark.time_msc].tolist()
            missing = set(promised) - set(self.disk.volumes(name)) - self.disk.lost(name)
            assert not missing, (name, missing)

    def client_sends(self) -> None:
        """The terminal's frames go onto the line."""
        self.up += [encode(frame) for frame in self.client.outgoing(self.now, frames_max=4)]

    def daemon_sends(self) -> None:
        """The daemon's frames go onto the line."""
        for route, frame in [*self.daemon.outgoing(), *self.daemon.remind(self.now)]:
            self._to_client(route, encode(frame))

    def daemon_receives(self) -> None:
        """One frame arrives at the daemon."""
        if self.up:
            for route, frame in self.daemon.receive(self.route, [self.up.pop(0)], self.now):
                self._to_client(route, encode(frame))

    def client_receives(self) -> None:
        """One frame arrives at the terminal."""
        if not self.down:
            return
        try:
            frame = decode(self.down.pop(0))
        except WireError:
            return
        self.client.receive(frame, self.now)
        if self.client.state is ClientState.LIVE and self.taken is None:
            self.taken = {name: self._seek(name) for name in self.base}
        if self.client.state is ClientState.REFUSED:
            self.hang_up()

    def exchange(self, count: int) -> None:
        """Some ticks are taken, and some frames arrive on either side."""
        self.connect()
        for name in self.base:
            self.take(name, count)
        self.client_sends()
        for _ in range(count):
            self.daemon_receives()
        self.daemon_sends()
        for _ in range(count):
            self.client_receives()

    def commit(self) -> None:
        """What was received is on disk."""
        for stream, sequence in self.disk.commit().items():
            self.daemon.acknowledge(IDENTITY, stream, sequence)

    def pass_time(self, ms: int) -> None:
        """Time goes by; a terminal that hears nothing hangs up."""
        self.now = Now(self.now.ms + ms, self.now.utc_msc + ms)
        if self.client.silent(self.now):
            self.hang_up()

    def lose(self, symbol: str, count: int) -> None:
        """The terminal can no longer send the first ticks it keeps."""
        box = self.client.ticks[symbol]
        count = min(count, box.unacknowledged)
        if count:
            box.lose(box.base, box.base + count - 1, LostReason.NOT_IN_TICK_BASE, "")

    def heal(self, rounds: int = 2_000) -> bool:
        """Take everything and let the line work; whether all came to the disk."""
        self.disk.full = False
        for _ in range(rounds):
            self.connect()
            for name in self.base:
                self.take(name, 8)
            self.client_sends()
            while self.up:
                self.daemon_receives()
            self.commit()
            self.daemon_sends()
            while self.down:
                self.client_receives()
            self.pass_time(20)
            if self._done():
                return True
        return False

    def _done(self) -> bool:
        if self.taken is None or self.client.unacknowledged:
            return False
        return all(self.taken[name] == len(ticks) for name, ticks in self.base.items())

    def _to_client(self, route: bytes, data: bytes) -> None:
        if route == self.route and self.client.state is not ClientState.OFFLINE:
            self.down.append(data)

    def _seek(self, symbol: str) -> int:
        """6.7 in the plainest way: count through the tick base."""
        position = self.client.resume(symbol)
        left = position.count_at_msc
        for index, time_msc in enumerate(self.base[symbol]["time_msc"]):
            if time_msc == position.time_msc:
                left -= 1
                if left == 0:
                    return index + 1
        return 0


def _position(items: list[Batch | Gap]) -> Position:
    """A stream's position, by looking at all its records."""
    times = [t for item in items if isinstance(item, Batch) for t in item.records["time_msc"]]
    if not items:
        return START
    newest = max(times, default=0)
    return Position(items[-1].last, int(newest), times.count(newest))
