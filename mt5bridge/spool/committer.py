"""A thread that commits as fast as the disk allows, so that appenders never wait for it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from mt5bridge.spool.spool import Spool
from mt5bridge.troubles import Effect, Troubles

RETRY_S = 0.25
GATHER_S = 0.01
"""Fewer, larger commits leave the appending thread in peace: each of them takes its time from it,
and only acknowledgements wait. Much that waits is not gathered for so long.
"""
COMMITS = "spool-commit"
"""The name of the thread."""


def _nothing() -> None:
    return None


class CommitThread:
    """Group commit: whatever arrived during one fdatasync goes to disk with the next one.

    `clock_ms` is asked for the time by which segments are rotated. `on_turn` is called after each
    attempt to commit, every `RETRY_S` at least. A spool that is full or fails is one of `troubles`.
    """

    def __init__(
        self,
        spool: Spool,
        clock_ms: Callable[[], int],
        troubles: Troubles | None = None,
        on_turn: Callable[[], None] = _nothing,
    ) -> None:
        self._spool = spool
        self._clock_ms = clock_ms
        self._troubles = troubles or Troubles()
        self._on_turn = on_turn
        self._stop = threading.Event()
        self._worker = self._troubles.worker(COMMITS, self._run)
        self.turns = 0
        """Turns that have ended: a thread that hangs makes none."""

    @property
    def failure(self) -> BaseException | None:
        """What has ended the thread before its time."""
        return self._worker.failure

    def start(self) -> None:
        self._worker.start()

    def end(self) -> None:
        """Commit what is pending and end."""
        self._stop.set()
        self._worker.join()

    def stop(self) -> None:
        """As `end`; raises what has ended the thread before its time."""
        self.end()
        if self.failure is not None:
            raise self.failure

    def _run(self) -> None:
        while not self._stop.is_set():
            if not self._spool.pending_bytes:  # else it is busy, and need not be woken
                self._spool.wait(RETRY_S)
            self._spool.wait_for_much(GATHER_S)
            self.commit()
            if self._spool.problem:
                self._stop.wait(RETRY_S)
        self.commit()

    def commit(self) -> None:
        """One turn of the thread."""
        self._spool.commit(self._clock_ms())
        if self._spool.problem:
            self._troubles.report(self._spool.directory, self._spool.problem, Effect.WAITS)
        else:
            self._troubles.clear(self._spool.directory)
        self._on_turn()
        self.turns += 1
