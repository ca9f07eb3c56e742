"""A backtest on Spark: stage 1 by symbol and time in its tasks, stage 2 in the driver.

Stage 2 is one engine with one clock: it cannot be spread, it sees few rows, and its output goes
to files of the driver's machine. So it runs in the driver, on parts that it takes slice by slice in
the order of the records, with no more than one slice in memory.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread

import msgspec
from pyspark.sql import DataFrame, SparkSession

from cep.backtest.code import code_hash
from cep.backtest.divided import Divided, Wanted, grouped
from cep.backtest.errors import BacktestError
from cep.backtest.parts import PartRow, why_sequential
from cep.backtest.selection import Selection
from cep.dropped import Ended, nobody
from cep.engine.native import Compiled
from cep.engine.rows import Rows
from cep.spark.source import NAME, PartsSource, Work

TASKS_A_CORE = 4
POLL_SECONDS = 0.2
_runs = itertools.count(1)


def backtest(
    spark: SparkSession,
    rules: Compiled,
    selection: Selection,
    *,
    work: Path | None = None,
    slice_rows: int | None = None,
    advance: Callable[[int], None] = lambda n: None,
    on_task: Callable[[int, int], None] = lambda done, total: None,
    ended: Ended = nobody,
) -> Iterator[Rows]:
    """Output rows in order, those of `cep.backtest.sequential.sequential`.

    `work` is a folder that all machines can write to; one of this machine if left out. `advance` is
    told how many records were read, `on_task` how many tasks of how many are done, `ended` what all
    tasks and the driver have dropped. BacktestError when the rules cannot be run a symbol at a time
    (`why_sequential`).
    """
    reason = why_sequential(rules, lived=selection.is_lived, ends_sorted=selection.ends_sorted)
    if reason is not None:
        raise BacktestError(f"symbols cannot be run apart: {reason}", "run the rules in sequence")
    with TemporaryDirectory(prefix="mt5cep-", dir=work and work.resolve()) as folder:
        tasks = TASKS_A_CORE * spark.sparkContext.defaultParallelism
        divided = Divided.of(rules, selection, folder, Wanted(tasks, slice_rows))
        divided.warm()
        with reporting(spark, on_task):
            parts = collected(parts_frame(spark, divided, tasks))
        advance(sum(part.rows for part in parts))
        yield from divided.rows(parts, ended)


def parts_frame(spark: SparkSession, divided: Divided, groups_max: int) -> DataFrame:
    """The parts as a table, which at most so many of Spark's tasks make."""
    spark.dataSource.register(PartsSource)
    groups = grouped(divided.tasks, groups_max)
    work = Work(divided.job, tuple(map(tuple, groups)), code_hash())
    return spark.read.format(NAME).option("work", msgspec.json.encode(work).decode()).load()


def collected(parts: DataFrame) -> list[PartRow]:
    """The rows of the frame; BacktestError for a part that failed."""
    found = [PartRow(**row.asDict()) for row in parts.collect()]
    for part in found:
        if part.error:
            raise BacktestError(part.error)
    return found


@contextmanager
def reporting(spark: SparkSession, on_task: Callable[[int, int], None]) -> Iterator[None]:
    """Tell how far the first job started inside the block is: the one that runs the rules."""
    group = f"mt5cep backtest {next(_runs)}"
    spark.sparkContext.setJobGroup(group, group)
    tracker = spark.sparkContext.statusTracker()
    done = Event()

    def watch() -> None:
        while not done.wait(POLL_SECONDS):
            job = tracker.getJobInfo(min(tracker.getJobIdsForGroup(group), default=-1))
            stages = [tracker.getStageInfo(stage) for stage in job.stageIds] if job else []
            found = [stage for stage in stages if stage]
            if found:
                on_task(sum(s.numCompletedTasks for s in found), sum(s.numTasks for s in found))

    watcher = Thread(target=watch, name="progress", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
