"""What DuckDB's SQL has and SQLAlchemy does not.

https://duckdb.org/docs/stable/guides/sql_features/asof_join
https://duckdb.org/docs/stable/sql/functions/window_functions
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from cep.database.dialects.base import Element


class AsofJoin(sa.Join):
    """A left join; its condition has one `>=`, and perhaps equalities."""

    inherit_cache = True


class RangeOver(FunctionElement[Any]):
    """`function OVER (PARTITION BY .. ORDER BY order RANGE back PRECEDING)`, to the row itself.

    `back` may be any expression.
    """

    inherit_cache = True

    def __init__(self, function: Element, order: Element, back: Element, *by: Element) -> None:
        super().__init__(function, order, back, *by)
        self.type = function.type


@compiles(AsofJoin)
def _joined(join: AsofJoin, compiler: SQLCompiler, **options: Any) -> str:
    options |= {"asfrom": True, "from_linter": None}
    left, right = (compiler.process(side, **options) for side in (join.left, join.right))
    assert join.onclause is not None
    return f"{left} ASOF LEFT JOIN {right} ON {compiler.process(join.onclause)}"


@compiles(RangeOver)
def _ranged(over: RangeOver, compiler: SQLCompiler, **options: Any) -> str:
    written = [compiler.process(one, **options) for one in over.clauses]
    function, order, back, *by = written
    partition = f"PARTITION BY {', '.join(by)} " if by else ""
    return f"{function} OVER ({partition}ORDER BY {order} RANGE {back} PRECEDING)"
