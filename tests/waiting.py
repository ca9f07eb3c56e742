"""How long tests wait for what must come: so long that only what never comes is too late."""

from __future__ import annotations

import threading
from collections.abc import Callable

from mt5bridge.clock import monotonic_ms

LONG_S = 600.0
"""Every deadline of a test, also of a process, a thread or a socket under test. A machine may be
slow, throttled or busy with other things; a test that fails for that is wrong."""
LONG_MS = 600_000
_LOOK_S = 0.005


def deadline() -> Callable[[], bool]:
    """Whether so much time has passed since now."""
    end_ms = monotonic_ms() + LONG_MS
    return lambda: monotonic_ms() > end_ms


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait for a condition that another thread or process makes true."""
    limit = deadline()
    pause = threading.Event()
    while not condition():
        assert not limit(), "the deadline has passed"
        pause.wait(_LOOK_S)
