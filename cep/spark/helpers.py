"""Spark's tasks as those who work beside this process (`cep.backtest.pool.Helpers`).

Each task is a job of Spark's own, so that what is done is here as soon as it is done, and stays
where the rest is ended. Spark tries a task again whose worker has died.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from pyspark.sql import SparkSession

from cep.backtest.code import PACKAGES, code_hash
from cep.backtest.errors import BacktestError
from cep.backtest.pool import in_order, know, known_here
from cep.spark.source import other_code

if TYPE_CHECKING:
    from pyspark import Broadcast

Common = TypeVar("Common")
Task = TypeVar("Task")
Result = TypeVar("Result")
_groups = itertools.count(1)


@dataclass(frozen=True, slots=True)
class SparkHelpers:
    """The cores of a session's cluster."""

    spark: SparkSession

    @property
    def jobs(self) -> int:
        """How many cores there are, as far as Spark knows."""
        return max(1, self.spark.sparkContext.defaultParallelism)

    def each(
        self,
        work: Callable[[Common, Task], Result],
        common: Common,
        tasks: Sequence[Task],
    ) -> Iterator[Result]:
        """As `Helpers` says; BacktestError for a task that failed for a reason of ours."""
        context, group = self.spark.sparkContext, f"mt5cep tasks {next(_groups)}"
        shipped = context.broadcast((known_here(), common))
        there = partial(_there, code_hash(), shipped, work)

        def done(task: Task) -> Result:
            context.setJobGroup(group, group, interruptOnCancel=True)  # of this thread
            ((found, error),) = context.parallelize([task], 1).map(there).collect()
            if error:
                raise BacktestError(error)
            result: Result = found
            return result

        pool = ThreadPoolExecutor(max(1, min(2 * self.jobs, len(tasks))), "spark")
        waiting = [pool.submit(done, task) for task in tasks]
        try:
            yield from in_order(pool, waiting, partial(context.cancelJobGroup, group))
        finally:
            shipped.unpersist()


def _there(
    code: str, shipped: Broadcast[Any], work: Callable[[Any, Any], Any], task: Any
) -> tuple[Any, str]:
    """In Spark's Python: what came of a task, or what is wrong, for the user."""
    if code_hash() != code:
        return None, other_code(code)
    functions, common = shipped.value
    try:
        know(functions)
        return work(common, task), ""
    except Exception as error:
        if type(error).__module__.split(".")[0] not in PACKAGES:
            raise
        return None, str(error)
