"""Connections: data by columns both ways, transactions, and errors that say what to do."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from cep.database.dialects import DUCKDB, SQLITE
from cep.database.drivers import Driver, connect, values_of
from cep.database.errors import DatabaseError
from cep.database.own import own_function
from cep.plan.types import Type
from tests.database.servers import PostgresqlServer

TYPES = {
    "i": Type.INT, "l": Type.LONG, "f": Type.FLOAT, "d": Type.DOUBLE, "s": Type.STRING,
    "b": Type.BOOL,
}  # fmt: skip
ROWS = [
    (1, 2**63 - 1, 1.5, 0.1, "ä\n'\\", True),
    (-(2**31), -(2**63) + 1, -2.25, -1e300, "", False),
    (None, None, None, None, None, None),
]


def table(driver: Driver) -> sa.Table:
    columns = [sa.Column(name, driver.dialect.column_types[type_]) for name, type_ in TYPES.items()]
    return sa.Table("things", sa.MetaData(), *columns)


def run(driver: Driver, clause: sa.ClauseElement) -> int:
    return driver.execute(*driver.dialect.text(clause))


def load(driver: Driver, rows: list[tuple[Any, ...]]) -> None:
    columns = [list(column) for column in zip(*rows, strict=True)]
    driver.load("things", list(TYPES), columns, list(TYPES.values()))


def read(driver: Driver) -> list[tuple[Any, ...]]:
    columns = driver.fetch(*driver.dialect.text(sa.select(table(driver))))
    return list(zip(*map(values_of, columns), strict=True))


@pytest.fixture
def driver(url: str) -> Iterator[Driver]:
    found = connect(url)
    run(found, sa.schema.CreateTable(table(found)))
    try:
        yield found
    finally:
        found.close()


def test_rows_come_back_as_they_were(driver: Driver) -> None:
    load(driver, ROWS)
    assert read(driver) == ROWS


def test_numpy_arrays_are_columns(driver: Driver) -> None:
    numbers = np.arange(5)
    driver.load("things", ["l", "d"], [numbers, numbers / 4], [Type.LONG, Type.DOUBLE])
    driver.load("things", ["d", "i"], [[7, 8], np.array([1, 2])], [Type.DOUBLE, Type.INT])
    found = [(row[0], row[1], row[3]) for row in read(driver)]
    assert found == [(None, n, n / 4) for n in range(5)] + [(1, None, 7.0), (2, None, 8.0)]


def test_no_rows_are_as_many_columns(driver: Driver) -> None:
    found = driver.fetch(*driver.dialect.text(sa.select(table(driver))))
    assert [list(values_of(column)) for column in found] == [[]] * len(TYPES)


def test_changed_rows_are_counted(driver: Driver) -> None:
    load(driver, ROWS)
    things = table(driver)
    assert run(driver, sa.delete(things).where(things.c.i.is_not(None))) == 2
    assert read(driver) == ROWS[2:]


def test_transactions(driver: Driver) -> None:
    driver.begin()
    load(driver, ROWS[:1])
    driver.commit()
    driver.begin()
    load(driver, ROWS[1:])
    assert len(read(driver)) == 3
    driver.rollback()
    assert read(driver) == ROWS[:1]
    driver.rollback()  # of nothing
    assert read(driver) == ROWS[:1]


def test_an_error_can_be_rolled_back(driver: Driver) -> None:
    driver.begin()
    load(driver, ROWS)
    with pytest.raises(DatabaseError) as error:
        driver.fetch("SELECT 1 FROM nowhere")
    assert not error.value.retry
    driver.rollback()
    assert read(driver) == []


def test_a_function_of_ours_outlives_a_rollback(driver: Driver) -> None:
    if not driver.dialect.in_process:
        with pytest.raises(DatabaseError, match="does not exist"):
            driver.fetch("SELECT mt5cep_doubled(1)")
        return
    key = ("test", driver.dialect.name)
    for place in range(2):
        name = own_function((*key, place), "doubled", lambda: lambda one: 2 * one, *LONGS)
        driver.begin()
        load(driver, ROWS)
        text, values = driver.dialect.text(sa.select(getattr(sa.func, name)(sa.literal(21))))
        assert list(values_of(driver.fetch(text, values)[0])) == [42]
        driver.rollback()
        assert list(values_of(driver.fetch(text, values)[0])) == [42]


LONGS = ([Type.LONG], Type.LONG)


def test_two_connections_to_one_duckdb_file_know_functions(tmp_path: Path) -> None:
    first, second = (connect(f"duckdb:///{tmp_path / 'db'}") for _ in range(2))
    name = own_function("two", "tripled", lambda: lambda one: 3 * one, *LONGS)
    text, values = DUCKDB.text(sa.select(getattr(sa.func, name)(sa.literal(14))))
    for driver in (first, second):
        assert list(values_of(driver.fetch(text, values)[0])) == [42]
    first.close()
    assert list(values_of(second.fetch(text, values)[0])) == [42]
    second.close()


@pytest.mark.parametrize(("form", "end"), [("sqlite:///{}", "db"), ("duckdb:///{}", "db")])
def test_a_file_keeps_what_was_committed(form: str, end: str, tmp_path: Path) -> None:
    url = form.format(tmp_path / end)
    first = connect(url, durable=True)
    run(first, sa.schema.CreateTable(table(first)))
    first.begin()
    load(first, ROWS)
    first.commit()
    first.begin()
    load(first, ROWS)
    first.reconnect()
    assert read(first) == ROWS
    first.close()
    again = connect(url)
    assert read(again) == ROWS
    again.close()


def test_sqlite_waits_for_nobody_forever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cep.database.drivers.sqlite.LOCKED_WAIT_S", 0.01)
    first, second = (connect(f"sqlite:///{tmp_path / 'db'}") for _ in range(2))
    first.begin()
    with pytest.raises(DatabaseError, match="locked by another process") as error:
        second.begin()
    assert error.value.retry and not error.value.is_lost
    first.rollback()
    second.begin()
    second.rollback()
    first.close()
    second.close()


def test_sqlite_says_that_the_disk_is_full(tmp_path: Path) -> None:
    driver = connect(f"sqlite:///{tmp_path / 'db'}")
    run(driver, sa.schema.CreateTable(table(driver)))
    driver.fetch("PRAGMA max_page_count = 5")
    driver.begin()
    with pytest.raises(DatabaseError, match="no room left") as error:
        load(driver, ROWS[:2] * 10_000)
    assert not error.value.retry
    driver.rollback()
    assert read(driver) == []
    driver.close()


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("nonsense", "no URL of a database"),
        ("mysql://host/name", "no driver for `mysql`; write sqlite:///file"),
        ("sqlite:////no/such/folder/db", "must exist and be writable"),
        ("duckdb:////no/such/folder/db", "must exist and be writable"),
        ("duckdb:////tmp", "no database of DuckDB, or a damaged one; use another file"),
        ("sqlite://own.db", "three slashes begin its path, sqlite:///own.db"),
        ("duckdb://own.db", "three slashes begin its path, duckdb:///own.db"),
        ("postgresql://nobody@127.0.0.1:1/none", "cannot be reached; start it, or correct the URL"),
    ],
)
def test_what_cannot_be_reached(url: str, says: str) -> None:
    with pytest.raises(DatabaseError, match=says):
        connect(url)


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("x" * 5_000)
    for scheme in ("sqlite", "duckdb"):
        with pytest.raises(DatabaseError, match=r"is no database.*use another file"):
            connect(f"{scheme}:///{tmp_path / 'text'}")


def test_passwords_are_not_told() -> None:
    with pytest.raises(DatabaseError) as error:
        connect("postgresql://me:secret@127.0.0.1:1/none")
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("package", ["duckdb", "psycopg"])
def test_a_package_that_is_not_there(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name = {"duckdb": "duckdb", "psycopg": "postgresql"}[package]
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, f"cep.database.drivers.{name}", raising=False)
    with pytest.raises(DatabaseError, match=r"pip install '\.\[database\]'"):
        connect(f"{name}://")
    monkeypatch.undo()
    import_module(f"cep.database.drivers.{name}")


def test_postgresql_lost_and_found(postgresql_server: PostgresqlServer) -> None:
    first, second = connect(postgresql_server.url), connect(postgresql_server.url)
    (number,) = values_of(first.fetch("SELECT pg_backend_pid()")[0])
    second.fetch("SELECT pg_terminate_backend(%s::int)", (number,))
    with pytest.raises(DatabaseError, match="lost") as error:
        first.begin()
    assert error.value.retry and error.value.is_lost
    first.rollback()
    first.reconnect()
    assert list(values_of(first.fetch("SELECT 1")[0])) == [1]
    first.close()
    second.close()


def test_postgresql_deadlocks_are_tried_again(postgresql_server: PostgresqlServer) -> None:
    driver = connect(postgresql_server.url)
    with pytest.raises(DatabaseError) as error:
        driver.execute("DO $$ BEGIN RAISE deadlock_detected; END $$")
    assert error.value.retry and not error.value.is_lost
    driver.close()


@pytest.mark.parametrize("durable", [False, True])
def test_durability_is_asked_for(
    durable: bool, postgresql_server: PostgresqlServer, tmp_path: Path
) -> None:
    postgresql = connect(postgresql_server.url, durable)
    (setting,) = values_of(postgresql.fetch("SHOW synchronous_commit")[0])
    assert setting == ("on" if durable else "off")
    postgresql.close()
    sqlite = connect(f"sqlite:///{tmp_path / 'db'}", durable)
    assert list(values_of(sqlite.fetch("PRAGMA synchronous")[0])) == [2 if durable else 1]
    assert list(values_of(sqlite.fetch("PRAGMA journal_mode")[0])) == ["wal"]
    sqlite.close()


def test_statements_are_texts_with_marks() -> None:
    find = sa.table("t", sa.column("x", sa.BigInteger()))
    text, values = SQLITE.text(sa.select(find.c.x).where(find.c.x > 3))
    assert "t.x > ?" in text and values == (3,)
    assert DUCKDB.text(sa.schema.DropTable(sa.Table("t", sa.MetaData())))[1] == ()
