"""Work of a run that another thread does: NumPy, Arrow and machine code let others go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

Made = TypeVar("Made")
Given = TypeVar("Given")


def ahead(source: Iterator[Made]) -> Iterator[Made]:
    """The same, each made while the one before is at work. Errors come where they would."""
    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(_next, source)
        while found := coming.result():
            coming = thread.submit(_next, source)
            yield from found


def _next(source: Iterator[Made]) -> list[Made]:
    """The next one, or none."""
    return list(islice(source, 1))


def each(pool: Executor | None, work: Callable[[Given], object], given: Sequence[Given]) -> None:
    """Do `work` of all, the last of them here; without a pool, all of them.

    An error is raised when all have ended, or at once where nobody else is at work.
    """
    if pool is None:
        for one in given:
            work(one)
        return
    others = [pool.submit(work, one) for one in given[:-1]]
    try:
        for one in given[-1:]:
            work(one)
    finally:
        for other in others:
            other.result()
