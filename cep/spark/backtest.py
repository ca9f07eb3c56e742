"""A backtest on Spark: stage 1 a symbol at a time in its tasks, stage 2 on their parts in the driver.

Stage 2 is one engine with one clock: it cannot be spread, it sees few rows, and its output goes
to files of the driver's machine. So it runs in the driver, on parts that come to it slice by slice
in the order of the records, with no more than one slice in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

import msgspec
from pyspark.sql import DataFrame, SparkSession

from cep.backtest.errors import BacktestError
from cep.backtest.parts import Job, PartRow, merged_rows, tasks, why_sequential
from cep.backtest.records import keys_in_order
from cep.backtest.selection import Selection
from cep.backtest.slices import SLICE_ROWS, cuts
from cep.engine.encode import InputRows
from cep.engine.native import Compiled
from cep.engine.rows import Rows
from cep.spark.source import NAME, PartsSource, Work

TASKS_A_CORE = 4
POLL_SECONDS = 0.2
GROUP = "mt5cep backtest"


def backtest(
    spark: SparkSession,
    rules: Compiled,
    selection: Selection,
    *,
    slice_rows: int = SLICE_ROWS,
    reach: Callable[[int, int], None] = lambda done, total: None,
) -> Iterator[Rows]:
    """Output rows in order, those of `cep.backtest.sequential`; `reach` gets tasks done and total.

    BacktestError when the rules cannot be run a symbol at a time (`why_sequential`).
    """
    reason = why_sequential(rules)
    if reason is not None:
        raise BacktestError(f"symbols cannot be run apart: {reason}", "run the rules in sequence")
    keys = keys_in_order(selection, rules.plan)
    job = Job.of(rules, keys, cuts(selection.files, slice_rows))
    warm(rules)
    parts = parts_frame(spark, job, selection)
    with reporting(spark, reach):
        yield from merged_rows(rules, keys, collected(parts))


def warm(rules: Compiled) -> None:
    """Put the machine code into the cache, or every worker would compile it for itself."""
    run = rules.start()
    none = run.no_rows()
    run.feed(InputRows(none.ints, none.floats))


def parts_frame(spark: SparkSession, job: Job, selection: Selection) -> DataFrame:
    """The parts as a table, slice by slice: partition i holds slice i, in order of symbols."""
    spark.dataSource.register(PartsSource)
    todo = tasks(selection, TASKS_A_CORE * spark.sparkContext.defaultParallelism)
    work = msgspec.json.encode(Work(job, tuple(todo))).decode()
    parts = spark.read.format(NAME).option("work", work).load()
    by_slice = parts.repartitionById(len(job.cuts) + 1, parts["slice"].cast("int"))
    return by_slice.sortWithinPartitions("place")


def collected(parts: DataFrame) -> Iterator[PartRow]:
    """Rows of the frame in order, one partition at a time; BacktestError for a failed part."""
    for row in parts.toLocalIterator(prefetchPartitions=True):
        if row["error"]:
            raise BacktestError(row["error"])
        values = row.asDict()
        yield PartRow(**{**values, "part": bytes(values["part"])})


@contextmanager
def reporting(spark: SparkSession, reach: Callable[[int, int], None]) -> Iterator[None]:
    """Tell how many tasks of the jobs started inside the block are done, while it lasts."""
    context = spark.sparkContext
    context.setJobGroup(GROUP, GROUP)
    done = Event()

    def watch() -> None:
        while not done.wait(POLL_SECONDS):
            tracker = context.statusTracker()
            jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(GROUP)]
            stages = {stage for job in jobs if job for stage in job.stageIds}
            found = [info for stage in stages if (info := tracker.getStageInfo(stage))]
            if found:
                reach(sum(s.numCompletedTasks for s in found), sum(s.numTasks for s in found))

    watcher = Thread(target=watch, name="progress", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
