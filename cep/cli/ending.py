"""Commands that are told to end clean up first: SIGTERM is then as Ctrl-C."""

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
    """Inside, SIGTERM raises SystemExit, so that drafts are removed. Its old handler comes back."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set handlers
        return

    def end(number: int, _frame: FrameType | None) -> None:
        sys.exit(ENDED + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
