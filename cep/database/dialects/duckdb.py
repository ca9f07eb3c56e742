"""DuckDB: https://duckdb.org/docs/stable/sql/functions/numeric"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from cep.database.dialects.base import PRODUCT, Dialect, Element, Lower
from cep.database.dialects.numbers import guarded, no_nan, wrapped_long
from cep.plan.types import Type


class _Huge(sa.types.UserDefinedType[Any]):
    """Whole numbers of 128 bits: the product of two longs fits."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        return "HUGEINT"


def _whole_quotient(left: Element, right: Element) -> Element:
    return left.op("//", PRODUCT)(sa.func.nullif(right, 0))


def _long(op: str) -> Lower:
    """An operation on longs that wraps."""

    def lower(left: Element, right: Element) -> Element:
        found = sa.cast(left, _Huge()).op(op, return_type=_Huge())(sa.cast(right, _Huge()))
        return wrapped_long(found, _Huge())

    return lower


# DuckDB reads PostgreSQL's SQL but for what stands here.
DUCKDB = Dialect(
    name="duckdb",
    compiler=postgresql.dialect(paramstyle="qmark"),  # type: ignore[no-untyped-call]
    in_process=True,
    forms="duckdb",
    arithmetic={
        ("/", Type.INT): _whole_quotient,
        ("/", Type.LONG): _whole_quotient,
        **{(op, Type.LONG): guarded(op, _long(op)) for op in "+-*"},
    },
    narrow={Type.FLOAT: no_nan, Type.DOUBLE: no_nan},
)
