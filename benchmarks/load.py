"""What the daemon bears: many small frames, half an hour, one core, a start over what is stored.

    python -m benchmarks.load frames [--terminals 50] [--frames 20000] [--ticks 10] [--seconds 60]
    python -m benchmarks.load long [--minutes 30] [--frames 1000] [--answered-every 1000]
    python -m benchmarks.load start [--records 5000000]

`frames` brings so many frames a second by a plan, whoever is late, and tells latencies from the
plan to the signal for each quarter of the time: one that cannot keep up grows. `long` does the same
for half an hour with fewer. Both tell what the daemon takes of memory, open files and processor.
`start` stores records, ends the daemon, and starts it over them: with a snapshot, and with none,
when it runs over all again. With --one-core daemon and terminals share the first core, as on the
smallest machines that are rented.
"""

from __future__ import annotations

import argparse
import itertools
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import psutil
from rich.console import Console

from benchmarks.live_daemon import Running, daemon
from benchmarks.live_fleet import Fleet, paced
from benchmarks.live_market import Brought, Market
from benchmarks.live_terminal import Terminal
from benchmarks.machine import describe
from benchmarks.w1 import percentiles
from cep.cli.progress import progress

QUARTERS = 4
STEP_S = 5
MEBIBYTE = 1 << 20
MARKED_EVERY = 20_000
START_S = 1_800


@dataclass
class Samples:
    """Memory, open files and processor of a daemon, taken every STEP_S seconds."""

    process: psutil.Process
    bytes: list[int] = field(default_factory=list)
    files: list[int] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list)

    def take(self) -> None:
        times = self.process.cpu_times()
        self.bytes.append(self.process.memory_info().rss)
        self.files.append(self.process.num_fds())
        self.cpu_s.append(times.user + times.system)


def borne(fleet: Fleet, running: Running, frames: int, seconds: float) -> Iterator[str]:
    """A line for each quarter of the time."""
    steps = max(QUARTERS, int(seconds / STEP_S))
    step_s = seconds / steps
    samples, found = Samples(running.process), list[list[int]]()
    samples.take()
    with progress("load", steps, "steps", Console(stderr=True)) as bar:
        for _ in range(steps):
            paced(fleet, frames // 1_000, step_s)
            samples.take()
            found.append(fleet.latencies_ns())
            bar.advance(1)
    fleet.drain()
    yield "| seconds | p50 | p99 | longest | daemon, MiB | open files | of a core |"
    yield "|---|---|---|---|---|---|---|"
    for part in np.array_split(np.arange(steps), QUARTERS):
        first, last = int(part[0]), int(part[-1]) + 1
        p50, p99, _, longest = percentiles(list(itertools.chain(*found[first:last])))
        held = np.array(samples.bytes[first : last + 1]) / MEBIBYTE
        files = samples.files[first : last + 1]
        core = (samples.cpu_s[last] - samples.cpu_s[first]) / ((last - first) * step_s)
        yield (
            f"| {first * step_s:,.0f} to {last * step_s:,.0f} | {p50:,.0f} | {p99:,.0f} |"
            f" {longest:,.0f} | {held.min():,.0f} to {held.max():,.0f} |"
            f" {min(files)} to {max(files)} | {core:.2f} |"
        )


def load(
    terminals: int, frames: int, ticks: int, seconds: float, answered_every: int
) -> Iterator[str]:
    """Latencies in microseconds from the moment the plan brings a frame."""
    yield (
        f"{terminals} terminals, {frames:,} frames of {ticks} ticks a second for {seconds:,.0f} s"
        f" behind 5 s to warm up, one of {answered_every:,} answered; microseconds from the plan to"
        " the signal.\n"
    )
    with tempfile.TemporaryDirectory() as folder, daemon(Path(folder)) as running:
        fleet = Fleet(running, terminals, ticks, answered_every)
        paced(fleet, frames // 1_000, STEP_S)
        fleet.drain()
        fleet.latencies_ns()
        yield from borne(fleet, running, frames, seconds)
        brought = fleet.market.count
        fleet.close()
        yield f"\n{brought:,} ticks brought, all acknowledged, each signal answered.\n"


def started(folder: Path) -> tuple[float, float]:
    """Seconds from the start of a daemon until it listens, and until its rules are warm."""
    began_s = time.monotonic()
    with daemon(folder) as running:
        terminal = Terminal(running)
        terminal.greet()
        listens_s = time.monotonic() - began_s
        terminal.close()
        while not running.is_warm:
            assert time.monotonic() - began_s < START_S, "its rules do not get warm"
            time.sleep(0.02)
        return listens_s, time.monotonic() - began_s


def starts(records: int) -> Iterator[str]:
    """How long a start takes, over nothing and over so many stored records."""
    yield f"Seconds from a start, {records:,} ticks stored.\n"
    yield "| | listens | rules are warm |"
    yield "|---|---|---|"
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        yield "| nothing stored | {:.1f} | {:.1f} |".format(*started(folder))
        _store(folder, records)
        yield "| with a snapshot | {:.1f} | {:.1f} |".format(*started(folder))
        for path in (folder / "state").rglob("*.state"):
            path.unlink()
        yield "| with none: all again | {:.1f} | {:.1f} |".format(*started(folder))


def _store(folder: Path, records: int) -> None:
    """As many ticks as are wanted, as fast as they are taken; each signal is answered."""
    with daemon(folder) as running:
        terminal, market = Terminal(running), Market(MARKED_EVERY)
        terminal.greet()
        while market.count < records:
            if terminal.client.unacknowledged < 65_536:
                terminal.take(Brought.of(market.next(20_000)), time.monotonic_ns())
            terminal.send()
            terminal.wait(time.monotonic_ns() + 1_000_000)
        terminal.drain()
        terminal.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=("frames", "long", "start"))
    parser.add_argument("--terminals", type=int, default=50)
    parser.add_argument("--frames", type=int, help="frames a second: 20,000, of `long` 1,000")
    parser.add_argument("--ticks", type=int, default=10, help="ticks in a frame")
    parser.add_argument("--answered-every", type=int, help="frames: 100, of `long` 1,000")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--records", type=int, default=5_000_000)
    parser.add_argument("--one-core", action="store_true")
    options = parser.parse_args()
    if options.one_core:
        os.sched_setaffinity(0, {0})
    is_long = options.what == "long"
    frames = options.frames or (1_000 if is_long else 20_000)
    answered_every = options.answered_every or (1_000 if is_long else 100)
    seconds = 60 * options.minutes if is_long else options.seconds
    if options.what == "start":
        lines = starts(options.records)
    else:
        lines = load(options.terminals, frames, options.ticks, seconds, answered_every)
    for line in lines:
        print(line, flush=True)
    print(describe())


if __name__ == "__main__":
    main()
