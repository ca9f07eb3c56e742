"""What all programs are given, and what they answer: each runs in its package's environment.

A program is started with a folder of ticks and their number. To each line of standard input it
answers with a line of JSON about one run: so the runs of all programs can take turns.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

Given = TypeVar("Given")
POINT = 1e-5
DIGITS = 5
SYMBOL = "EURUSD"
LOT_UNITS = 100_000
UNITS = LOT_UNITS // 10
"""What is traded: 0.1 lots."""
NS_PER_MS = 1_000_000
FAST, SLOW = 200, 2_000
"""Ticks of the two means."""


class Trade(NamedTuple):
    """A closed position: times in ms since 1970, prices, and what it gained, in points."""

    opened_msc: int
    open_price: float
    closed_msc: int
    close_price: float
    points: float


def trade(opened_msc: int, open_price: float, closed_msc: int, close_price: float) -> Trade:
    """A long position without costs."""
    points = (close_price - open_price) / POINT
    return Trade(opened_msc, open_price, closed_msc, close_price, points)


@dataclass(frozen=True)
class Quotes:
    """Ticks, oldest first: times in ms since 1970, bids and asks, each of shape (n,)."""

    times_msc: npt.NDArray[np.int64]
    bids: npt.NDArray[np.float64]
    asks: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.times_msc)

    def first(self, ticks: int) -> Quotes:
        return Quotes(self.times_msc[:ticks], self.bids[:ticks], self.asks[:ticks])

    def half_points(self) -> npt.NDArray[np.int64]:
        """The mids in half points: whole numbers, whose sums are exact in any order."""
        return np.rint((self.bids + self.asks) / POINT).astype(np.int64)

    def times_ns(self) -> npt.NDArray[np.int64]:
        """Times no two of which are equal: ticks of one ms are a ns apart."""
        firsts = np.searchsorted(self.times_msc, self.times_msc)
        return self.times_msc * NS_PER_MS + np.arange(len(self)) - firsts


@dataclass(frozen=True)
class Job:
    """A strategy over the ticks of a folder."""

    folder: Path
    ticks: int
    fast: int
    slow: int

    def quotes(self) -> Quotes:
        columns = (np.load(self.folder / f"{name}.npy") for name in ("times_msc", "bids", "asks"))
        return Quotes(*columns).first(self.ticks)


@dataclass(frozen=True)
class Answer:
    """Of one run: seconds for the ticks from the file and for the run, peak memory, the trades."""

    version: str
    load_s: float
    run_s: float
    peak_mib: int
    trades: list[Trade]


def write(quotes: Quotes, folder: Path) -> None:
    """The ticks, where programs find them."""
    for name in ("times_msc", "bids", "asks"):
        np.save(folder / f"{name}.npy", getattr(quotes, name))


def peak_mib() -> int:
    """The most memory of this process, in MiB.

    `getrusage` counts what the process that started this one had then, so Linux is asked first.
    """
    status = Path("/proc/self/status")
    if status.is_file():
        lines = status.read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) >> 10
    import resource

    unit = 20 if sys.platform == "darwin" else 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> unit


def serve(
    version: str,
    load: Callable[[Job], Given],
    run: Callable[[Job, Given], list[Trade]],
    prepare: Callable[[Job], object] = Job.quotes,
) -> None:
    """Be a program: `load` reads the file, `run` is the backtest, `prepare` writes the file."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    for name in ("ticks", "fast", "slow"):
        parser.add_argument(name, type=int)
    parser.add_argument("--prepare", action="store_true")
    chosen: dict[str, Any] = vars(parser.parse_args())
    if is_prepared_only := chosen.pop("prepare"):
        prepare(Job(**chosen))
    for _ in () if is_prepared_only else sys.stdin:
        print(json.dumps(asdict(answer(version, Job(**chosen), load, run))), flush=True)


def answer(
    version: str,
    job: Job,
    load: Callable[[Job], Given],
    run: Callable[[Job, Given], list[Trade]],
) -> Answer:
    """One run."""
    begun = time.perf_counter()
    given = load(job)
    loaded = time.perf_counter()
    trades = run(job, given)
    ended = time.perf_counter()
    return Answer(version, loaded - begun, ended - loaded, peak_mib(), trades)
