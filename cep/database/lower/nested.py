"""Tables side by side, looked through in the order in which they are written."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.selectable import Join


class _Nested(Join):
    """A product whose left side is the outer loop; other databases than SQLite choose for
    themselves."""

    inherit_cache = True


def nested(tables: Sequence[sa.FromClause]) -> sa.FromClause:
    """All combinations of the tables' rows; SQLite's outermost loop is the first table."""
    return reduce(lambda left, right: _Nested(left, right, sa.true()), tables)


@compiles(_Nested)
def _anywhere(clause: _Nested, compiler: SQLCompiler, **settings: Any) -> str:
    text: str = compiler.visit_join(clause, **settings)  # type: ignore[no-untyped-call]
    return text


@compiles(_Nested, "sqlite")
def _in_sqlite(clause: _Nested, compiler: SQLCompiler, **settings: Any) -> str:
    """https://sqlite.org/optoverview.html#manual_control_of_query_plans_using_cross_join"""
    settings["asfrom"] = True
    sides = (compiler.process(side, **settings) for side in (clause.left, clause.right))
    return " CROSS JOIN ".join(sides)
