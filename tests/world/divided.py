"""A turn of a thread that is interrupted where it waits for the disk, while others go on."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from threading import Semaphore, Thread, current_thread

from tests.durability.recording import Killed


class DividedTurn:
    """At most one is under way. It has a thread of its own, but nothing runs beside it: whoever
    runs has the other one wait, so that a seed is one run all the same.
    """

    def __init__(self, chance: random.Random, counts: Counter[str]) -> None:
        self._chance, self._counts = chance, counts
        self._odds = chance.choice((0.0, 0.3, 0.8))
        self._thread: Thread | None = None
        self._may_go_on, self._has_paused = Semaphore(0), Semaphore(0)
        self._is_over = self._is_hurried = False

    @property
    def is_under_way(self) -> bool:
        return self._thread is not None

    def begin(self, act: Callable[[], object]) -> None:
        """Run to the first interruption, or to the end."""
        self._is_over = False
        self._thread = Thread(target=self._run, args=(act,), name="divided turn", daemon=True)
        self._thread.start()
        self.go_on()

    def go_on(self) -> None:
        """Run to the next interruption, or to the end."""
        self._may_go_on.release()
        self._has_paused.acquire()
        if self._is_over and self._thread is not None:
            self._thread.join()
            self._thread = None

    def finish(self) -> None:
        """Run to the end, without a further interruption; who waits for a lock of it does so."""
        if current_thread() is self._thread:
            return
        self._is_hurried = True
        while self._thread is not None:
            self.go_on()
        self._is_hurried = False

    def pause(self) -> None:
        """May interrupt the turn here, if it is one that asks."""
        is_it = current_thread() is self._thread and not self._is_hurried
        if is_it and self._chance.random() < self._odds:
            self._counts["interrupted"] += 1
            self._has_paused.release()
            self._may_go_on.acquire()

    def _run(self, act: Callable[[], object]) -> None:
        self._may_go_on.acquire()
        try:
            act()
        except Killed:
            pass  # the disk knows
        finally:
            self._is_over = True
            self._has_paused.release()
