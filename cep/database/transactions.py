"""Work done in one transaction, and again when the database says that this may help."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from cep.database.drivers import Driver
from cep.database.errors import DatabaseError

T = TypeVar("T")
ATTEMPTS = 5
"""How often work is tried before its error is told."""


class Transactions:
    """Those of one connection. `pause` is called between attempts with their number (1, 2, ..)."""

    def __init__(self, driver: Driver, pause: Callable[[int], None]) -> None:
        self._driver = driver
        self._pause = pause
        self._is_lost = False

    def run(self, work: Callable[[], T], is_kept: Callable[[], bool]) -> T | None:
        """What the work gives, committed; DatabaseError, and nothing of it is there.

        A commit whose answer was lost with the connection may have been carried out. So `is_kept`
        is asked on a new connection. None: it was, in an earlier call, and what it gave is lost.
        """
        made: list[T] = []
        for attempt in range(1, ATTEMPTS + 1):
            try:
                if self._is_lost:
                    self._driver.reconnect()
                    self._is_lost = False
                    if is_kept():
                        break
                self._driver.begin()
                made = []
                made.append(work())
                self._driver.commit()
                break
            except BaseException as error:
                self._roll_back(error)
                if not getattr(error, "retry", False) or attempt == ATTEMPTS:
                    raise
                self._pause(attempt)
        return made[0] if made else None

    def _roll_back(self, error: BaseException) -> None:
        """Undo what was begun; a connection that is lost is opened anew later."""
        self._is_lost = self._is_lost or getattr(error, "is_lost", False)
        try:
            self._driver.rollback()
        except DatabaseError:
            self._is_lost = True
