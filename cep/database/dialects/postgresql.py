"""PostgreSQL: https://www.postgresql.org/docs/current/functions-math.html"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from cep.database.dialects.base import Dialect, Element, Lower
from cep.database.dialects.numbers import guarded, no_nan, wrapped_long
from cep.plan.types import Type


def _long(op: str) -> Lower:
    """An operation on longs that wraps."""

    def lower(left: Element, right: Element) -> Element:
        wide = sa.Numeric()
        found = sa.cast(left, wide).op(op, return_type=wide)(sa.cast(right, wide))
        return wrapped_long(found, wide)

    return lower


POSTGRESQL = Dialect(
    name="postgresql",
    compiler=postgresql.dialect(paramstyle="format"),  # type: ignore[no-untyped-call]
    in_process=False,
    forms="postgresql",
    arithmetic={(op, Type.LONG): guarded(op, _long(op)) for op in "+-*"},
    narrow={Type.FLOAT: no_nan, Type.DOUBLE: no_nan},
    never={
        "% double": "PostgreSQL has no remainder of doubles",
        "% float": "PostgreSQL has no remainder of floats",
    },
    batch_records=2_000,
)
