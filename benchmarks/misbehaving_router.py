"""The publisher behind a ROUTER that does everything wrong: no tick lost, no handler hangs.

    python -m benchmarks.misbehaving_router [--seeds 5] [--ticks 200000] [--first-seed 1]

The compiled EA runs on the emulated terminal, with short sends, dummy readability and one OnTick
in three skipped. Its connections go to a front that misbehaves in a random order of all the ways
of tests/mql5/misbehaviour.py (garbage greeting, wrong mechanism, no READY, half frames, silence,
sudden close, floods, ...). Between two of them the front is a pipe to the real server, cut at a
random byte; in the end it is a pipe that stands. Then the server must have each tick of the
terminal's tick base exactly once and in order, and no call of the EA may have taken longer than
the bound it was given (BlockMs, PumpMicroseconds), with room for a busy machine.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from benchmarks.machine import describe
from mt5bridge.clock import monotonic_ms
from mt5bridge.emulator.terminal import EmulatedTerminal
from tests.bridge.live import Daemon
from tests.credentials import CREDENTIAL
from tests.live.service import wait_until
from tests.mql5.misbehaviour import WRONG
from tests.mql5.publishing import PROGRAMS, Stage, market, script
from tests.mql5.router import Behaviour, Peer, Router

_FAULTS = "sockets allowed=127.0.0.1 short=0.2 dummy=0.3\nontick skip=0.33"
_TICKS_A_SECOND = 5_000


@dataclass(frozen=True, slots=True)
class Outcome:
    """One seed."""

    seed: int
    ticks: int
    connections: int
    seconds: float
    longest_us: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--ticks", type=int, default=200_000)
    parser.add_argument("--first-seed", type=int, default=1)
    options = parser.parse_args()
    print(f"{len(WRONG)} ways to misbehave: {', '.join(WRONG)}\n")
    print("| seed | ticks | connections | seconds | longest call µs | lost or twice |")
    print("|---|---|---|---|---|---|")
    for seed in range(options.first_seed, options.first_seed + options.seeds):
        with tempfile.TemporaryDirectory() as folder:
            found = outlive(Path(folder), seed, options.ticks)
        print(
            f"| {found.seed} | {found.ticks:,} | {found.connections} | {found.seconds:.1f} "
            f"| {found.longest_us:,} | 0 |",
            flush=True,
        )
    print("\n" + describe())


def outlive(folder: Path, seed: int, ticks: int, ways: Sequence[str] = tuple(WRONG)) -> Outcome:
    """One session; AssertionError if a tick is missing, twice or out of order."""
    base = market("EURUSD", ticks)
    behaviours = list(wrong_and_cut(Random(seed), ways))
    began_ms = monotonic_ms()
    with Daemon() as daemon, Router(behaviours, port_of(daemon)) as front:
        faults = f"{_FAULTS}\npace rate={_TICKS_A_SECOND}"
        session = script(folder, base, str(front.port), faults, seed=seed)
        with EmulatedTerminal(
            PROGRAMS, session, folder / "terminal", credential=CREDENTIAL
        ) as terminal:
            stage = Stage(daemon, terminal, base)
            wait_until(
                lambda: stage.received("EURUSD") >= ticks and front.accepted > len(behaviours)
            )
            result = terminal.stop()
        stage.check_ticks()
    assert result.stats is not None
    publisher = result.stats.program("Publisher")
    longest_us = max(publisher.handler(name).longest_us for name in ("OnTick", "OnTimer"))
    seconds = (monotonic_ms() - began_ms) / 1_000
    return Outcome(seed, ticks, front.accepted, seconds, longest_us)


def wrong_and_cut(random: Random, ways: Sequence[str]) -> Iterator[Behaviour]:
    """Every way once, in a random order, and real connections in between."""
    for name in random.sample(ways, len(ways)):
        yield WRONG[name][0]
        yield cut_after(random.randrange(1, 4_000))


def cut_after(bytes_max: int) -> Behaviour:
    """The real server, until it has sent so many bytes."""

    def behave(peer: Peer) -> None:
        peer.pipe(bytes_max)

    return behave


def port_of(daemon: Daemon) -> int:
    """The port of its server."""
    return int(daemon.server.address.rpartition(":")[2])


if __name__ == "__main__":
    main()
