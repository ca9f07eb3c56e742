"""Connections to databases, by URL as SQLAlchemy writes them."""

from __future__ import annotations

from importlib import import_module

import sqlalchemy as sa

from cep.database.drivers.base import Column, Driver, values_of
from cep.database.errors import DatabaseError

__all__ = ["Column", "Driver", "connect", "values_of"]

_DRIVERS = {
    "sqlite": ("cep.database.drivers.sqlite", "SqliteDriver"),
    "duckdb": ("cep.database.drivers.duckdb", "DuckdbDriver"),
    "postgresql": ("cep.database.drivers.postgresql", "PostgresqlDriver"),
}


def connect(url: str, durable: bool = False) -> Driver:
    """A connection to `sqlite://`, `sqlite:///file`, `duckdb://`, `duckdb:///file` or
    `postgresql://user:password@host:port/name`.

    `durable`: what is committed survives a power failure; else the last commits may be lost then,
    but nothing is ever half there. DatabaseError when it cannot be reached.
    """
    try:
        parsed = sa.engine.make_url(url)
    except sa.exc.ArgumentError:
        raise DatabaseError(f"`{url}` is no URL of a database; {_forms()}") from None
    name = parsed.get_backend_name()
    if name not in _DRIVERS:
        raise DatabaseError(f"there is no driver for `{name}`; {_forms()}")
    if name != "postgresql" and parsed.host:
        raise DatabaseError(
            f"`{url}` has a host, `{parsed.host}`, and a file has none: three slashes begin its"
            f" path, {name}:///{parsed.host}"
        )
    module, driver = _DRIVERS[name]
    found: Driver = getattr(import_module(module), driver)(parsed, durable)
    return found


def _forms() -> str:
    return "write sqlite:///file, duckdb:///file or postgresql://user:password@host:port/name"
