"""W1: from the wire to the signal and back, over TCP loopback, with the durable spool on.

    python -m benchmarks.w1 [--seconds 10] [--runs 3] [--hold 60] [--out w1.md]

A market of ten symbols brings its ticks by a plan: so many each millisecond, whoever is late. A
terminal in this process sends them to the daemon, a process of its own, which runs the rules of
w1_rules.cep: a 5-minute window with mean and deviation, band events and a complex event for every
symbol, and a signal for every marked tick. A latency begins when the plan brings the marked
tick, not when the terminal gets round to sending it, and ends when its signal has been received and
decoded; every marked tick counts, and one that is still without a signal at the end is told. Who
cannot keep up falls behind the plan, and every later latency shows it. The ticks are made before:
a terminal that makes some up meanwhile hears no signal. Beside it: the same frames, by the same
plan, to a bare ROUTER that echoes them.
"""

from __future__ import annotations

import argparse
import gc
import select
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import zmq

from benchmarks.machine import describe
from cep.demo.processes import free_port
from mt5bridge import clock
from mt5bridge.client import Client, ClientState, introduce
from mt5bridge.credential import FILE, write_credential
from mt5bridge.records import Records
from mt5bridge.simulator import Walk, random_walk, simulated_hello, simulated_symbol
from mt5bridge.spool import RecordKind, read
from mt5bridge.wire import Signal, SignalResult, SignalStatus, decode, encode
from tests.credentials import CREDENTIAL

HERE = Path(__file__).parent
SYMBOLS = [f"S{number}" for number in range(10)]
WAKE_NS = 1_000_000
RATES = (1_000, 10_000, 50_000)
MARKED = {1_000: 10, 10_000: 50, 50_000: 250}
HELD_MARKED = 20_000
BATCH = 2_000
GREET_S = 600  # nothing may be compiled yet
DRAIN_S = 120
SETTINGS = """log_level = "WARNING"
[rules]
file = "{rules}"
streams = ["Turn"]
[server]
bind = "tcp://127.0.0.1:{port}"
[signals]
send = true
valid_seconds = 1_000_000_000  # the market is of 2023
[spool]
max_mib = 32768
"""


