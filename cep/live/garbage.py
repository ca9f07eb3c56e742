"""When Python looks for garbage: between two turns, and at all objects while nothing comes.

By itself Python looks whenever some hundred objects were made, which is in the midst of a signal's
way, and at all there are whenever these have grown by a quarter: 0.1 s where many orders are kept.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from mt5bridge.clock import Now

SWITCH_S = 0.0001
"""How long another thread may keep a signal waiting."""
NEW_OBJECTS = 2_000
"""So many made and not freed since are looked at, which takes 0.1 ms."""
QUIET_MS = 200
"""Nothing came for so long: a look at all objects makes nobody wait, as a rule."""
OBJECTS = 1_000_000
"""After so many that were new, all are looked at in the next quiet moment."""
OBJECTS_MAX = 5 * OBJECTS
"""After so many, all are looked at also where there is none: memory has a limit, too."""


class Garbage:
    """Belongs to the server's thread, and is looked after at the end of each turn.

    Most objects die as soon as nobody knows them. Only those that know each other in a circle have
    to be found. New ones are, at the end of a turn; what has outlived its turn is set aside
    (`gc.freeze`) and found when all are looked at.
    """

    def __init__(self) -> None:
        self._outlived = 0
        self._came_ms = 0

    @contextmanager
    def between_turns(self) -> Iterator[None]:
        """Python does not look by itself meanwhile."""
        switch_s = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_S)
        self.look_at_all()
        gc.disable()
        try:
            yield
        finally:
            gc.enable()
            gc.unfreeze()
            sys.setswitchinterval(switch_s)

    def expect(self) -> None:
        """Much of what was kept is garbage now, or will be: all is looked at when nothing comes."""
        self._outlived = max(self._outlived, OBJECTS)

    def look(self, now: Now, received: int) -> None:
        """The end of a turn in which so many frames came. O(objects made in it)."""
        if received:
            self._came_ms = now.ms
        made = gc.get_count()[0]
        if made >= NEW_OBJECTS:
            gc.collect(0)
            gc.freeze()
            self._outlived += made
        is_quiet = now.ms - self._came_ms >= QUIET_MS
        if self._outlived >= (OBJECTS if is_quiet else OBJECTS_MAX):
            self.look_at_all()

    def look_at_all(self) -> None:
        """O(all objects): 0.1 s where rules are compiled."""
        gc.unfreeze()
        gc.collect()
        gc.freeze()
        self._outlived = 0
