"""SQLite, of Python's own library. https://sqlite.org/pragma.html"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from cep.database.dialects.sqlite import SQLITE
from cep.database.drivers.base import as_list, insert_text
from cep.database.drivers.locks import FileLocks
from cep.database.errors import DatabaseError
from cep.database.own import own_functions
from cep.plan.types import Type

LOCKED_WAIT_S = 5.0
STATEMENTS = 1_000
"""How many prepared statements are kept."""
ROWS = 50
"""Rows that one statement adds: half the time of one by one."""


class SqliteDriver:
    """A file, or a database in memory; one connection."""

    dialect = SQLITE
    _connection: sqlite3.Connection

    def __init__(self, url: sa.URL, durable: bool) -> None:
        self._file = url.database or ":memory:"
        self._durable = durable
        is_file = self._file != ":memory:"
        self._locks = FileLocks(str(Path(self._file).resolve()) if is_file else None)
        self.reconnect()

    def claim(self, name: str) -> None:
        self._locks.claim(name)

    def reconnect(self) -> None:
        if hasattr(self, "_connection"):
            with _explained(self._file):
                self._connection.close()
        self._own = 0
        with _explained(self._file):
            self._connection = sqlite3.connect(
                self._file,
                timeout=LOCKED_WAIT_S,
                isolation_level=None,
                cached_statements=STATEMENTS,
                check_same_thread=False,
            )
            for setting in _settings(self._durable):
                self._connection.execute(f"PRAGMA {setting}").fetchall()

    def begin(self) -> None:
        # a lock on writing at once: a later one may fail half-way
        self.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        self.execute("COMMIT")

    def rollback(self) -> None:
        if self._connection.in_transaction:
            self.execute("ROLLBACK")

    def execute(self, text: str, values: Sequence[Any] = ()) -> int:
        self._know()
        with _explained(self._file):
            return self._connection.execute(text, values).rowcount

    def load(
        self,
        table: str,
        columns: Sequence[str],
        data: Sequence[Sequence[Any]],
        types: Sequence[Type],
    ) -> None:
        lists = [as_list(column) for column in data]
        together = len(lists[0]) // ROWS * ROWS
        with _explained(self._file):
            if together:
                values = list(chain.from_iterable(zip(*lists, strict=True)))
                width = ROWS * len(lists)
                blocks = range(0, together * len(lists), width)
                text = insert_text(self.dialect, table, columns, ROWS)
                self._connection.executemany(text, (values[at : at + width] for at in blocks))
            rest = zip(*(column[together:] for column in lists), strict=True)
            self._connection.executemany(insert_text(self.dialect, table, columns), rest)

    def fetch(self, text: str, values: Sequence[Any] = ()) -> list[Any]:
        self._know()
        with _explained(self._file):
            cursor = self._connection.execute(text, values)
            rows = cursor.fetchall()
        return list(zip(*rows, strict=True)) if rows else [() for _ in cursor.description or ()]

    def close(self) -> None:
        with _explained(self._file):
            self._connection.close()
        self._locks.free()

    def _know(self) -> None:
        """Give the database the functions that have been asked for since."""
        for one in own_functions(self._own):
            call = _with_truths(one.call, one.arguments)
            self._connection.create_function(one.name, len(one.arguments), call, deterministic=True)
            self._own += 1


def _settings(durable: bool) -> tuple[str, ...]:
    return (
        "journal_mode = WAL",
        f"synchronous = {'FULL' if durable else 'NORMAL'}",
        "temp_store = MEMORY",
        "cache_size = -65536",
    )


def _with_truths(call: Callable[..., Any], arguments: tuple[Type, ...]) -> Callable[..., Any]:
    """SQLite's truths are numbers: a function gets them as they are meant."""
    places = [place for place, type_ in enumerate(arguments) if type_ is Type.BOOL]
    if not places:
        return call

    def converted(*values: Any) -> Any:
        row = list(values)
        for place in places:
            row[place] = None if row[place] is None else bool(row[place])
        return call(*row)

    return converted


@contextmanager
def _explained(file: str) -> Iterator[None]:
    """Errors of SQLite as ours."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            text = f"{file} is locked by another process; end what writes to it"
            raise DatabaseError(text, retry=True) from error
        if code == sqlite3.SQLITE_FULL:
            raise DatabaseError(f"no room left for {file}; make some on its disk") from error
        if code == sqlite3.SQLITE_CANTOPEN:
            text = f"{file} cannot be opened; its folder must exist and be writable"
            raise DatabaseError(text) from error
        if code == sqlite3.SQLITE_READONLY:
            text = f"{file} may only be read; allow this user to write it and its folder"
            raise DatabaseError(text) from error
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            text = f"{file} is no database, or a damaged one; use another file"
            raise DatabaseError(text) from error
        is_of_values = code == sqlite3.SQLITE_CONSTRAINT or "integer overflow" in str(error)
        text = f"SQLite ({file}): {error}"
        raise DatabaseError(text, is_of_values=is_of_values) from error