class Market:
    """Endless ticks of all symbols, one a millisecond of market time, every n-th marked."""

    def __init__(self, marked_every: int) -> None:
        walk = random_walk(Walk(100_000, seed=5))
        self.ticks = {name: walk.copy() for name in SYMBOLS}
        self.marked_every = marked_every
        self.count = 0
        self.start_msc = 1_700_000_000_000

    def next(self, count: int) -> list[tuple[str, Records]]:
        """The next ticks by symbol; their times are unique."""
        places = np.arange(self.count, self.count + count)
        self.count += count
        found = []
        for number, name in enumerate(SYMBOLS):
            own = places[(-(int(places[0]) - number)) % len(SYMBOLS) :: len(SYMBOLS)]
            if len(own):
                found.append((name, self._at(name, own)))
        return found

    def _at(self, name: str, places: Records) -> Records:
        ticks = self.ticks[name]
        records: Records = ticks[places // len(SYMBOLS) % len(ticks)]
        records["time_msc"] = self.start_msc + places
        records["volume_real"] = places % self.marked_every == 0
        return records


@dataclass(frozen=True)
class Brought:
    """Ticks by symbol that come together, and the `time_msc` of those that are marked."""

    ticks: list[tuple[str, Records]]
    marked: list[int]

    @classmethod
    def of(cls, ticks: list[tuple[str, Records]]) -> Brought:
        times = (one["time_msc"][one["volume_real"] > 0].tolist() for _, one in ticks)
        return cls(ticks, [time_msc for found in times for time_msc in found])


@dataclass
class Terminal:
    """The client's side of the dialog on a socket that is waited for with precision."""

    address: str
    client: Client = field(init=False)
    latencies_ns: list[int] = field(default_factory=list)
    signals: int = 0

    def __post_init__(self) -> None:
        self.client = Client(simulated_hello("w1", instance=1), BATCH)
        for name in SYMBOLS:
            self.client.add_symbol(simulated_symbol(name))
        self.context: zmq.Context[Any] = zmq.Context()
        self.socket = self.context.socket(zmq.DEALER)
        self.socket.linger = 0
        introduce(self.socket, CREDENTIAL)
        self.socket.connect(self.address)
        self.file: int = self.socket.fileno()
        self.due_ns: dict[int, int] = {}  # when the plan brought a marked tick, by its time_msc
        self.client.connected(clock.now())

    def greet(self) -> None:
        end_ns = time.monotonic_ns() + GREET_S * 10**9
        while self.client.state is not ClientState.LIVE:
            self.send()
            self.receive()
            assert time.monotonic_ns() < end_ns, "no daemon answers"

    def take(self, brought: Brought, due_ns: int) -> None:
        """Take what the plan has brought at that moment."""
        for time_msc in brought.marked:
            self.due_ns[time_msc] = due_ns
        for name, records in brought.ticks:
            self.client.take_ticks(name, records)

    def send(self) -> int:
        """Send what the window allows, look for signals in between."""
        frames = self.client.outgoing(clock.now())
        for frame in frames:
            self.socket.send(encode(frame))
            self.receive()
        return len(frames)

    def receive(self) -> int:
        """Take all frames that have arrived, and answer signals."""
        count = 0
        while True:
            try:
                data = self.socket.recv(zmq.NOBLOCK)
            except zmq.Again:
                break
            frame = decode(data)
            count += 1
            if isinstance(frame, Signal):
                self.latencies_ns.append(time.monotonic_ns() - self.due_ns.pop(frame.time_msc))
                self.signals += 1
                self.client.report(
                    SignalResult(frame.id, 0, 0, 0, 0.0, 0.0, 0, SignalStatus.DRY_RUN, "")
                )
            else:
                self.client.receive(frame, clock.now())
        return count

    def wait(self, until_ns: int) -> None:
        """Receive until it is time, without burning the processor the daemon needs."""
        while not self.receive():
            left_ns = until_ns - time.monotonic_ns()
            if left_ns <= 0:
                return
            select.select([self.file], [], [], left_ns / 1e9)

    def drain(self) -> None:
        """Wait until everything is acknowledged and answered."""
        end_ns = time.monotonic_ns() + DRAIN_S * 10**9
        while self.client.unacknowledged or self.due_ns:
            self.send()
            self.wait(time.monotonic_ns() + WAKE_NS)
            assert time.monotonic_ns() < end_ns, (
                f"{self.client.unacknowledged} ticks without an acknowledgement,"
                f" {len(self.due_ns)} marked ones without a signal after {DRAIN_S} s"
            )

    def close(self) -> None:
        self.context.destroy(0)


def percentiles(nanoseconds: list[int]) -> list[float]:
    """p50, p99, p99.9 and the longest, in microseconds."""
    found: list[float] = np.percentile(np.array(nanoseconds) / 1_000, (50, 99, 99.9, 100)).tolist()
    return found


@contextmanager
def process(*arguments: str) -> Iterator[None]:
    child = subprocess.Popen([sys.executable, "-m", *arguments])
    try:
        yield
    finally:
        child.terminate()
        child.wait(120)


@contextmanager
def daemon(folder: Path) -> Iterator[str]:
    """A daemon in a process of its own; its address."""
    port = free_port()
    settings = folder / "daemon.toml"
    settings.write_text(SETTINGS.format(rules=HERE / "w1_rules.cep", port=port))
    write_credential(folder / "state" / FILE, CREDENTIAL)
    with process("cep", "daemon", "--config", str(settings)):
        yield f"tcp://127.0.0.1:{port}"


def planned(market: Market, rate: int, seconds: float) -> list[Brought]:
    """What each millisecond brings."""
    each = rate * WAKE_NS // 10**9
    found = [Brought.of(market.next(each)) for _ in range(int(seconds * 1e9) // WAKE_NS)]
    gc.freeze()  # looking through all these again and again is no terminal's work
    return found


def paced(terminal: Terminal, plan: list[Brought]) -> None:
    """Bring a millisecond's ticks each millisecond; what is late is brought when it is found late.

    It is due when the plan says so all the same.
    """
    due_ns = time.monotonic_ns()
    for brought in plan:
        while time.monotonic_ns() < due_ns:
            terminal.wait(due_ns)
            terminal.send()  # answers to signals
        terminal.take(brought, due_ns)
        terminal.send()
        due_ns += WAKE_NS


def latency(rate: int, seconds: float) -> list[float]:
    """Percentiles of one run, after a warm-up of two seconds."""
    market = Market(MARKED[rate])
    first, plan = planned(market, rate, 2.0), planned(market, rate, seconds)
    with tempfile.TemporaryDirectory() as folder, daemon(Path(folder)) as address:
        terminal = Terminal(address)
        terminal.greet()
        paced(terminal, first)
        terminal.drain()
        terminal.latencies_ns.clear()
        paced(terminal, plan)
        terminal.drain()
        terminal.close()
    wanted = int(rate * seconds) // MARKED[rate]
    assert abs(len(terminal.latencies_ns) - wanted) <= 1, "a signal was not counted"
    return percentiles(terminal.latencies_ns)


@dataclass(frozen=True)
class Held:
    """A rate that was held, and what became of it."""

    ticks: int
    seconds: float
    signals: int
    stored: int

    @property
    def rate(self) -> float:
        return self.ticks / self.seconds


def hold(seconds: float) -> Held:
    """As many ticks as are acknowledged, for so long; then count what the disk has."""
    with tempfile.TemporaryDirectory() as folder:
        with daemon(Path(folder)) as address:
            terminal, market = Terminal(address), Market(HELD_MARKED)
            terminal.greet()
            ready = [Brought.of(market.next(40_000)) for _ in range(8)]
            begin_ns = time.monotonic_ns()
            while time.monotonic_ns() < begin_ns + seconds * 1e9:
                if terminal.client.unacknowledged < 65_536:
                    terminal.take(ready.pop(0), time.monotonic_ns())
                    ready.append(Brought.of(market.next(40_000)))
                terminal.send()
                terminal.wait(time.monotonic_ns() + WAKE_NS)
            sent = market.count - 8 * 40_000
            terminal.drain()
            elapsed = (time.monotonic_ns() - begin_ns) / 1e9
            terminal.close()
        return Held(sent, elapsed, terminal.signals, stored(Path(folder) / "spool"))


def stored(spool: Path) -> int:
    """Ticks on disk; fails when a sequence is not the one after the last."""
    expected = dict.fromkeys(SYMBOLS, 1)
    for group in read(spool):
        if group.kind is RecordKind.TICKS:
            name = group.stream[1]
            assert group.sequence == expected[name], f"{name}: {group.sequence}"
            expected[name] += len(group.records)
    return sum(expected.values()) - len(expected)


def echo(rate: int, seconds: float) -> list[float]:
    """The same frames by the same plan to a ROUTER that sends them back, and nothing else."""
    port = free_port()
    each = rate * WAKE_NS // 10**9
    frames = min(len(SYMBOLS), each)
    frame = bytes(60 * (each // frames) + 40)
    with process("benchmarks.w1", "--echo", str(port)), zmq.Context() as context:
        socket = context.socket(zmq.DEALER)
        socket.connect(f"tcp://127.0.0.1:{port}")
        socket.send(frame)
        socket.recv()  # it stands
        latencies: list[int] = []
        begin_ns = time.monotonic_ns()
        for due_ns in range(begin_ns, begin_ns + int(seconds * 1e9), WAKE_NS):
            time.sleep(max(0, due_ns - time.monotonic_ns()) / 1e9)
            for _ in range(frames):
                socket.send(frame)
            for _ in range(frames):
                socket.recv()
                latencies.append(time.monotonic_ns() - due_ns)
        socket.close(0)
    return percentiles(latencies)


def serve_echo(port: int) -> None:
    with zmq.Context() as context, context.socket(zmq.ROUTER) as socket:
        socket.bind(f"tcp://127.0.0.1:{port}")
        while True:
            socket.send_multipart(socket.recv_multipart())


def cells(runs: int, measure: Callable[[int, float], list[float]], rate: int, s: float) -> str:
    """The cells of a table row: the median of each percentile."""
    rows = [measure(rate, s) for _ in range(runs)]
    return " | ".join(f"{statistics.median(column):,.0f}" for column in zip(*rows, strict=True))


def report(seconds: float, runs: int, held_seconds: float) -> Iterator[str]:
    yield "# W1: wire to signal\n"
    yield (
        f"Microseconds from the moment the market's plan brings a tick, median of {runs} runs of"
        f" {seconds:g} s; ten symbols, ticks each ms, every signal counts.\n"
    )
    yield "| ticks/s | | p50 | p99 | p99.9 | longest |\n|---|---|---|---|---|---|"
    for rate in RATES:
        yield f"| {rate:,} | tick to signal | {cells(runs, latency, rate, seconds)} |"
        yield f"| {rate:,} | bare pyzmq echo | {cells(runs, echo, rate, seconds / 2)} |"
    if held_seconds:
        held = hold(held_seconds)
        yield (
            f"\nHeld for {held.seconds:.0f} s with the durable spool, in frames of up to "
            f"{BATCH:,} ticks: **{held.rate:,.0f} ticks/s**; {held.ticks:,} ticks acknowledged, "
            f"{held.ticks - held.stored} lost, {held.signals:,} signals answered.\n"
        )
    yield describe()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--hold", type=float, default=60.0)
    parser.add_argument("--out", type=Path, help="also write the table to this file")
    parser.add_argument("--echo", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.echo:
        serve_echo(options.echo)
    with ExitStack() as stack:
        out = stack.enter_context(options.out.open("w")) if options.out else None
        for line in report(options.seconds, options.runs, options.hold):
            print(line, flush=True)
            if out:
                print(line, file=out, flush=True)


if __name__ == "__main__":
    main()
