"""What has failed in a running program, since when, and what follows from it.

Every writer and every thread reports here, so that whoever acknowledges looks in one place.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from threading import Lock
from typing import TypeAlias

import msgspec
from loguru import logger

from mt5bridge import clock
from mt5bridge.worker import Worker

NO_FILES = frozenset({errno.EMFILE, errno.ENFILE})
"""Too many files are open, in this process or in the machine: nothing was tried on the disk."""
NO_ROOM = NO_FILES | {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_CLOSE_FILES = (
    "connections count as files: end those that are too many, or raise `ulimit -n` and start again"
)


def is_full(problem: BaseException) -> bool:
    """Whether there is no room, which may come back; every other error of a disk is for good."""
    return isinstance(problem, OSError) and problem.errno in NO_ROOM


class Effect(StrEnum):
    """What a failure leads to."""

    GOES_ON = "goes on"  # nothing that is acknowledged depends on it; it is tried again
    WAITS = "waits"  # nothing is taken or acknowledged until an attempt succeeds
    ENDS = "ends"  # nothing is acknowledged any more, and the program ends


class Trouble(msgspec.Struct, frozen=True):
    """One failure; `name` is what has failed, a file or a thread. UTC milliseconds."""

    name: str
    text: str
    effect: Effect
    since_msc: int


Name: TypeAlias = object
"""A path or a word; its text counts."""


class Troubles:
    """What fails now, by name. May be used from any thread."""

    def __init__(self, now_msc: Callable[[], int] = clock.now_msc) -> None:
        self._now_msc = now_msc
        self._mutex = Lock()
        self._found: dict[str, Trouble] = {}
        self.stops = False
        """Whether nothing may be taken or acknowledged now."""
        self.end: Trouble | None = None
        """The first failure that ends the program."""

    def __iter__(self) -> Iterator[Trouble]:
        """All, the oldest first."""
        with self._mutex:
            return iter(list(self._found.values()))

    @contextmanager
    def attempt(self, name: Name, if_full: Effect = Effect.WAITS) -> Iterator[None]:
        """Around an attempt to write, which may be made again: an OSError is reported, not raised.

        A disk without room has the effect `if_full` until an attempt succeeds. Every other error
        ends the program: what a sync has failed to write may never reach the disk, whatever
        another sync says.
        """
        try:
            yield
        except OSError as problem:
            self.report(name, problem, if_full if is_full(problem) else Effect.ENDS)
        else:
            self.clear(name)

    def report(self, name: Name, problem: object, effect: Effect) -> None:
        """Something has failed; it is logged once, until it is cleared or becomes worse."""
        with self._mutex:
            known = self._found.get(str(name))
            if known is not None and known.effect in (effect, Effect.ENDS):
                return
            since_msc = known.since_msc if known else self._now_msc()
            trouble = Trouble(str(name), told(problem), effect, since_msc)
            self._found[str(name)] = trouble
            self._judge()
        logger.error("{}: {} ({})", name, trouble.text, _MEANING[effect])

    def note(self, name: Name, text: str) -> None:
        """What goes on and is to be seen to, logged by who has found it; the newest text counts."""
        with self._mutex:
            known = self._found.get(str(name))
            since_msc = known.since_msc if known else self._now_msc()
            self._found[str(name)] = Trouble(str(name), text, Effect.GOES_ON, since_msc)

    def clear(self, name: Name) -> None:
        """It works again; what ends the program stays."""
        if str(name) not in self._found:
            return
        with self._mutex:
            known = self._found.get(str(name))
            if known is None or known.effect is Effect.ENDS:
                return
            del self._found[str(name)]
            self._judge()
        logger.info("{}: works again", name)

    def worker(self, name: str, work: Callable[[], None]) -> Worker:
        """A thread whose failure ends the program."""
        return Worker(name, work, lambda problem: self.report(name, problem, Effect.ENDS))

    def _judge(self) -> None:
        found = self._found.values()
        self.stops = any(one.effect is not Effect.GOES_ON for one in found)
        if self.end is None:
            self.end = next((one for one in found if one.effect is Effect.ENDS), None)


_MEANING = {
    Effect.GOES_ON: "everything else goes on, and it will be tried again",
    Effect.WAITS: "nothing is taken or acknowledged until there is room",
    Effect.ENDS: "nothing is acknowledged any more, the program ends",
}


def told(problem: object) -> str:
    """A problem in words; the kind of an error whose text alone would say little."""
    if isinstance(problem, OSError) and problem.errno in NO_FILES:
        return f"{problem}; {_CLOSE_FILES}"
    if isinstance(problem, OSError) or not isinstance(problem, BaseException):
        return str(problem)
    return f"{type(problem).__name__}: {problem}"
