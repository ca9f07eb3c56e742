"""A thread that commits as fast as the disk allows, so that appenders never wait for it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from mt5bridge.spool.spool import Spool

RETRY_S = 0.25
GATHER_S = 0.002
"""Fewer, larger commits leave the appending thread in peace; it is far less than a sync takes."""


class CommitThread:
    """Group commit: whatever arrived during one fdatasync goes to disk with the next one.

    `clock_ms` is asked for the time by which segments are rotated.
    """

    def __init__(self, spool: Spool, clock_ms: Callable[[], int]) -> None:
        self.failure: BaseException | None = None
        self._spool = spool
        self._clock_ms = clock_ms
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="spool-commit", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Commit what is pending and end."""
        self._stop.set()
        self._thread.join()
        if self.failure is not None:
            raise self.failure

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                self._spool.wait(RETRY_S)
                self._stop.wait(GATHER_S)
                self._spool.commit(self._clock_ms())
                if self._spool.problem:
                    self._stop.wait(RETRY_S)
            self._spool.commit(self._clock_ms())
        except BaseException as failure:  # noqa: BLE001 -- stop() raises it in the caller's thread
            self.failure = failure
