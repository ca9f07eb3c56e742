"""N1-N9 beside Siddhi and Esper, on the same rows in the same run, with the ratio per workload.

`python -m benchmarks.side_by_side [N2 N8 ..]`: all workloads, or those named. Rows and batches of
columns are made before the clock starts. Without a JVM or the peers' artifacts only our own figures
are measured, and the table says so.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence, Sized
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks import peers
from benchmarks.measure import RUNS, seconds, table, write_results
from benchmarks.peers import Figure
from benchmarks.workloads import WORKLOADS, Input, Ints, Workload, workload
from cep.engine.native import Compiled, Run
from cep.engine.row_feed import RowFeed
from cep.plan import compile_rules

BATCH = 10_000
SINGLE_EVENTS = 50_000
ENGINES = ("siddhi", "esper")
Rows = Sequence[tuple[object, ...]]


@dataclass(frozen=True)
class Ours:
    """Our own figures: columns in batches, a list of rows, a call per row; seconds to load."""

    batched: Figure
    rows: Figure
    single: Figure
    load_s: float


def columns(rows: Input, start: int, stop: int) -> dict[str, object]:
    """The rows as columns, symbols as a dictionary array."""
    made: dict[str, object] = {}
    for name, column in zip(rows.names, rows.columns, strict=True):
        made[name] = column[start:stop]
        if name == "symbol":
            codes = pa.array(column[start:stop], pa.int32())
            made[name] = pa.DictionaryArray.from_arrays(codes, pa.array(rows.symbols))
    return made


def batches(rows: Input, start: int, stop: int) -> list[tuple[dict[str, object], Ints]]:
    """The rows as batches of columns, with their times."""
    cuts = [*range(start, stop, BATCH), stop]
    return [(columns(rows, at, past), rows.times[at:past]) for at, past in pairwise(cuts)]


def push(run: Run, ready: Sequence[tuple[dict[str, object], Ints]]) -> int:
    """Feed batches; output rows."""
    return sum(len(run.push("S", *batch)) for batch in ready)


def values(rows: Input, start: int, stop: int) -> list[tuple[object, ...]]:
    """The rows as tuples: the time, then the values."""
    lists: list[list[object]] = [rows.times[start:stop].tolist()]
    for name, column in zip(rows.names, rows.columns, strict=True):
        plain = column[start:stop].tolist()
        lists.append([rows.symbols[code] for code in plain] if name == "symbol" else plain)
    return list(zip(*lists, strict=True))


def measure_ours(known: Workload) -> Ours:
    needed = max(known.events, 2 * min(SINGLE_EVENTS, known.events) + 1)
    rows = known.make(known.warm_up + RUNS * needed)
    made: list[Compiled] = []
    load_s = seconds(lambda: made.append(loaded(known)))
    run = made[0].start()
    push(run, batches(rows, 0, known.warm_up))
    figures = []
    for number in range(RUNS):
        start, found = known.warm_up + number * known.events, []
        ready = batches(rows, start, start + known.events)
        duration = seconds(lambda: found.append(push(run, ready)))  # noqa: B023
        figures.append((known.events / duration, found[0] / known.events))
    return Ours(_median(figures), *_by_rows(made[0], known, rows), load_s)


def loaded(known: Workload) -> Compiled:
    """The rules of a workload, ready to run."""
    rules = Compiled(compile_rules(known.siddhi, known.name), outputs=["Out"])
    rules.start().warm_up()
    return rules


def _by_rows(rules: Compiled, known: Workload, rows: Input) -> tuple[Figure, Figure]:
    """Rows made before the clock starts: lists of them, and one by one."""
    run = rules.start()
    push(run, batches(rows, 0, known.warm_up))
    feed: Callable[..., Sized] = RowFeed(run, "S").push
    feed(*values(rows, known.warm_up, known.warm_up + 1)[0])
    events, start = min(SINGLE_EVENTS, known.events), known.warm_up + 1
    ways: tuple[Callable[[Rows], int], ...] = (
        lambda ready: sum(
            len(run.push_rows("S", ready[at : at + BATCH])) for at in range(0, events, BATCH)
        ),
        lambda ready: sum(len(feed(*row)) for row in ready),
    )
    found: list[list[tuple[float, float]]] = [[], []]
    for _ in range(RUNS):
        for way, figures in zip(ways, found, strict=True):
            ready, out = values(rows, start, start + events), []
            duration = seconds(lambda: out.append(way(ready)))  # noqa: B023
            figures.append((events / duration, out[0] / events))
            start += events
    return _median(found[0]), _median(found[1])


def _median(figures: list[tuple[float, float]]) -> Figure:
    return Figure(
        statistics.median(rate for rate, _ in figures), float(np.mean([out for _, out in figures]))
    )


def line(known: Workload, without: str) -> list[str]:
    """A row of the table."""
    ours = measure_ours(known)
    theirs: dict[str, Figure] = {}
    if not without:
        for engine in ENGINES if known.esper else ENGINES[:1]:
            with tempfile.TemporaryDirectory() as folder:
                theirs[engine] = peers.measure(engine, known, RUNS, Path(folder))
    figures = (ours.batched, ours.rows, ours.single)
    rates = [amount(known.goal), *(amount(figure.events_per_s) for figure in figures)]
    cells = [known.name, known.title, *rates, f"{ours.batched.rows_per_event:.4g}"]
    for engine in ENGINES:
        if engine not in theirs:
            cells += ["-"] * 4
            continue
        rate = theirs[engine].events_per_s
        cells += [
            f"{amount(rate)} ({theirs[engine].rows_per_event:.4g})",
            f"{ours.batched.events_per_s / rate:,.0f}x",
            f"{ours.rows.events_per_s / rate:.1f}x",
            f"{ours.single.events_per_s / rate:.1f}x",
        ]
    print(" | ".join(cells), flush=True)
    return cells


def amount(rate: float) -> str:
    if rate >= 1e6:
        return f"{rate / 1e6:.2f} M"
    return f"{rate / 1e3:.1f} k" if rate >= 1e3 else f"{rate:.0f}"


def main() -> None:
    chosen = [workload(name) for name in sys.argv[1:]] or list(WORKLOADS)
    without = peers.build()
    head = ["", "workload", "goal", "columns", "rows", "a call per row", "rows/event"]
    for engine in ENGINES:
        head += [f"{engine.title()} (rows/event)", "columns", "rows", "a call per row"]
    lines = [line(known, without) for known in chosen]
    note = (
        f"Without peers: {without}."
        if without
        else "Peers: Siddhi 5.1.21, Esper 8.9.0, one JVM each."
    )
    write_results(
        "side_by_side", "Beside Siddhi and Esper: events a second", table(head, lines), note
    )


if __name__ == "__main__":
    main()
