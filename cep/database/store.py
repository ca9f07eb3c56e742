"""Where the progress of a run is kept: a table of one row beside its tables."""

from __future__ import annotations

import re
from typing import Any

import sqlalchemy as sa

from cep.database.dialects import Dialect
from cep.database.drivers import Driver, values_of
from cep.database.errors import DatabaseError
from cep.database.progress import Progress
from cep.database.tables import table_options

PREFIX = re.compile(r"[a-z][a-z0-9_]{0,19}")
"""The rest of a table's name may take 43 of the 63 bytes that PostgreSQL allows."""


class Store:
    """The progress of one run in one database; DatabaseError for a prefix that cannot be one."""

    def __init__(self, prefix: str, dialect: Dialect, is_durable: bool) -> None:
        if not PREFIX.fullmatch(prefix):
            raise DatabaseError(
                f"`{prefix}` is no prefix of tables: use a small letter, then up to 19 small "
                "letters, digits and underscores"
            )
        self._table = sa.Table(
            f"{prefix}progress",
            sa.MetaData(),
            sa.Column("run", sa.Integer(), primary_key=True, autoincrement=False),
            sa.Column("plan", sa.Text()),
            sa.Column("marks", sa.Text()),
            **table_options(dialect, is_durable),
        )

        self._dialect = dialect
        self._is_durable = is_durable
        self._create = self._text(sa.schema.CreateTable(self._table, if_not_exists=True))
        self._read = self._text(sa.select(self._table.c.plan, self._table.c.marks))
        numbers = {"marks": sa.bindparam("marks_now", type_=sa.Text())}
        self._save = self._text(sa.update(self._table).values(numbers))[0]

    def load(self, driver: Driver) -> Progress:
        """What is kept; the beginning where there is nothing yet."""
        driver.execute(*self._create)
        found = list(zip(*map(values_of, driver.fetch(*self._read)), strict=True))
        if found:
            return Progress.of(*found[0])
        plan, numbers = Progress().texts()
        first = sa.insert(self._table).values(run=1, plan=plan, marks=numbers)
        driver.execute(*self._text(first))
        return Progress()

    def settle(self, driver: Driver) -> None:
        """Have a crash of PostgreSQL empty all tables of a run or none: to be called by the run."""
        if self._dialect.forms != "postgresql":
            return
        names: list[sa.ColumnClause[Any]] = [
            sa.column(one) for one in ("relname", "oid", "relpersistence")
        ]
        known = sa.table("pg_class", *names)
        asked = sa.select(sa.cast(known.c.relpersistence, sa.Text())).where(
            known.c.relname == self._table.name, sa.func.pg_table_is_visible(known.c.oid)
        )
        (kinds,) = driver.fetch(*self._text(asked))
        if list(kinds) != ["p" if self._is_durable else "u"]:
            quote = self._dialect.compiler.identifier_preparer.quote
            kind = "LOGGED" if self._is_durable else "UNLOGGED"
            driver.execute(f"ALTER TABLE {quote(self._table.name)} SET {kind}")

    def save_plan(self, driver: Driver, progress: Progress) -> None:
        """Keep this instead, within the transaction."""
        plan, numbers = progress.texts()
        driver.execute(*self._text(sa.update(self._table).values(plan=plan, marks=numbers)))

    def save(self, driver: Driver, progress: Progress) -> None:
        """Keep how far a batch has come, within its transaction."""
        driver.execute(self._save, (progress.marks_text(),))

    def _text(self, clause: sa.ClauseElement) -> tuple[str, tuple[Any, ...]]:
        return self._dialect.text(clause)
