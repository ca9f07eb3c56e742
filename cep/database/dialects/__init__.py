"""The databases there are."""

from __future__ import annotations

import sqlalchemy as sa

from cep.database.dialects.base import Dialect
from cep.database.dialects.duckdb import DUCKDB
from cep.database.dialects.postgresql import POSTGRESQL
from cep.database.dialects.sqlite import SQLITE
from cep.database.errors import DatabaseError

__all__ = ["DIALECTS", "DUCKDB", "POSTGRESQL", "SQLITE", "Dialect", "dialect_of"]

DIALECTS = {one.name: one for one in (SQLITE, DUCKDB, POSTGRESQL)}


def dialect_of(url: str) -> Dialect:
    """The dialect of the database that a URL names; nothing is connected."""
    try:
        name = sa.engine.make_url(url).get_backend_name()
    except sa.exc.ArgumentError:
        name = url
    if name not in DIALECTS:
        raise DatabaseError(f"`{name}` is none of the databases: {', '.join(DIALECTS)}")
    return DIALECTS[name]
