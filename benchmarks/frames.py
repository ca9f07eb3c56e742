"""What a frame of one tick costs the server's thread, sockets left out: sessions, spool, rules.

And what it costs the thread that writes the spool, which is taken from the server's: Python runs
one of them at a time.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median

from loguru import logger

from benchmarks.live_daemon import RULES
from benchmarks.live_market import SYMBOLS, Market
from benchmarks.w1 import MARKED
from cep.engine.native import Compiled
from cep.live.intake import Intake
from cep.live.pipeline import Pipeline
from cep.plan import compile_rules
from mt5bridge import clock
from mt5bridge.server import Settings, Sink
from mt5bridge.server.terminals import Terminals
from mt5bridge.simulator import simulated_hello, simulated_symbol
from mt5bridge.spool import Spool
from mt5bridge.wire import Symbols, Ticks, encode

FRAMES = 10_000
ROUTE = b"w1"
COMMITTED = 100
"""Frames in a commit: 10,000 frames a second, each gathered for 10 ms."""


class Frames:
    """Takes FRAMES frames a round, `together` of which wait at a time; W1's rules and market."""

    def __init__(self, folder: Path, together: int, rounds: int) -> None:
        self._together = together
        self._spool = Spool(folder)
        self._spool.recover()
        rules = compile_rules((RULES).read_text(), "w1")
        run = Compiled(rules, outputs=["Turn", "Go"], machine="always").start()  # as a daemon
        run.warm_up()
        self._pipeline = Pipeline(run, lambda _caused: None)
        self._terminals = Terminals(
            Settings(), Sink(Intake(self._spool, [self._pipeline]).on_batch), {}
        )
        self._now = clock.now()
        symbols = [replace(simulated_symbol(name), stream=i) for i, name in enumerate(SYMBOLS, 1)]
        for frame in (simulated_hello("w1", instance=1), Symbols(tuple(symbols))):
            self._terminals.receive(ROUTE, [encode(frame)], self._now)
        self._rounds = iter([list(self._made(turn)) for turn in range(rounds)])
        self.costs_us()

    def _made(self, turn: int) -> Iterator[bytes]:
        market = Market(MARKED[10_000])
        market.count = turn * FRAMES
        for first in range(FRAMES // len(SYMBOLS)):
            for number, (_, records) in enumerate(market.next(len(SYMBOLS)), 1):
                sequence = turn * FRAMES // len(SYMBOLS) + first + 1
                yield encode(Ticks(number, 0, sequence, records))

    def costs_us(self) -> tuple[float, float]:
        """Of a frame: to take it, and to write it; of the thread's own time, which others on the
        machine disturb little.
        """
        begin, writing = time.thread_time(), 0.0
        for place, frame in enumerate(next(self._rounds), 1):
            self._terminals.receive(ROUTE, [frame], self._now)
            if place % self._together == 0:
                self._pipeline.flush()
            if place % COMMITTED == 0:
                before = time.thread_time()
                self._spool.commit()
                writing += time.thread_time() - before
        self._pipeline.flush()
        taking = time.thread_time() - begin - writing
        return taking * 1e6 / FRAMES, writing * 1e6 / FRAMES

    def rate(self) -> float:
        """Frames a second that are taken."""
        return 1e6 / self.costs_us()[0]

    def __enter__(self) -> Frames:
        return self

    def __exit__(self, *_: object) -> None:
        self._spool.close()


def main() -> None:
    logger.remove()
    parent = sys.argv[1] if len(sys.argv) > 1 else None
    print("| frames that wait | µs to take one | µs to write one |\n|---|---|---|")
    for together in (1, 4, 16, 64, 256):
        with (
            tempfile.TemporaryDirectory(dir=parent) as folder,
            Frames(Path(folder), together, 6) as frames,
        ):
            taken, written = map(median, zip(*(frames.costs_us() for _ in range(5)), strict=True))
        print(f"| {together} | {taken:.1f} | {written:.1f} |")


if __name__ == "__main__":
    main()
