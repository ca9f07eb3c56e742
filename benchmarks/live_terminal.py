"""A terminal that a daemon is measured with: it brings what the market's plan says, on time."""

from __future__ import annotations

import select
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import zmq

from benchmarks.live_daemon import Running
from benchmarks.live_market import SYMBOLS, WAKE_NS, Brought
from mt5bridge import clock
from mt5bridge.client import Client, ClientState
from mt5bridge.simulator import simulated_hello, simulated_symbol
from mt5bridge.wire import Signal, SignalResult, SignalStatus, decode, encode

BATCH = 2_000
GREET_S = 600  # nothing may be compiled yet
DRAIN_S = 120


@dataclass
class Terminal:
    """The client's side of the dialog on a socket that is waited for with precision.

    Terminals of one program may have a `context` together.
    """

    daemon: Running
    identity: str = "w1"
    symbols: Sequence[str] = tuple(SYMBOLS)
    frame_records: int = BATCH
    context: zmq.Context[Any] = field(default_factory=zmq.Context)
    client: Client = field(init=False)
    latencies_ns: list[int] = field(default_factory=list)
    signals: int = 0

    def __post_init__(self) -> None:
        self.client = Client(simulated_hello(self.identity, instance=1), self.frame_records)
        for name in self.symbols:
            self.client.add_symbol(simulated_symbol(name))
        self.socket = self.context.socket(zmq.DEALER)
        self.socket.linger = 0
        self.daemon.introduce(self.socket)
        self.file: int = self.socket.fileno()
        self.due_ns: dict[int, int] = {}  # when the plan brought a marked tick, by its time_msc
        self.client.connected(clock.now())

    def greet(self) -> None:
        end_ns = time.monotonic_ns() + GREET_S * 10**9
        while self.client.state is not ClientState.LIVE:
            self.send()
            self.receive()
            assert time.monotonic_ns() < end_ns, "no daemon answers"

    def wait_for_rules(self) -> None:
        """Until all of the daemon's rules run; before that, it is a start that is measured."""
        end_ns = time.monotonic_ns() + GREET_S * 10**9
        while not self.daemon.is_warm:
            self.send()
            self.wait(time.monotonic_ns() + 20 * WAKE_NS)
            assert time.monotonic_ns() < end_ns, "its rules do not get warm"

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
                due_ns = self.due_ns.pop(frame.time_msc, None)
                if due_ns is not None:  # else its tick came before this terminal did
                    self.latencies_ns.append(time.monotonic_ns() - due_ns)
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
