"""The same work on many things, in several processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import get_context
from typing import TypeVar

from loguru import logger

T = TypeVar("T")
R = TypeVar("R")


def _quiet() -> None:
    logger.remove()


def side_by_side(
    act: Callable[[T], R], items: Iterable[T], processes: int
) -> Iterator[tuple[T, R]]:
    """Each item and what came of it, as they come; ChildProcessError names what ended a process."""
    waiting, left = iter(items), dict[Future[R], T]()
    with ProcessPoolExecutor(processes, get_context("spawn"), _quiet) as pool:
        while True:
            for item in islice(waiting, 2 * processes - len(left)):
                left[pool.submit(act, item)] = item
            if not left:
                return
            try:
                for done in wait(left, return_when=FIRST_COMPLETED).done:
                    yield left[done], done.result()
                    del left[done]
            except BrokenProcessPool as problem:
                text = f"a process has ended at one of {sorted(map(str, left.values()))}"
                raise ChildProcessError(text) from problem
