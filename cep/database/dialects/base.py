"""What differs between databases, as far as expressions go."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.sql.compiler import SQLCompiler

from cep.plan.types import Type

Element = sa.ColumnElement[Any]
Lower = Callable[..., Element]
"""An operation on lowered operands."""

PRODUCT = 8
"""How strongly `*` and `/` bind, for `Element.op`: without it operands are not in parentheses."""

COLUMN_TYPES: dict[Type, sa.types.TypeEngine[Any]] = {
    Type.INT: sa.BigInteger(),
    Type.LONG: sa.BigInteger(),
    Type.FLOAT: sa.REAL(),
    Type.DOUBLE: sa.Double(),
    Type.STRING: sa.Text(),
    Type.BOOL: sa.Boolean(),
}
"""How attributes are stored. An int has room to spare, so that operations on it can wrap."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """One database: how its SQL is written, and what it has in another way than the rest.

    `arithmetic`: operations by operator and type; `narrow`: the result of an operation as its type
    holds it; `as_float`: a whole number as one of 32 bits. What is in none of them is written as
    everywhere. `never` names operations that the database does not have, with the reason.
    `in_process`: it can call functions of ours. `forms`: where one statement can be written in
    several ways, those that suit this database are the ways of that one. `batch_events`: how many
    are one batch where all are there, as in a replay (measured at 80 rules); `batch_records`: how
    many that wait are one where they come live.
    """

    name: str
    compiler: sa.engine.Dialect
    in_process: bool
    forms: Literal["sqlite", "duckdb", "postgresql"]
    column_types: Mapping[Type, sa.types.TypeEngine[Any]] = field(
        default_factory=lambda: COLUMN_TYPES
    )
    arithmetic: Mapping[tuple[str, Type], Lower] = field(default_factory=dict)
    narrow: Mapping[Type, Lower] = field(default_factory=dict)
    as_float: Lower | None = None
    never: Mapping[str, str] = field(default_factory=dict)
    batch_events: int = 10_000
    batch_records: int = 10_000

    def text(self, statement: sa.ClauseElement) -> tuple[str, tuple[Any, ...]]:
        """The statement's text, and its constants in the order of their places."""
        compiled = statement.compile(dialect=self.compiler)
        if not isinstance(compiled, SQLCompiler):  # of a table: it has no constants
            return str(compiled), ()
        names = compiled.positiontup or ()
        return str(compiled), tuple(compiled.params[name] for name in names)
