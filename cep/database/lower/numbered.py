"""Rows of a stream numbered by key, kept until so many of their key have come after them."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from cep.database.dialects.base import Element
from cep.database.expressions import Lowering
from cep.database.lower.groups import Groups
from cep.database.steps import batch_number
from cep.database.tables import NUMBER, Tables
from cep.plan.expressions import Column


def numbered(
    stream: str, keys: tuple[Column, ...], rows: int, begun: int, tables: Tables
) -> sa.Table:
    """A table with all that the stream's has, `num` (0, 1, .. of each key) and the key's columns.

    It has the last `rows` of each key at least, of those whose number is above `begun`.
    """
    groups = Groups(keys, tables.dialect)
    source = tables.stream(stream)

    def fill(table: sa.Table) -> sa.Select[Any]:
        row, earlier = source.alias("s"), table.alias("k")
        own = groups.of(Lowering(tables.dialect, tables.find({0: row})))
        last = sa.select(sa.func.max(earlier.c.num)).where(*groups.equal(earlier, own))
        place = sa.func.row_number().over(partition_by=own, order_by=row.c.pos)
        number: Element = sa.func.coalesce(last.scalar_subquery(), -1) + place
        is_new = row.c.pos > batch_number("base", stream)
        return sa.select(*row.c, number, *own).where(is_new, row.c.pos > begun)

    def purge(table: sa.Table) -> sa.Delete:
        # one look at all rows: a self-join would look at each key again for each row
        row = table.alias("k")
        by = [row.c[name] for name in groups.names]
        behind = sa.func.max(row.c.num).over(partition_by=by) - row.c.num
        ranked = sa.select(row.c.pos, behind.label("behind")).subquery("ranked")
        gone = sa.select(ranked.c.pos).where(ranked.c.behind >= rows)
        return sa.delete(table).where(table.c.pos.in_(gone))

    columns = {column.key: column.type for column in source.c}
    columns |= {"num": NUMBER, **groups.columns}
    asked = ".".join(str(key.position) for key in keys)
    name = f"numbered {asked} {rows} {begun}"
    return tables.following(stream, name, columns, (*groups.names, "num"), fill, purge)
