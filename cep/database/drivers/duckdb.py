"""DuckDB, data as Arrow tables. https://duckdb.org/docs/stable/clients/python/overview"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import sqlalchemy as sa

from cep.database.dialects.duckdb import DUCKDB
from cep.database.drivers.base import missing
from cep.database.drivers.locks import FileLocks
from cep.database.errors import DatabaseError
from cep.plan.types import Type

try:
    import duckdb

    from cep.database.drivers.duckdb_functions import ARROW, functions_of, leave
except ModuleNotFoundError:
    raise missing("duckdb") from None

_BATCH = "mt5cep_batch"
_OF_VALUES = (
    duckdb.ConstraintException,
    duckdb.OutOfRangeException,
    duckdb.ConversionException,
    duckdb.InvalidInputException,
)


class DuckdbDriver:
    """A file, or a database in memory. Commits are always durable."""

    dialect = DUCKDB

    def __init__(self, url: sa.URL, durable: bool) -> None:
        self._file = url.database or ":memory:"
        self._path = None if self._file == ":memory:" else str(Path(self._file).resolve())
        self._locks = FileLocks(self._path)
        self.reconnect()

    def claim(self, name: str) -> None:
        self._locks.claim(name)

    def reconnect(self) -> None:
        if hasattr(self, "_connection"):
            self._disconnect()
        self._is_open = False
        with _explained(self._file):
            self._connection = duckdb.connect(self._file)
            self._functions = functions_of(self._path, self._connection)

    def begin(self) -> None:
        self._functions.know()  # a transaction does not see what is made later
        with _explained(self._file):
            self._connection.begin()
            self._is_open = True

    def commit(self) -> None:
        with _explained(self._file):
            self._connection.commit()
            self._is_open = False

    def rollback(self) -> None:
        if self._is_open:
            self._is_open = False
            with _explained(self._file):
                self._connection.rollback()

    def execute(self, text: str, values: Sequence[Any] = ()) -> int:
        self._functions.know()
        with _explained(self._file):
            # to the end, or the connection stays busy
            found = self._connection.execute(text, list(values)).fetchall()
        return found[0][0] if found and isinstance(found[0][0], int) else -1

    def load(
        self,
        table: str,
        columns: Sequence[str],
        data: Sequence[Sequence[Any]],
        types: Sequence[Type],
    ) -> None:
        arrays = [
            pa.array(column, ARROW[type_], from_pandas=False)
            for column, type_ in zip(data, types, strict=True)
        ]
        text = _insert_text(table, tuple(columns))
        with _explained(self._file):
            self._connection.register(_BATCH, pa.table(arrays, names=list(columns)))
            try:
                self._connection.execute(text).fetchall()
            finally:
                self._connection.unregister(_BATCH)

    def fetch(self, text: str, values: Sequence[Any] = ()) -> list[Any]:
        self._functions.know()
        with _explained(self._file):
            found: pa.Table = self._connection.sql(text, params=list(values)).to_arrow_table()
        return list(found.columns)

    def close(self) -> None:
        self._disconnect()
        self._locks.free()

    def _disconnect(self) -> None:
        with _explained(self._file):
            self._connection.close()
        leave(self._path, self._functions)


@cache
def _insert_text(table: str, columns: tuple[str, ...]) -> str:
    """`INSERT` of a registered batch."""
    into, batch = (
        sa.table(name, *(sa.column(column) for column in columns)) for name in (table, _BATCH)
    )
    return DUCKDB.text(sa.insert(into).from_select(list(columns), sa.select(batch)))[0]


@contextmanager
def _explained(file: str) -> Iterator[None]:
    """Errors of DuckDB as ours."""
    try:
        yield
    except duckdb.Error as error:
        text = str(error)
        if "Could not set lock" in text or "already attached" in text:
            locked = f"{file} is in use by another process; end that, or use another file"
            raise DatabaseError(locked, retry=True) from error
        if "not a valid DuckDB database" in text or "Is a directory" in text:
            wrong = f"{file} is no database of DuckDB, or a damaged one; use another file"
            raise DatabaseError(wrong) from error
        if "Cannot open file" in text:
            closed = f"{file} cannot be opened; its folder must exist and be writable"
            raise DatabaseError(closed) from error
        if isinstance(error, duckdb.OutOfMemoryException):
            raise DatabaseError(f"DuckDB has no memory left; use a file: {text}") from error
        if "No space left" in text:
            raise DatabaseError(f"no room left for {file}; make some on its disk") from error
        if isinstance(error, duckdb.TransactionException):
            raise DatabaseError(f"DuckDB ({file}): {text}", retry=True) from error
        if "has been closed" in text or "database has been invalidated" in text:
            again = f"DuckDB ({file}) must be opened again: {text}"
            raise DatabaseError(again, retry=True, is_lost=True) from error
        raise DatabaseError(
            f"DuckDB ({file}): {text}", is_of_values=isinstance(error, _OF_VALUES)
        ) from error
