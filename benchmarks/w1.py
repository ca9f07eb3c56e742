"""W1: from the wire to the signal and back, over TCP loopback, with the durable spool on.

    python -m benchmarks.w1 [--seconds 10] [--runs 3] [--hold 60] [--files 1] [--curve]
                         [--out w1.md]

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
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import zmq

from benchmarks.live_daemon import daemon, process
from benchmarks.live_market import SYMBOLS, WAKE_NS, Brought, Market, planned
from benchmarks.live_terminal import BATCH, Terminal, paced
from benchmarks.machine import describe
from cep.demo.processes import free_port
from mt5bridge.spool import RecordKind, read

RATES = (1_000, 10_000, 50_000)
MARKED = {1_000: 10, 10_000: 50, 50_000: 250}
HELD_MARKED = 20_000


def percentiles(nanoseconds: list[int]) -> list[float]:
    """p50, p99, p99.9 and the longest, in microseconds."""
    found: list[float] = np.percentile(np.array(nanoseconds) / 1_000, (50, 99, 99.9, 100)).tolist()
    return found


def latency(rate: int, seconds: float, files: int = 1, curve: bool = False) -> list[float]:
    """Percentiles of one run, after a warm-up of two seconds."""
    market = Market(MARKED[rate])
    first, plan = planned(market, rate, 2.0), planned(market, rate, seconds)
    with (
        tempfile.TemporaryDirectory() as folder,
        daemon(Path(folder), files=files, curve=curve) as running,
    ):
        terminal = Terminal(running)
        terminal.greet()
        terminal.wait_for_rules()
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
        with daemon(Path(folder)) as running:
            terminal, market = Terminal(running), Market(HELD_MARKED)
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


def report(
    seconds: float, runs: int, held_seconds: float, files: int, curve: bool
) -> Iterator[str]:
    yield "# W1: wire to signal\n"
    how = f"{files} rule file{'s' * (files > 1)}{', by CURVE' if curve else ''}"
    yield (
        f"Microseconds from the moment the market's plan brings a tick, median of {runs} runs of"
        f" {seconds:g} s; {how}; ten symbols, ticks each ms, every signal counts.\n"
    )
    lived = partial(latency, files=files, curve=curve)
    yield "| ticks/s | | p50 | p99 | p99.9 | longest |\n|---|---|---|---|---|---|"
    for rate in RATES:
        yield f"| {rate:,} | tick to signal | {cells(runs, lived, rate, seconds)} |"
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
    parser.add_argument("--files", type=int, default=1, help="so many rule files, all as W1's")
    parser.add_argument("--curve", action="store_true", help="the terminal comes by CURVE")
    parser.add_argument("--out", type=Path, help="also write the table to this file")
    parser.add_argument("--echo", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.echo:
        serve_echo(options.echo)
    with ExitStack() as stack:
        out = stack.enter_context(options.out.open("w")) if options.out else None
        for line in report(
            options.seconds, options.runs, options.hold, options.files, options.curve
        ):
            print(line, flush=True)
            if out:
                print(line, file=out, flush=True)


if __name__ == "__main__":
    main()
