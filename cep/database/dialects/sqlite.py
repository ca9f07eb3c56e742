"""SQLite: https://sqlite.org/lang_expr.html"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

from cep.database.dialects.base import COLUMN_TYPES, Dialect, Element, Lower
from cep.database.dialects.numbers import guarded
from cep.database.own import own_function
from cep.plan.numbers import arithmetic, float_remainder, to_float
from cep.plan.types import Type


def _own(hint: str, call: Callable[..., Any], arguments: int, type_: Type) -> Lower:
    """An operation on values that are not null, as a function of ours."""

    def strict(*values: Any) -> Any:
        return None if None in values else call(*values)

    def lower(*values: Element) -> Element:
        types = (type_,) * arguments
        name = own_function(("sqlite", hint), hint, lambda: strict, types, type_)
        found: Element = getattr(sa.func, name)(*values, type_=COLUMN_TYPES[type_])
        return found

    return lower


_as_float = _own("float", to_float, 1, Type.FLOAT)

# SQLite turns whole numbers beyond 64 bits into rounded ones, and `%` is for whole numbers.
_ARITHMETIC = {
    **{
        (op, Type.LONG): guarded(op, _own(name, arithmetic(op, Type.LONG), 2, Type.LONG))
        for op, name in (("+", "add_long"), ("-", "subtract_long"), ("*", "multiply_long"))
    },
    ("%", Type.DOUBLE): _own("remainder", float_remainder, 2, Type.DOUBLE),
    ("%", Type.FLOAT): _own("remainder", float_remainder, 2, Type.DOUBLE),
}

SQLITE = Dialect(
    name="sqlite",
    compiler=sqlite.dialect(paramstyle="qmark"),
    in_process=True,
    forms="sqlite",
    # it has no numbers of 32 bits: those it holds are rounded to them
    column_types={**COLUMN_TYPES, Type.FLOAT: sa.Double()},
    arithmetic=_ARITHMETIC,
    narrow={Type.FLOAT: _as_float},
    as_float=_as_float,
    batch_events=1_000,
    batch_records=1_000,
)
