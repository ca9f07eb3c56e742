"""One figure of `benchmarks.jepc`: an engine with so many queries of a kind, in its own process."""

from __future__ import annotations

import json
import math
import statistics
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.jepc_engines import NAIVE, NATIVE, Engine, Urls
from benchmarks.jepc_engines import engine as make
from benchmarks.measure import FOLDER, RUNS, in_new_process, peak_mib, seconds
from benchmarks.paper import DENSE, Load

CHUNK = 10_000
RUN_S, SLOW_RUNS = 0.4, 3
FILL_MS = 1_200
EVENTS_MAX = 1_000_000
COMPILE = "compile"
"""Asks for no figure, but for machine code to be there when it is measured."""
KEPT = FOLDER.parent / ".cache" / "jepc.jsonl"


@dataclass(frozen=True)
class Case:
    """What is measured; `batch` 0: as many events as the engine prefers.

    `is_cold`: with nothing compiled before; `is_durable`: what is taken is on disk.
    """

    engine: str
    kind: str
    queries: int = 80
    values: int = DENSE
    batch: int = 0
    is_cold: bool = False
    is_durable: bool = False

    @property
    def load(self) -> Load:
        return Load(self.kind, self.queries, self.values)


@dataclass(frozen=True)
class Figure:
    """Medians; from queries to the first event's results in s, peak memory of all in MiB."""

    events_per_s: float
    results_per_s: float
    start_s: float
    peak_mib: int
    refused: str = ""


def measure(case: Case, urls: Urls) -> Figure:
    """Fills the windows, then times as many events as take about RUN_S."""
    load, made = case.load, list[Engine]()
    is_naive = case.engine in NAIVE
    chunk = 1 if is_naive else case.batch or CHUNK
    at = FILL_MS * len(load.schemas)
    one, first = (next(load.batches(0, at, size)) for size in (1, at))

    def start() -> None:
        batch = case.batch or None
        made.append(make(case.engine, load, urls, batch, durable=case.is_durable))
        made[0].push(one)

    try:
        start_s = seconds(start)
    except ValueError as refused:
        return Figure(0, 0, 0, 0, str(refused))
    made[0].fill(first)
    found = list(rates(made[0], load, at, chunk, SLOW_RUNS if is_naive else RUNS))
    made[0].close()
    events, results = (statistics.median(one) for one in zip(*found, strict=True))
    return Figure(events, results, start_s, peak_mib())


def rates(
    engine: Engine, load: Load, at: int, chunk: int, runs: int
) -> Iterator[tuple[float, float]]:
    """(events a second, results a second) of each run; events are made before the clock starts."""
    count, taken = chunk, 0.0
    while taken < RUN_S / 4 and count <= EVENTS_MAX:
        count = count * 4 if taken else count
        taken, _ = _timed(engine, load, at, count, chunk)
        at += count
    count = max(1, min(EVENTS_MAX // chunk, math.ceil(count * RUN_S / taken / chunk))) * chunk
    for _ in range(runs):
        taken, found = _timed(engine, load, at, count, chunk)
        at += count
        yield count / taken, found / taken


def _timed(engine: Engine, load: Load, at: int, count: int, chunk: int) -> tuple[float, int]:
    batches = list(load.batches(at, count, chunk))
    found: list[int] = []
    taken = seconds(lambda: found.extend(engine.push(one) for one in batches))
    return taken, sum(found)


class Figures:
    """Measures each case once, in a process of its own, and keeps what was measured."""

    def __init__(self, urls: Urls, on_disk: Urls, keep: bool) -> None:
        self._urls = urls
        self._on_disk = on_disk
        self._known: dict[Case, Figure] = {}
        KEPT.parent.mkdir(exist_ok=True)
        if not keep:
            KEPT.unlink(missing_ok=True)
        for line in KEPT.read_text(encoding="utf-8").splitlines() if KEPT.exists() else ():
            case, figure = json.loads(line)
            self._known[Case(**case)] = Figure(**figure)

    def of(self, case: Case) -> Figure:
        """The figure of a case."""
        if case not in self._known:
            figure = self._measured(case)
            with KEPT.open("a", encoding="utf-8") as file:
                file.write(json.dumps([asdict(case), asdict(figure)]) + "\n")
            said = figure.refused or f"{figure.events_per_s:,.1f} events/s"
            print(*asdict(case).values(), said, flush=True)
            self._known[case] = figure
        return self._known[case]

    def _measured(self, case: Case) -> Figure:
        urls = self._on_disk if case.is_durable else self._urls
        told = json.dumps([asdict(case), dict(urls)])
        with tempfile.TemporaryDirectory() as folder:
            cache = Path(folder) if case.is_cold else None
            if case.engine == NATIVE and not case.is_cold:
                in_new_process("benchmarks.jepc_measure", told, COMPILE)
            said = in_new_process("benchmarks.jepc_measure", told, cache=cache)
        return Figure(**json.loads(said))


def main() -> None:
    case, urls = json.loads(sys.argv[1])
    if sys.argv[2:] == [COMPILE]:
        load = Case(**case).load
        make(NATIVE, load, urls).push(next(load.batches(0, 1, 1)))
        return
    print(json.dumps(asdict(measure(Case(**case), urls))))


if __name__ == "__main__":
    main()
