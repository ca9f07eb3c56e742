"""The last row of each group before the batch, from which sums go on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import sqlalchemy as sa

from cep.database.dialects.base import Element
from cep.database.lower.groups import Groups


@dataclass(frozen=True)
class Carried:
    """The last row of a group before the batch."""

    table: sa.Table
    groups: Sequence[Element]
    by: Groups
    is_joined: bool

    @cached_property
    def _lasts(self) -> sa.Subquery:
        """The last row of each group, all at once."""
        rows = self.table.alias("q")
        names = [*self.by.names]
        if self.by.dialect.forms == "postgresql":
            seen = self.table.alias("r")
            newest = sa.select(sa.func.max(seen.c.pos)).group_by(*(seen.c[name] for name in names))
            return sa.select(rows).where(rows.c.pos.in_(newest)).subquery("last")
        values = [
            sa.func.arg_max(column, rows.c.pos, type_=column.type).label(column.key)
            for column in rows.c
            if column.key not in names
        ]
        keys = [rows.c[name] for name in names]
        return sa.select(*keys, *values).group_by(*keys).subquery("last")

    def last(self, name: str) -> Element:
        """A column of that row; null where there is none."""
        if self.is_joined:
            return self._lasts.c[name]
        rows = self.table.alias("q")
        newest = [column.desc() for column in (rows.c.ts, rows.c.pos)]
        if "num" in [column.key for column in self.table.primary_key]:
            newest = [rows.c.num.desc()]
        elif "ts" not in [column.key for column in self.table.primary_key]:
            newest = [rows.c.pos.desc()]
        found = sa.select(rows.c[name]).where(*self.by.equal(rows, self.groups))
        return found.order_by(*newest).limit(1).scalar_subquery()

    def beside(self, rows: sa.FromClause) -> sa.FromClause:
        """The new rows, with these beside them where they are joined."""
        if not self.is_joined:
            return rows
        met = sa.and_(sa.true(), *self.by.equal(self._lasts, self.groups))
        return rows.outerjoin(self._lasts, met)
