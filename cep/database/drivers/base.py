"""What every driver does: one connection, one transaction at a time, data by columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import sqlalchemy as sa

from cep.database.dialects.base import Dialect
from cep.database.errors import DatabaseError
from cep.plan.types import Type

Column = Any
"""A fetched column: a tuple or list of values, or an Arrow array. `values_of` reads either."""


class Driver(Protocol):
    """One connection to a database. Every method raises `DatabaseError`, and says what to do.

    Statements and their values are those of `Dialect.text`. Outside of `begin` .. `commit` each
    statement is a transaction of its own. After an error there is only `rollback` or `close`.
    """

    dialect: Dialect

    def begin(self) -> None:
        """Start a transaction."""

    def commit(self) -> None:
        """Keep what the transaction has done; durable if the connection is."""

    def rollback(self) -> None:
        """Undo the transaction; nothing happens when there is none, or the connection is lost."""

    def execute(self, text: str, values: Sequence[Any] = ()) -> int:
        """Run a statement: how many rows it has changed (-1 where the database does not say)."""

    def load(
        self,
        table: str,
        columns: Sequence[str],
        data: Sequence[Sequence[Any]],
        types: Sequence[Type],
    ) -> None:
        """Add rows: values by column, all of one length, lists or NumPy arrays; None is NULL."""

    def fetch(self, text: str, values: Sequence[Any] = ()) -> list[Column]:
        """The rows a query gives, as columns in its order."""

    def claim(self, name: str) -> None:
        """Have the tables whose names begin so alone; DatabaseError while another run has them."""

    def reconnect(self) -> None:
        """Open the connection anew; what was not committed is undone, and in memory all is gone.

        What was claimed is claimed again.
        """

    def close(self) -> None:
        """End the connection; what is not committed is undone."""


def values_of(column: Column) -> Sequence[Any]:
    """A fetched column as Python values; None is NULL."""
    if isinstance(column, tuple | list):
        return column
    values: Sequence[Any] = column.to_pylist()
    return values


def as_list(column: Sequence[Any]) -> Sequence[Any]:
    """A column to be loaded as Python values; NumPy's own numbers are foreign to drivers."""
    listed = getattr(column, "tolist", None)
    return column if listed is None else listed()


def missing(package: str) -> DatabaseError:
    """A package that is not there."""
    return DatabaseError(
        f"{package} is not installed; in the checkout of mt5cep run: pip install '.[database]'"
    )


def insert_text(dialect: Dialect, table: str, columns: Sequence[str], rows: int = 1) -> str:
    """`INSERT` with a mark for each column of some rows, row by row."""
    key = dialect.name, str(rows), table, *columns
    if key not in _insert_texts:
        into = sa.table(table, *(sa.column(name) for name in columns))
        parameters: list[dict[str, Any]] = [
            {name: sa.bindparam(None) for name in columns} for _ in range(rows)
        ]
        _insert_texts[key] = dialect.text(sa.insert(into).values(parameters))[0]
    return _insert_texts[key]


_insert_texts: dict[tuple[str, ...], str] = {}
"""Made once: writing one takes longer than many rows do."""
