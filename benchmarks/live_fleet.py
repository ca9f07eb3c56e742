"""Many terminals of one program, which bring small frames by a plan."""

from __future__ import annotations

import time
from typing import Any

import zmq

from benchmarks.live_daemon import Running
from benchmarks.live_market import WAKE_NS, Brought, Market
from benchmarks.live_terminal import Terminal


class Fleet:
    """A terminal for each symbol of its own; `frame_ticks` ticks are a frame, and one frame of
    `answered_every` has a tick that is answered with a signal.
    """

    def __init__(
        self, running: Running, terminals: int, frame_ticks: int, answered_every: int
    ) -> None:
        self.frame_ticks = frame_ticks
        names = [f"S{number}" for number in range(terminals)]
        self.market = Market(answered_every * frame_ticks, names)
        self._context: zmq.Context[Any] = zmq.Context()
        self._poller = zmq.Poller()
        self._by_symbol = {
            name: Terminal(running, f"terminal-{name}", (name,), frame_ticks, self._context)
            for name in names
        }
        self._by_socket = {one.socket: one for one in self.terminals}
        for one in self.terminals:
            one.greet()
            self._poller.register(one.socket, zmq.POLLIN)

    @property
    def terminals(self) -> list[Terminal]:
        return list(self._by_symbol.values())

    def bring(self, frames: int, due_ns: int) -> None:
        """The next frames, which the plan brings at that moment."""
        for _ in range(frames):
            name, records = self.market.together(self.frame_ticks)
            terminal = self._by_symbol[name]
            terminal.take(Brought.of([(name, records)]), due_ns)
            terminal.send()

    def wait(self, until_ns: int) -> None:
        """Answer signals and heartbeats until it is time."""
        while (left_ns := until_ns - time.monotonic_ns()) > 0:
            for socket, _ in self._poller.poll(left_ns // 1_000_000 or 1):
                self._by_socket[socket].receive()
                self._by_socket[socket].send()

    def beat(self) -> None:
        """What each has to send: also heartbeats are due."""
        for one in self.terminals:
            one.receive()
            one.send()

    def drain(self) -> None:
        """Wait until everything is acknowledged and answered."""
        for one in self.terminals:
            one.drain()

    def latencies_ns(self) -> list[int]:
        """Those since the last call."""
        found: list[int] = []
        for one in self.terminals:
            found += one.latencies_ns
            one.latencies_ns.clear()
        return found

    def close(self) -> None:
        self._context.destroy(0)


def paced(fleet: Fleet, frames_a_ms: int, seconds: float) -> None:
    """Bring so many frames each millisecond; what is late is brought when it is found late."""
    due_ns = begin_ns = time.monotonic_ns()
    beat_ns = begin_ns
    while due_ns < begin_ns + seconds * 1e9:
        fleet.wait(due_ns)
        fleet.bring(frames_a_ms, due_ns)
        due_ns += WAKE_NS
        if due_ns >= beat_ns:
            fleet.beat()
            beat_ns += 200 * WAKE_NS
