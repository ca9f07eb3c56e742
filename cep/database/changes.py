"""From one program to another in a database: tables that are as they were keep their rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from cep.database.drivers import Driver, values_of
from cep.database.progress import Identity, Progress
from cep.database.steps import BatchNumber, CreatedTable, Program


def changed(
    driver: Driver, program: Program, before: Progress, now: Identity, born: Mapping[str, int]
) -> Progress:
    """Makes the program's tables, within a transaction; gives the progress to go on from.

    Streams that are as they were keep their rows, others begin empty, and those that no one needs
    go. What follows a stream is made of the rows that are there.
    """
    same = unchanged(program, before, now)
    wanted = {one.table.name: one for one in program.tables}
    staying = _staying(program, before, same)
    indexes = {name for one in program.tables for name in one.indexes}
    for name in before.indexes:
        if name not in indexes:
            driver.execute(_dropped_index(driver, name))
    for name in before.tables:
        if name not in staying:
            driver.execute(_dropped_table(driver, name))
    for name, made in wanted.items():
        _make(driver, made, name in staying, before.indexes)
    _fill(driver, program, staying, same)
    return replace(
        before,
        base={name: before.base.get(name, 0) if name in same else 0 for name in program.kept},
        last={name: before.last[name] if name in same else 0 for name in program.kept},
        purged={name: before.purged.get(name, 0) if name in same else 0 for name in program.kept},
        born=dict(born),
        tables={one.table.name: one.create for one in program.tables},
        indexes=sorted(indexes),
        identity=now,
    )


def unchanged(program: Program, before: Progress, now: Identity) -> set[str]:
    """The streams that keep their rows: those of the program that are as they were."""
    return {
        name
        for name in program.kept
        if name in before.last and before.identity.streams.get(name) == now.streams[name]
    }


def remove(driver: Driver, known: Progress) -> None:
    """Takes away all tables of a run."""
    for name in known.tables:
        driver.execute(_dropped_table(driver, name))


def _staying(program: Program, before: Progress, same: set[str]) -> set[str]:
    """Tables of the program that are there already, with the right rows."""
    of_stream = {kept.table.name: name for name, kept in program.kept.items()}
    for name, kept in program.kept.items():
        of_stream |= {fill.table: name for fill in kept.fills}
    late = () if program.late is None else (program.late.name,)
    return {
        one.table.name
        for one in program.tables
        if before.tables.get(one.table.name) == one.create
        and (of_stream.get(one.table.name) in same or one.table.name in late)
    }


def _make(driver: Driver, made: CreatedTable, is_there: bool, known: Collection[str]) -> None:
    if not is_there:
        _make_way(driver, made.table)
        driver.execute(made.create)
    for name, text in made.indexes.items():
        if not is_there or name not in known:
            driver.execute(text)
    if made.rows:
        data = [list(column) for column in zip(*made.rows, strict=True)]
        driver.load(made.table.name, made.table.c.keys(), data, made.types)
        if driver.dialect.forms == "postgresql":  # else it looks rows up one by one
            quote = driver.dialect.compiler.identifier_preparer.quote
            driver.execute(f"ANALYZE {quote(made.table.name)}")


def _make_way(driver: Driver, table: sa.Table) -> None:
    """An unlogged table outlives a crash of PostgreSQL empty, when what was known of it does not.

    A table with rows is somebody else's: it stays, and making ours fails.
    """
    if driver.dialect.forms != "postgresql":
        return
    names: list[sa.ColumnClause[Any]] = [sa.column("table_name"), sa.column("table_schema")]
    known = sa.table("tables", *names, schema="information_schema")
    there = sa.select(sa.func.count()).where(
        known.c.table_name == table.name, known.c.table_schema == sa.func.current_schema()
    )
    rows = sa.select(sa.func.count()).select_from(table)
    if _number(driver, there) and not _number(driver, rows):
        driver.execute(_dropped_table(driver, table.name))


def _number(driver: Driver, clause: sa.Select[Any]) -> int:
    (column,) = driver.fetch(*driver.dialect.text(clause))
    return int(values_of(column)[0])


def _fill(driver: Driver, program: Program, staying: set[str], same: set[str]) -> None:
    """What newly follows a stream that has rows is made of them all."""
    start = {BatchNumber("base", name): 0 for name in program.kept}
    for name in same:
        for fill in program.kept[name].fills:
            if fill.table not in staying:
                driver.execute(fill.statement.text, fill.statement.bound(start))


def _dropped_table(driver: Driver, name: str) -> str:
    table = sa.Table(name, sa.MetaData())
    return str(sa.schema.DropTable(table, if_exists=True).compile(dialect=driver.dialect.compiler))


def _dropped_index(driver: Driver, name: str) -> str:
    index = sa.Index(name, sa.column("x"))
    return str(sa.schema.DropIndex(index, if_exists=True).compile(dialect=driver.dialect.compiler))
