"""Work in a pool of processes, which know the user's functions."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from typing import TypeVar

from cep.functions.files import FunctionFile, load_texts, loaded_files

Task = TypeVar("Task")
Result = TypeVar("Result")


def pooled(work: Callable[[Task], Result], tasks: Sequence[Task], jobs: int) -> Iterator[Result]:
    """What comes of each task, in their order. Ended early, the processes end at once."""
    others = set(multiprocessing.active_children())
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, context, _begin, (loaded_files(),))
    waiting = [pool.submit(work, task) for task in tasks]
    try:
        while waiting:
            found = waiting[0].result()
            del waiting[0]
            yield found
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        if waiting:  # nobody wants what they still work at
            for child in set(multiprocessing.active_children()) - others:
                child.terminate()


def _begin(functions: Sequence[FunctionFile]) -> None:
    """In each process."""
    with suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started it ends it
    load_texts(functions)
