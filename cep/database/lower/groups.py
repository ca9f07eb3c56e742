"""Groups as columns of a key, which hold no null: a flag says where one was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from cep.database.conversions import whole
from cep.database.dialects.base import Dialect, Element
from cep.database.expressions import Lowering
from cep.database.tables import NUMBER, ColumnType
from cep.plan.expressions import Column
from cep.plan.types import Type

_ZEROS = {Type.STRING: "", Type.FLOAT: 0.0, Type.DOUBLE: 0.0}


@dataclass(frozen=True, slots=True)
class Groups:
    """What `group by` tells apart: two columns each, so that `=` and an index find a group."""

    by: tuple[Column, ...]
    dialect: Dialect

    @property
    def columns(self) -> Mapping[str, ColumnType]:
        """Their names and types."""
        found: dict[str, ColumnType] = {}
        for place, one in enumerate(self.by):
            found |= {f"z_{place}": NUMBER, f"g_{place}": self.dialect.column_types[one.type]}
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of a group."""
        return tuple(self.columns)

    def of(self, lowering: Lowering) -> list[Element]:
        """A row's group, in the order of the columns."""
        found: list[Element] = []
        for one in self.by:
            value = lowering.value(one)
            found.append(sa.case((value.is_(None), whole(1)), else_=whole(0)))
            found.append(sa.func.coalesce(value, self._zero(one), type_=value.type))
        return found

    def same(self, left: sa.FromClause, right: sa.FromClause) -> list[Element]:
        """Whether rows of two tables with these columns are of one group."""
        return [left.c[name] == right.c[name] for name in self.names]

    def equal(self, rows: sa.FromClause, group: Sequence[Element]) -> list[Element]:
        """Whether rows of a table are of a group."""
        return [rows.c[name] == value for name, value in zip(self.names, group, strict=True)]

    def _zero(self, one: Column) -> Element:
        if one.type is Type.BOOL:
            return sa.false()
        kind = self.dialect.column_types[one.type]
        return sa.cast(sa.literal(_ZEROS.get(one.type, 0), kind), kind)
