"""Work that others do beside this process, who know the user's functions."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from cep.functions.files import FunctionFile, load_texts, loaded_files

Common = TypeVar("Common")
Task = TypeVar("Task")
Result = TypeVar("Result")


class Helpers(Protocol):
    """Those who work: processes of this machine, or the tasks of Spark (`cep.spark.helpers`)."""

    @property
    def jobs(self) -> int:
        """How many tasks they do at a time."""

    def each(
        self,
        work: Callable[[Common, Task], Result],
        common: Common,
        tasks: Sequence[Task],
    ) -> Iterator[Result]:
        """What comes of each task, in their order. Ended early, what is at work is ended, too.

        Each helper gets `common` once, and may remember what it has found out with it.
        """


@dataclass(frozen=True, slots=True)
class Processes:
    """So many processes of this machine."""

    jobs: int

    def each(
        self,
        work: Callable[[Common, Task], Result],
        common: Common,
        tasks: Sequence[Task],
    ) -> Iterator[Result]:
        """As `Helpers` says; where there is nothing to share, this process does it."""
        if min(self.jobs, len(tasks)) < 2:
            yield from (work(common, task) for task in tasks)
            return
        others = set(multiprocessing.active_children())
        context = multiprocessing.get_context("spawn")
        jobs = min(self.jobs, len(tasks))
        pool = ProcessPoolExecutor(jobs, context, _begin, (known_here(), common))
        waiting = [pool.submit(_called, work, task) for task in tasks]

        def end() -> None:
            for child in set(multiprocessing.active_children()) - others:
                child.terminate()

        yield from in_order(pool, waiting, end)


def in_order(
    pool: Executor, waiting: list[Future[Result]], end: Callable[[], None]
) -> Iterator[Result]:
    """The results in the order in which they were asked for. Ended early, what is not begun never
    is, and `end` ends what is at work: nobody wants it.
    """
    try:
        while waiting:
            found = waiting[0].result()
            del waiting[0]
            yield found
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        if waiting:
            end()


_common: list[Any] = []
"""What all tasks of this process have in common."""


def _begin(functions: Sequence[FunctionFile], common: object) -> None:
    """In each process."""
    with suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started it ends it
    know(functions)
    _common[:] = [common]


def _called(work: Callable[[Common, Task], Result], task: Task) -> Result:
    return work(_common[0], task)


def known_here() -> tuple[FunctionFile, ...]:
    """The user's functions of this process, to be sent to others."""
    return loaded_files()


def know(functions: Sequence[FunctionFile]) -> None:
    """Have the user's functions of another process in this one."""
    if loaded_files() != tuple(functions):
        load_texts(functions)
