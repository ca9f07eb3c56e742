"""A turn of a thread that is interrupted, as where it waits for a disk, while others go on."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from threading import Lock, Thread, current_thread

from tests.durability.recording import Killed


class DividedTurn:
    """At most one is under way. Turns have a thread of their own, but nothing runs beside it:
    whoever runs has the other one wait, so that a seed is one run all the same. In a world that
    never interrupts any they need no thread.
    """

    def __init__(
        self,
        chance: random.Random,
        counts: Counter[str],
        counted_as: str = "interrupted",
        odds: tuple[float, ...] = (0.0, 0.3, 0.8),
    ) -> None:
        """One of these `odds` holds, for each of the places where a turn may be interrupted."""
        self._chance, self._counts, self._counted_as = chance, counts, counted_as
        self._odds = chance.choice(odds)
        self._thread: Thread | None = None
        self._may_go_on, self._has_paused = Lock(), Lock()
        self._may_go_on.acquire()
        self._has_paused.acquire()
        self._act: Callable[[], object] | None = None
        self._is_hurried = False

    @property
    def is_under_way(self) -> bool:
        return self._act is not None

    def begin(self, act: Callable[[], object]) -> None:
        """Run to the first interruption, or to the end."""
        if not self._odds:
            _run(act)
            return
        self._act = act
        if self._thread is None:
            self._thread = Thread(target=self._take_turns, name="divided turns", daemon=True)
            self._thread.start()
        self.go_on()

    def go_on(self) -> None:
        """Run to the next interruption, or to the end."""
        self._may_go_on.release()
        self._has_paused.acquire()

    def finish(self) -> None:
        """Run to the end, without a further interruption; who waits for a lock of it does so."""
        if current_thread() is self._thread:
            return
        self._is_hurried = True
        while self.is_under_way:
            self.go_on()
        self._is_hurried = False

    def close(self) -> None:
        """There are no more turns."""
        self.finish()
        if self._thread is not None:
            self._may_go_on.release()
            self._thread.join()
            self._thread = None

    def pause(self) -> None:
        """May interrupt the turn here, if it is one that asks."""
        is_it = current_thread() is self._thread and not self._is_hurried
        if is_it and self._chance.random() < self._odds:
            self._counts[self._counted_as] += 1
            self._has_paused.release()
            self._may_go_on.acquire()

    def _take_turns(self) -> None:
        self._may_go_on.acquire()
        while self._act is not None:
            _run(self._act)
            self._act = None
            self._has_paused.release()
            self._may_go_on.acquire()


def _run(act: Callable[[], object]) -> None:
    with suppress(Killed):  # the disk knows
        act()
