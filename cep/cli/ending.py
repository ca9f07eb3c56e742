"""Commands that are told to end clean up first: SIGTERM is then as Ctrl-C.

What a signal raises is lost where C calls Python, as LLVM does to hand over what it has compiled:
Python reports it and goes on, and Numba fails. So it is raised again.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

ENDED = 128
"""A shell shows a program that a signal has ended by this and the signal's number."""


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Inside, SIGTERM raises SystemExit, so that drafts are removed. Its old handler comes back.

    What SIGTERM and Ctrl-C have raised, and what was lost, ends the block instead of any error that
    came of it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set handlers
        return

    def end(number: int, _frame: FrameType | None) -> None:
        sys.exit(ENDED + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        with _found_again():
            yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _found_again() -> Iterator[None]:
    """What told to end inside, and nobody got, is raised at the end, and not reported."""
    lost: list[BaseException] = []
    others = sys.unraisablehook

    def report(told: sys.UnraisableHookArgs) -> None:
        if isinstance(told.exc_value, (KeyboardInterrupt, SystemExit)):
            lost.append(told.exc_value)
        else:
            others(told)

    sys.unraisablehook = report
    try:
        yield
    except Exception:
        if not lost:
            raise
    finally:
        sys.unraisablehook = others
    if lost:
        raise lost[0]
