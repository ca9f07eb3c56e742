"""The thread that brings the order journal to the disk."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread

from loguru import logger

from mt5bridge.orders.journal import OrderJournal

_LOOK_S = 0.5
_RETRY_S = 1.0


class Syncer:
    """Syncs whenever something was added, all of it at once, and says so through `on_synced`."""

    def __init__(self, journal: OrderJournal, on_synced: Callable[[], None]) -> None:
        self._journal = journal
        self._on_synced = on_synced
        self._stop = Event()
        self._thread = Thread(target=self._run, name="orders", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Sync what is there, and end."""
        self._stop.set()
        self._journal.added.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            if self._journal.added.wait(_LOOK_S):
                self._sync()
        self._sync()

    def _sync(self) -> None:
        try:
            self._journal.sync()
        except OSError as problem:
            logger.error("{}: {}; orders wait", self._journal.path, problem)
            self._stop.wait(_RETRY_S)
            return
        self._on_synced()
