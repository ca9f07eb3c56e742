"""What one frame costs the daemon."""

from __future__ import annotations

from mt5bridge import clock
from mt5bridge.wire import encode
from tests.bridge.dialog import Dialog, ticks

_FRAMES, _TICKS = 400, 500


def _seconds() -> float:
    dialog = Dialog()
    dialog.begin("EURUSD")
    data = [encode(ticks(1 + number * _TICKS, _TICKS)) for number in range(_FRAMES)]
    began_ns = clock.monotonic_ns()
    for frame in data:
        dialog.say_bytes(frame)
    seconds = (clock.monotonic_ns() - began_ns) / 1e9
    assert dialog.counters["ticks"] == _FRAMES * _TICKS
    return seconds


def test_half_a_million_ticks_a_second() -> None:
    """In frames of 500, checks and marks included; the best of some runs on a busy machine."""
    assert _FRAMES * _TICKS / min(_seconds() for _ in range(5)) > 500_000
