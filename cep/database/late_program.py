"""A runner while there are late events: what is known of them, and the program that asks for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import sqlalchemy as sa

from cep.database.batches import Arrivals
from cep.database.drivers import Driver, values_of
from cep.database.steps import Program
from cep.database.tables import types_of


class LateProgram:
    """What a runner does while late events may be there, or rows that follow from them.

    `make` builds the program that asks for own times; it has the tables of `plain`.
    """

    def __init__(self, driver: Driver, plain: Program, make: Callable[..., Program]) -> None:
        assert plain.late is not None
        self._driver = driver
        self._plain = plain
        self._late = plain.late
        self._make = make
        self._count = sa.select(sa.func.count()).select_from(self._late)
        self.is_needed = self._number(self._count) > 0

    @cached_property
    def program(self) -> Program:
        """The program, made when it is first needed: few runs have late events."""
        return self._make(sees_late=True)

    def take(self, arrivals: Sequence[Arrivals], offset: int) -> None:
        """Note the late ones of a batch, whose places and `offset` are their numbers."""
        for one in arrivals:
            places, own = one.late()
            if len(places):
                self.is_needed = True
                data: list[Any] = [places + offset, own]
                self._driver.load(self._late.name, self._late.c.keys(), data, types_of(self._late))

    def forget(self) -> None:
        """Take away what is known of events of which no stream has a row any more."""
        if not self.is_needed:
            return
        oldest = [
            self._number(sa.select(sa.func.min(kept.table.c.seq)))
            for kept in self._plain.kept.values()
        ]
        first = min((seq for seq in oldest if seq), default=0)
        self._driver.execute(*self._text(sa.delete(self._late).where(self._late.c.seq < first)))
        self.is_needed = self._number(self._count) > 0

    def _number(self, asked: sa.Select[Any]) -> int:
        (column,) = self._driver.fetch(*self._text(asked))
        return int(values_of(column)[0] or 0)

    def _text(self, clause: sa.ClauseElement) -> tuple[str, tuple[Any, ...]]:
        return self._driver.dialect.text(clause)
