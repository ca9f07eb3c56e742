"""The only module that reads a clock; everywhere else time is passed in."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple, TypeAlias


class Now(NamedTuple):
    """One instant on both clocks."""

    ms: int  # monotonic; only differences mean something
    utc_msc: int  # wall time since 1970


Clock: TypeAlias = Callable[[], Now]


def now() -> Now:
    """The instant of this machine's clocks."""
    return Now(monotonic_ms(), now_msc())


def now_msc() -> int:
    """Wall time, UTC milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def monotonic_ms() -> int:
    """Milliseconds that never go back; only differences mean something."""
    return time.monotonic_ns() // 1_000_000


def monotonic_ns() -> int:
    """Nanoseconds that never go back, for measuring latency."""
    return time.monotonic_ns()
