"""What one frame costs the daemon."""

from __future__ import annotations

import time
from collections.abc import Callable

from mt5bridge.wire import encode
from tests.bridge.dialog import Dialog, ticks

_FRAMES, _TICKS = 400, 500
_YARDSTICKS_MAX = 30
"""Half a million ticks a second where it was set, an eighth of what there was."""


def _seconds(work: Callable[[], object]) -> float:
    """CPU time of the quickest of some runs: what the machine does beside does not count."""

    def once() -> int:
        began_ns = time.thread_time_ns()
        work()
        return time.thread_time_ns() - began_ns

    return min(once() for _ in range(5)) / 1e9


def _yardstick() -> None:
    """Work in plain Python, which a slow machine does as slowly."""
    found: dict[int, tuple[int, int]] = {}
    for number in range(_FRAMES * _TICKS):
        found[number & 1023] = (number, 2 * number)


def test_half_a_million_ticks_a_second() -> None:
    """In frames of 500, checks and marks included, measured by work in plain Python."""
    data = [encode(ticks(1 + number * _TICKS, _TICKS)) for number in range(_FRAMES)]

    def take() -> None:
        dialog = Dialog()
        dialog.begin("EURUSD")
        for frame in data:
            dialog.say_bytes(frame)
        assert dialog.counters["ticks"] == _FRAMES * _TICKS

    assert _seconds(take) < _YARDSTICKS_MAX * _seconds(_yardstick)
