"""S1: a backtest of N3 over archived ticks, by Spark and without it.

N3 is a 5-minute window with mean and deviation, two band events on their edges, and a complex event
of both, for each of 100 symbols with a tick a second. It is a module; beside it stand candles of a
minute with a cross of two means, which are a program. `python -m benchmarks.s1 --help`.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from math import sqrt
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pyspark

from benchmarks.machine import describe
from benchmarks.measure import FOLDER, seconds, table
from cep.archive import Archive, import_history
from cep.backtest.divided import Divided, Wanted
from cep.backtest.parts import run_task
from cep.backtest.records import read
from cep.backtest.selection import Selection, select
from cep.backtest.sequential import sequential
from cep.engine.native import Compiled
from cep.plan import compile_rules
from cep.spark.backtest import backtest
from cep.spark.session import session
from mt5bridge.history import TickBlock
from mt5bridge.records import TICK

SYMBOLS = 100
START_MSC = 1_700_006_400_000
LOOP_TICKS = 200_000
RULES = """
define stream Tick (symbol string, bid double, ask double);
from Tick select symbol, (bid + ask) / 2 as mid insert into Mid;
from Mid#window.time(5 min)
select symbol, mid, avg(mid) as ma, stdDev(mid) as sd group by symbol insert into Band;
define engine Main (queue = 5 min);
define event Above for each symbol as Band[mid > ma + 2.0 * sd];
define event Below for each symbol as Band[mid < ma - 2.0 * sd];
define complex Turn for each symbol as Above followed by Below within 3 min;
"""
CANDLES = """
define stream Tick (symbol string, bid double, ask double);
from Tick#bars:time(bid, 1, 1 min) select symbol, close group by symbol insert into Bar;
from Bar select symbol, close, ema(close, 9) as fast, ema(close, 26) as slow
group by symbol insert into Mean;
define engine Main (queue = 1 hour);
define event Above for each symbol as Mean[fast > slow];
define event Below for each symbol as Mean[fast < slow];
define complex Turn for each symbol as Above followed by Below within 30 min;
"""
OUTPUTS = ("Turn",)
Way = Callable[[], int]
Line = tuple[str, ...]


def blocks(ticks: int) -> Iterator[TickBlock]:
    """A random walk per symbol; the symbols' ticks are 10 ms apart from one another."""
    count = ticks // SYMBOLS
    for number in range(SYMBOLS):
        random = np.random.default_rng(number)
        records = np.zeros(count, TICK)
        records["time_msc"] = START_MSC + 10 * number + 1000 * np.arange(count)
        records["bid"] = np.round(100 + np.cumsum(random.integers(-1, 2, count)) * 0.01, 2)
        records["ask"] = np.round(records["bid"] + 0.01, 2)
        records["flags"] = 6
        yield TickBlock(f"S{number:02}", records)


def made(folder: Path, ticks: int) -> Archive:
    """The archive in a folder, filled unless it is there."""
    archive = Archive(folder)
    if not archive.manifest.files:
        import_history(archive, blocks(ticks))
    return archive


def in_parts(rules: Compiled, selection: Selection) -> int:
    """What the tasks and the driver do, one after the other in this process."""
    with tempfile.TemporaryDirectory() as folder:
        divided = Divided.of(rules, selection, folder, Wanted())
        parts = [row for task in divided.tasks for row in run_task(divided.job, task)]
        return sum(len(rows) for rows in divided.rows(parts))


def read_only(selection: Selection, rules: Compiled) -> int:
    """Reading alone: checksums, Parquet to Arrow, one symbol after the other."""
    for part in selection.by_symbol().values():
        for step in read(part, rules.plan):
            assert step
    return 0


def python_loop(selection: Selection, rules: Compiled) -> int:
    """The usual event loop in plain Python: one call a tick, window and edges by hand."""
    found = 0
    for part in selection.by_symbol().values():
        strategy = Strategy()
        for step in read(part, rules.plan):
            table = step["Tick"]
            columns = (table[name].to_pylist() for name in ("time_msc", "bid", "ask"))
            for time_msc, bid, ask in zip(*columns, strict=True):
                found += strategy.on_tick(time_msc, (bid + ask) / 2)
    return found


