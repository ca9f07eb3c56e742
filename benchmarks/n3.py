"""N3: bands over a 5-minute window per symbol, two edges, and a complex event of both."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks.measure import (
    MIB,
    RUNS,
    in_new_process,
    median_seconds,
    millions,
    peak_mib,
    seconds,
    table,
    write_results,
)
from cep.engine.native import Compiled, Run
from cep.engine.row_feed import RowFeed
from cep.engine.stage_run import StageRun
from cep.plan import compile_rules

RULES = """
define stream S (symbol string, mid double, volume long);
from S#window.time(5 min)
select symbol, mid, avg(mid) as ma, stdDev(mid) as sd group by symbol insert into Band;
define engine Main (queue = 5 min);
define event Up in Main for each symbol as Band[mid > ma + 2.0 * sd];
define event Down in Main for each symbol as Band[mid < ma - 2.0 * sd];
define complex Turn in Main for each symbol as Up followed by Down within 3 min;
"""
SYMBOLS = 100
STEP_MS = 10
WARM_UP = 100_000  # three windows of five minutes
EVENTS = {10_000: 2_000_000, 100: 200_000, 1: 50_000}  # by batch size
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Ticks:
    """Random walks of ±0.01 of all symbols in turn, 10 ms apart."""

    which: Ints
    mid: Floats
    times: Ints

    @classmethod
    def make(cls, count: int) -> Ticks:
        steps = np.random.default_rng(7).choice([-0.01, 0.01], count)
        which = np.arange(count) % SYMBOLS
        mid = np.empty(count)
        for symbol in range(SYMBOLS):
            mid[symbol::SYMBOLS] = 100 + np.cumsum(steps[symbol::SYMBOLS])
        return cls(which, mid, 1_600_000_000_000 + STEP_MS * np.arange(count))

    def columns(self, start: int, stop: int) -> dict[str, object]:
        names = pa.array([f"S{number:03d}" for number in range(SYMBOLS)])
        codes = pa.array(self.which[start:stop], pa.int32())
        symbols = pa.DictionaryArray.from_arrays(codes, names)
        volume = np.ones(stop - start, np.int64)
        return {"symbol": symbols, "mid": self.mid[start:stop], "volume": volume}


def warmed(rules: Compiled, ticks: Ticks) -> Run:
    """A run whose windows are full."""
    run = rules.start(mode="sorted")
    run.push("S", ticks.columns(0, WARM_UP), ticks.times[:WARM_UP])
    return run


def measure(rules: Compiled, ticks: Ticks, batch: int, encoded: bool) -> tuple[float, int]:
    """Seconds for EVENTS[batch] events in batches, and output rows."""
    run = warmed(rules, ticks)
    places = [(at, at + batch) for at in range(WARM_UP, WARM_UP + EVENTS[batch], batch)]
    columns = [(ticks.columns(*place), ticks.times[slice(*place)]) for place in places]
    found: list[int] = []
    if encoded:
        batches = [
            run.encoder.encode("S", values, times, np.arange(start, stop))
            for (start, stop), (values, times) in zip(places, columns, strict=True)
        ]
        duration = seconds(lambda: found.extend(len(run.feed(rows)) for rows in batches))
    else:
        duration = seconds(
            lambda: found.extend(len(run.push("S", values, times)) for values, times in columns)
        )
    return duration, sum(found)


def measure_rows(rules: Compiled, ticks: Ticks) -> tuple[float, int]:
    """The same for rows fed alone, one by one."""
    run = warmed(rules, ticks)
    push = RowFeed(run, "S").push
    at = slice(WARM_UP, WARM_UP + EVENTS[1])
    names = [f"S{number:03d}" for number in ticks.which[at]]
    rows = list(zip(ticks.times[at].tolist(), names, ticks.mid[at].tolist(), strict=True))
    found: list[int] = []
    duration = seconds(lambda: found.extend(len(push(t, name, mid, 1)) for t, name, mid in rows))
    return duration, sum(found)


def row(how: str, batch: int, runs: list[tuple[float, int]]) -> list[str]:
    duration, found = sorted(runs)[len(runs) // 2]
    events = EVENTS[batch]
    per_call_us = duration / (events / batch) * 1e6
    return [how, f"{batch:,}", millions(events / duration), f"{found / duration:,.0f}",
            f"{per_call_us:,.1f} µs"]  # fmt: skip


def throughput(rules: Compiled) -> str:
    ticks = Ticks.make(WARM_UP + max(EVENTS.values()))
    rows = []
    for batch in EVENTS:
        for how, encoded in (("`Run.push`: columns", False), ("`Run.feed`: encoded rows", True)):
            runs = [measure(rules, ticks, batch, encoded) for _ in range(RUNS)]
            rows.append(row(how, batch, runs))
    runs = [measure_rows(rules, ticks) for _ in range(RUNS)]
    rows.append(row("`RowFeed.push`: a row", 1, runs))
    return table(["fed by", "batch", "events/s", "rows out/s", "a call"], rows)


def first_row() -> None:
    """Print the seconds from rules to the first answer, MiB of a warm state and of the process."""
    ticks = Ticks.make(WARM_UP)
    rules = Compiled(compile_rules(RULES, "n3.cep"), outputs=["Turn"])
    print(seconds(lambda: rules.start().push("S", ticks.columns(0, 1), ticks.times[:1])))
    runner = warmed(rules, ticks).runner
    assert isinstance(runner, StageRun)
    print(sum(array.nbytes for array in runner.state) / MIB)
    print(peak_mib())


def start_up() -> str:
    with tempfile.TemporaryDirectory() as folder:
        cold = child(Path(folder))
        runs = sorted(child(Path(folder)) for _ in range(RUNS))
    cached = runs[RUNS // 2]
    return (
        f"Rules to first answer: {cold[0]:.1f} s with nothing compiled, {cached[0]:.2f} s with "
        f"compiled code on disk. Memory: the state of {SYMBOLS} full windows, queues and output "
        f"{cached[1]:.1f} MiB; peak of the whole process, libraries included, {cached[2]:.0f} MiB "
        f"({cold[2]:.0f} MiB when it compiles)."
    )


def child(cache: Path) -> list[float]:
    return [float(text) for text in in_new_process("benchmarks.n3", "first", cache=cache).split()]


def main() -> None:
    if sys.argv[1:] == ["first"]:
        first_row()
        return
    rules = Compiled(compile_rules(RULES, "n3.cep"), outputs=["Turn"])
    median_seconds(rules.start().warm_up, 1)
    parts = (f"```sql{RULES}```", throughput(rules), start_up())
    write_results("n3", "N3: band events and a complex event per symbol", *parts)


if __name__ == "__main__":
    main()
