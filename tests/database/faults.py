"""A connection on which something happens at a chosen moment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cep.database.dialects import Dialect
from cep.database.drivers import Driver
from cep.plan.types import Type

Hook = Callable[[int, str], None]
"""Told the number of a call (0, 1, ..) and what it is about to do."""


def _nothing(number: int, what: str) -> None:
    """Nothing happens."""


class Hooked:
    """Passes everything on; `before` and `after` each call, counted from when they are set."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self.dialect: Dialect = driver.dialect
        self.calls = 0
        self.before: Hook = _nothing
        self.after: Hook = _nothing

    def watch(self, before: Hook | None = None, after: Hook | None = None) -> None:
        """Count from now on."""
        self.calls = 0
        self.before, self.after = before or _nothing, after or _nothing

    def begin(self) -> None:
        self._call("begin", self._driver.begin)

    def commit(self) -> None:
        self._call("commit", self._driver.commit)

    def rollback(self) -> None:
        self._driver.rollback()

    def execute(self, text: str, values: Sequence[Any] = ()) -> int:
        return self._call(text, lambda: self._driver.execute(text, values))

    def load(
        self,
        table: str,
        columns: Sequence[str],
        data: Sequence[Sequence[Any]],
        types: Sequence[Type],
    ) -> None:
        self._call("load", lambda: self._driver.load(table, columns, data, types))

    def fetch(self, text: str, values: Sequence[Any] = ()) -> list[Any]:
        return self._call(text, lambda: self._driver.fetch(text, values))

    def claim(self, name: str) -> None:
        self._driver.claim(name)

    def reconnect(self) -> None:
        self._driver.reconnect()

    def close(self) -> None:
        self._driver.close()

    def _call(self, what: str, work: Callable[[], Any]) -> Any:
        number = self.calls
        self.calls += 1
        self.before(number, what)
        made = work()
        self.after(number, what)
        return made
