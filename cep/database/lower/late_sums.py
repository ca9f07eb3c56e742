"""What late rows have added to cumulative sums that are due, though in the window by where they
lie.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa

from cep.database.conversions import whole
from cep.database.dialects.base import Element
from cep.database.expressions import Lowering
from cep.database.lower.sums import Sums


class LateSums:
    """Of the rows in front of one, `own` of the sums, that are due at its limit."""

    def __init__(self, sums: Sums) -> None:
        assert sums.tables.late is not None
        self._sums, self._late = sums, sums.tables.late
        self._rows = sums.table.alias("g")
        self._row = sums.tables.stream(sums.stream).alias("gs")

    def of_all(self, own: sa.FromClause, limit: Element) -> sa.Select[Any]:
        """Every cumulative column, by `pos_` and `limit_` of the rows that have any."""
        names = ["n", *(part.name for part in self._sums.parts if part.kind == "sum")]
        keys = (own.c.pos.label("pos_"), limit.label("limit_"))
        values = (self._total(name).label(name) for name in names)
        met = sa.and_(*self._where(own, limit))
        source = own.join(self._source, met)
        return sa.select(*keys, *values).select_from(source).group_by(own.c.pos, limit)

    def of_one(self, own: sa.FromClause, limit: Element, name: str) -> Element:
        """One cumulative column; null where there are none."""
        found = sa.select(self._total(name)).select_from(self._source)
        found = found.where(*self._where(own, limit))
        return found.correlate_except(self._rows, self._row, self._late).scalar_subquery()

    @property
    def _source(self) -> sa.FromClause:
        beside = self._rows.join(self._row, self._row.c.pos == self._rows.c.pos)
        return beside.join(self._late, self._late.c.seq == self._row.c.seq)

    def _where(self, own: sa.FromClause, limit: Element) -> Iterable[Element]:
        return (
            *self._sums.groups.same(self._rows, own),
            self._rows.c.ts > limit,
            self._rows.c.pos < own.c.pos,
            self._late.c.own <= limit,
        )

    def _total(self, name: str) -> Element:
        sums = self._sums
        part = next((one for one in sums.parts if one.name == name), None)
        added = whole(1)
        if part is not None:
            lowering = Lowering(sums.tables.dialect, sums.tables.find({0: self._row}))
            added = part.of(lowering.value(sums.arguments[part.place]))
        return sa.cast(sa.func.sum(added), sa.BigInteger())
