"""How long rules take from text to the first answer: nothing compiled, kernels compiled, cached.

And how long `replay` of a million recorded ticks does, which does not wait for the compiler: with
nothing compiled, with all, and with the library that runs programs alone.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.measure import RUNS, in_new_process, seconds, table, write_results
from cep.engine.machine import library
from cep.engine.native import Compiled
from cep.plan import compile_rules
from cep.replay import Source, replay
from tests.data.real_ticks import FOLDER
from tests.strategies.running import REAL, STRATEGIES, plan_of, real_sources

TICKS = 1_000_000
HEAD = """
define stream S (symbol string, mid double);
from S#window.time(5 min)
select symbol, mid, avg(mid) as ma, stdDev(mid) as sd group by symbol insert into Band;
define engine Main (queue = 5 min);
"""
SIZES = (2, 10, 50)


def rules(events: int, level: int) -> str:
    """Rules with so many simple events and half as many complex ones; `level` makes them others."""
    lines = [
        f"define event E{i} in Main for each symbol as Band[mid > ma + {level + i}.0 * sd];"
        for i in range(events)
    ]
    lines += [
        f"define complex C{i} in Main for each symbol as E{i} followed by E{i + 1} within 3 min;"
        for i in range(0, events, 2)
    ]
    return HEAD + "\n".join(lines)


def first_answer(events: int, level: int) -> None:
    """Print the seconds from text to the answer to a first row; importing is not counted."""
    text = rules(events, level)
    row = {"symbol": ["A"], "mid": [1.0]}
    print(seconds(lambda: Compiled(compile_rules(text)).start().push("S", row, [0])))


def replayed(name: str, begun_s: str) -> None:
    """Print the seconds from the start of the process to the first row, from then on to the last,
    and the longest between two batches; reading the ticks is not counted.
    """
    plan = plan_of(name, **REAL)
    before_s = time.time()
    sources = [first_of(source) for source in real_sources(plan, None)]
    last_s = time.time()
    start_s = float(begun_s) + last_s - before_s
    pauses, first_s = [0.0], 0.0
    for rows in replay(Compiled(plan, waits=False), list(sources)):
        lines = sum(1 for _ in rows.json_lines())
        now_s = time.time()
        if lines and not first_s:
            first_s = now_s
        pauses.append(now_s - last_s)
        last_s = now_s
    print(first_s - start_s, last_s - first_s, max(pauses))


def first_of(source: Source) -> Source:
    """What is among the first million of all rows."""
    count = int(np.searchsorted(source.order, TICKS))
    return Source(source.stream, source.table.slice(0, count), source.order[:count])


def million(name: str, cache: Path) -> list[str]:
    said = in_new_process("benchmarks.compile_time", "replay", name, str(time.time()), cache=cache)
    return [f"{float(text):.2f} s" for text in said.split()]


def child(events: int, level: int, cache: Path) -> float:
    arguments = (str(events), str(level))
    return float(in_new_process("benchmarks.compile_time", *arguments, cache=cache))


def median(values: list[float]) -> str:
    return f"{sorted(values)[len(values) // 2]:.2f} s"


def main() -> None:
    if sys.argv[1:] == ["library"]:
        library.CODE.make()
        return
    if sys.argv[1:2] == ["replay"]:
        replayed(*sys.argv[2:])
        return
    if sys.argv[1:]:
        first_answer(*map(int, sys.argv[1:]))
        return
    lines = []
    for events in SIZES:
        cold, warm, cached = [], [], []
        for _ in range(RUNS):
            with tempfile.TemporaryDirectory() as folder:
                cold.append(child(events, 0, Path(folder)))
                cached.append(child(events, 0, Path(folder)))
                warm.append(child(events, 1, Path(folder)))
        lines.append([str(events), median(cold), median(warm), median(cached)])
    head = ["simple events", "nothing compiled", "kernels compiled by other rules", "cached"]
    note = "From the text of the rules to the answer to the first row; importing is not counted."
    write_results("compile_time", "Compile time", note, table(head, lines), *millions_of_ticks())


def millions_of_ticks() -> list[str]:
    """A paragraph and a table, where there are recorded ticks."""
    if not FOLDER.is_dir():
        return ["Recorded ticks are not there: `replay` was not timed."]
    lines = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        made = Path(folder) / "library"
        in_new_process("benchmarks.compile_time", "library", cache=made)
        for name in STRATEGIES:
            cache, programs = Path(folder) / name, Path(folder) / f"{name}-programs"
            shutil.copytree(made, programs)
            lines += [[name, state, *million(name, cache)] for state in ("empty", "filled")]
            lines.append([name, "library of programs", *million(name, programs)])
    head = ["rules", "cache", "first row", "then the last", "longest stall"]
    note = (
        f"`replay` of {TICKS:,} recorded ticks and fills, one run each: from the start of the"
        " process to the first row, from there to the last, and the longest wait for a batch."
    )
    return [note, table(head, lines)]


if __name__ == "__main__":
    main()
