"""The thread that brings the order journal to the disk."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event

from mt5bridge.orders.journal import OrderJournal
from mt5bridge.troubles import Troubles

_LOOK_S = 0.5
_GATHER_S = 0.01
"""What nobody waits for goes to the disk together: a sync for each signal would take the processor
from the next one.
"""
_RETRY_S = 1.0
SYNCS = "orders"
"""The name of the thread."""


class Syncer:
    """Syncs whenever something was added, all of it at once, and says so through `on_synced`.

    At once where somebody waits for it, as orders do, else what `_GATHER_S` has brought.

    A sync that fails is one of `troubles`; without room it is tried again, and orders wait.
    """

    def __init__(
        self,
        journal: OrderJournal,
        on_synced: Callable[[], None],
        troubles: Troubles | None = None,
    ) -> None:
        self._journal = journal
        self._on_synced = on_synced
        self._troubles = troubles or Troubles()
        self._stop = Event()
        self._worker = self._troubles.worker(SYNCS, self._run)
        self.turns = 0
        """Turns that have ended: a thread that hangs makes none."""

    def start(self) -> None:
        self._worker.start()

    def stop(self) -> None:
        """Sync what is there, and end."""
        self._stop.set()
        self._journal.added.set()
        self._journal.awaited.set()
        self._worker.join()

    def _run(self) -> None:
        while not self._stop.is_set() and self._troubles.end is None:
            if self._journal.has_more or self._journal.added.wait(_LOOK_S):
                self._journal.awaited.wait(_GATHER_S)
                if not self.sync():
                    self._stop.wait(_RETRY_S)
            self.turns += 1
        self.sync()

    def sync(self) -> bool:
        """Try once; whether all is on disk."""
        is_synced = False
        with self._troubles.attempt(self._journal.path):
            self._journal.sync()
            is_synced = True
        if is_synced:
            self._on_synced()
        return is_synced
