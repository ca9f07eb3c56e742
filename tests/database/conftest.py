"""Databases for tests: SQLite and DuckDB in memory, and a PostgreSQL server per session."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from tests.database.servers import PostgresqlServer, running, url_for

NAMES = ("sqlite", "duckdb", "postgresql")
_numbers = count()


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[PostgresqlServer]:
    """One server, stopped when the tests have run (with xdist: one per worker)."""
    with running() as server:
        yield server


@pytest.fixture(scope="session")
def urls(postgresql_server: PostgresqlServer) -> dict[str, str]:
    """By name; the one of PostgreSQL is the same for all tests."""
    return {"sqlite": "sqlite://", "duckdb": "duckdb://", "postgresql": postgresql_server.url}


@pytest.fixture(params=NAMES)
def url(request: pytest.FixtureRequest) -> str:
    """An empty database, of each kind in turn."""
    if request.param != "postgresql":
        return url_for(request)
    server: PostgresqlServer = request.getfixturevalue("postgresql_server")
    return server.create(f"test{next(_numbers)}")