class Strategy:
    """N3 for one symbol, with running sums."""

    def __init__(self) -> None:
        self.window: deque[tuple[int, float]] = deque()
        self.sum = self.squares = 0.0
        self.above = self.below = False
        self.above_msc: int | None = None

    def on_tick(self, time_msc: int, mid: float) -> bool:
        self.window.append((time_msc, mid))
        self.sum, self.squares = self.sum + mid, self.squares + mid * mid
        while self.window[0][0] + 300_000 <= time_msc:
            _, old = self.window.popleft()
            self.sum, self.squares = self.sum - old, self.squares - old * old
        n = len(self.window)
        mean = self.sum / n
        deviation = sqrt(max(self.squares / n - mean * mean, 0.0))
        above, below = mid > mean + 2 * deviation, mid < mean - 2 * deviation
        if above and not self.above:
            self.above_msc = time_msc
        turned = below and not self.below and self.above_msc is not None
        turned = turned and time_msc - (self.above_msc or 0) <= 180_000
        self.above, self.below = above, below
        return turned


def cpu_seconds() -> float:
    """CPU time of this process and everything below it."""
    me = psutil.Process()
    total = 0.0
    for process in [me, *me.children(recursive=True)]:
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system
        total += times.children_user + times.children_system if process is not me else 0.0
    return total


def measured(name: str, rows: int, way: Way, runs: int) -> Line:
    """A line of the table: medians of warm runs after a first one."""
    first = seconds(way)
    wall, cpu, found = [], [], 0
    for _ in range(runs):
        begin, begin_cpu = time.perf_counter(), cpu_seconds()
        found = way()
        wall.append(time.perf_counter() - begin)
        cpu.append(cpu_seconds() - begin_cpu)
    spent, cores = statistics.median(wall), statistics.median(cpu)
    line = (
        name, f"{first:.1f}", f"{spent:.2f}", f"{rows / spent / 1e6:.2f}", f"{cores:.2f}",
        f"{rows / cores / 1e6:.2f}", f"{found:,}",
    )  # fmt: skip
    print("  ".join(line), flush=True)
    return line


def spark_way(master: str, rules: Compiled, selection: Selection, rows: int, runs: int) -> Line:
    with session(master, app="s1") as spark:
        return measured(
            f"Spark {master}", rows,
            lambda: sum(len(found) for found in backtest(spark, rules, selection)), runs,
        )  # fmt: skip


def lines(archive: Archive, ticks: int, runs: int) -> Iterator[Line]:
    """The table of N3, way by way."""
    rules = Compiled(compile_rules(RULES), outputs=OUTPUTS)
    whole = select(archive, rules.plan)
    yield measured("reading only", ticks, lambda: read_only(whole, rules), runs)
    yield from ways(rules, whole, ticks, runs)
    some = select(archive, rules.plan, whole.symbols[: max(1, LOOP_TICKS * SYMBOLS // ticks)])
    yield measured("Python event loop", some.rows, lambda: python_loop(some, rules), runs)


def ways(rules: Compiled, whole: Selection, ticks: int, runs: int) -> Iterator[Line]:
    """The lines of our own ways."""
    yield measured("one process, by symbol", ticks, lambda: in_parts(rules, whole), runs)
    yield measured(
        "one process, all symbols in turn", ticks,
        lambda: sum(len(rows) for rows in sequential(rules, whole)), runs,
    )  # fmt: skip
    for cores in (1, 2):
        yield spark_way(f"local[{cores}]", rules, whole, ticks, runs)


def page(archive: Archive, runs: int) -> str:
    """The results as Markdown."""
    rows = sum(file.rows for file in archive.manifest.files)
    size = sum(file.bytes for file in archive.manifest.files)
    what = (
        f"{rows:,} ticks of {SYMBOLS} symbols in {len(archive.manifest.files)} files, "
        f"{size / rows:.1f} bytes a tick; {', '.join(OUTPUTS)} is put out. Medians of {runs} runs "
        "after a first one, which starts workers and loads code. CPU time is that of all processes."
    )
    head = ("way", "first run s", "s", "M ticks/s", "CPU s", "M ticks/CPU s", "found")
    body = table(head, list(lines(archive, rows, runs)))
    candles = Compiled(compile_rules(CANDLES), outputs=OUTPUTS)
    crosses = table(head, list(ways(candles, select(archive, candles.plan), rows, runs)))
    versions = f"PyArrow {pa.__version__}, PySpark {pyspark.__version__}."
    title = "# S1: backtest of N3 over archived ticks"
    of_candles = "The same for candles of a minute and a cross of two means of them, a program:"
    return "\n\n".join([title, what, body, of_candles, crosses, describe().strip(), versions])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ticks", type=int, default=20_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="keep the archive here")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        text = page(made(chosen.folder or Path(temporary), chosen.ticks), chosen.runs)
    (FOLDER / "s1.md").write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
