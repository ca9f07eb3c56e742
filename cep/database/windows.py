"""The windows that databases run."""

from __future__ import annotations

from cep.plan.steps import Window
from cep.plan.windows import kind_of

_WRITTEN = frozenset({"length", "time", "lengthJump", "timeJump"})


def is_written(window: Window) -> bool:
    """Whether there is SQL for a window."""
    return window.name in _WRITTEN


def is_timed(window: Window) -> bool:
    """Whether time, and not the number of rows, says how long a row is there."""
    return kind_of(window).by == "clock"


def numbers_of(window: Window) -> int:
    """How many of its arguments, the first, are whole numbers: its size, and its jump if any."""
    return 2 if kind_of(window).jumps else 1
