"""What is compared: our engine and three databases behind the interface, and the naive SQL."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from tempfile import TemporaryDirectory
from typing import Protocol

from benchmarks.naive_sql import NaiveSql
from benchmarks.paper import Load
from cep.database.batches import Arrivals, Column, Found
from cep.jepc import NativeProvider
from cep.jepc.database import DatabaseProvider
from tests.database.servers import PostgresqlServer

DATABASES = ("sqlite", "duckdb", "postgresql")
NATIVE = "native"
NAIVE = tuple(f"naive {name}" for name in DATABASES)
ENGINES = (NATIVE, *DATABASES, *NAIVE)
Urls = Mapping[str, str]
_runs = count()


class Engine(Protocol):
    """A load of queries at work."""

    def fill(self, events: Sequence[Arrivals]) -> None:
        """Take events that fill the windows."""

    def push(self, events: Sequence[Arrivals]) -> int:
        """Take events; how many results they had."""

    def close(self) -> None:
        """Let go of everything."""


class Behind:
    """A provider of the interface; ValueError for queries it refuses."""

    def __init__(self, provider: NativeProvider | DatabaseProvider, load: Load) -> None:
        self._provider = provider
        self.columns: tuple[Column, ...] = ()
        plan = load.catalog().plan()
        refused = provider.refusals(plan)
        if refused:
            provider.close()
            raise ValueError(next(iter(refused.values())))
        provider.change(plan, [rule.name for rule in load.rules])

    def fill(self, events: Sequence[Arrivals]) -> None:
        self.push(events)

    def push(self, events: Sequence[Arrivals]) -> int:
        """Results are taken as columns of values: what a database packed is unpacked."""
        number = 0
        for batch in self._provider.push_columns(events):
            for found in batch:
                if isinstance(found, Found):
                    self.columns = found.columns
                number += len(found)
        return number

    def close(self) -> None:
        self._provider.close()


def engine(
    name: str,
    load: Load,
    urls: Urls,
    batch_events: int | None = None,
    *,
    durable: bool = False,
) -> Engine:
    """The engine `name` of ENGINES with all queries; `batch_events` where a database may choose."""
    if name in NAIVE:
        return NaiveSql(urls[name.removeprefix("naive ")], load)
    return Behind(provider(name, urls, batch_events, durable=durable), load)


def provider(
    name: str, urls: Urls, batch_events: int | None = None, *, durable: bool = False
) -> NativeProvider | DatabaseProvider:
    """A provider of the interface by its name, in tables of its own."""
    if name == NATIVE:
        return NativeProvider()
    prefix = f"bench_{os.getpid()}_{next(_runs)}_"
    return DatabaseProvider(urls[name], batch_events=batch_events, durable=durable, prefix=prefix)


@contextmanager
def databases(*, on_disk: bool = False) -> Iterator[Urls]:
    """SQLite and DuckDB, in memory or in files, and a PostgreSQL server; all end with this.

    Only `on_disk` the server waits for its disk.
    """
    server = PostgresqlServer()
    with TemporaryDirectory() as folder:
        files = {name: f"{name}:///{folder}/events.{name}" for name in ("sqlite", "duckdb")}
        memory = {"sqlite": "sqlite://", "duckdb": "duckdb://"}
        try:
            server.start(fsync="on" if on_disk else "off")
            yield {**(files if on_disk else memory), "postgresql": server.url}
        finally:
            server.remove()
