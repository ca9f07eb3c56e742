"""The article's own translation to SQL: a table per window, statements per query, event by event.

An inbox per stream holds the newest event. A filter looks at it; an aggregation and a correlation
update the tables of their windows and look at all of them; a pattern keeps its partial matches.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sqlalchemy as sa

from benchmarks.paper import Load, Rule
from cep.database.batches import Arrivals
from cep.database.drivers import connect
from cep.plan.types import Type

FIRST, SECOND = 1, 2
"""How many events of a pattern a partial match has."""


@dataclass(frozen=True)
class _Newest:
    """Stands for an attribute of the newest event in a statement."""

    attribute: str


def _newest(attribute: str) -> sa.BindParameter[Any]:
    return sa.bindparam(None, _Newest(attribute), sa.BigInteger(), unique=True)


TS = _newest("ts")


@dataclass(frozen=True)
class _Statement:
    text: str
    values: tuple[Any, ...]
    gives_results: bool

    def bound(self, event: dict[str, int]) -> tuple[Any, ...]:
        return tuple(event[v.attribute] if isinstance(v, _Newest) else v for v in self.values)


class NaiveSql:
    """A load of queries on a database, each on its own."""

    def __init__(self, url: str, load: Load) -> None:
        self._driver = connect(url)
        self._metadata = sa.MetaData()
        self._windows: list[tuple[sa.Table, str, int]] = []
        self._statements: defaultdict[str, list[_Statement]] = defaultdict(list)
        self._inboxes = {stream: self._table(f"inbox_{stream}", ["ts", *schema])
                         for stream, schema in load.schemas.items()}  # fmt: skip
        for stream, inbox in self._inboxes.items():
            self._add(stream, sa.delete(inbox))
            values = {column.name: _newest(column.name) for column in inbox.c}
            self._add(stream, sa.insert(inbox).values(values))
        for rule in load.rules:
            getattr(self, f"_{rule.kind}")(rule)
        for made in self._metadata.sorted_tables:
            for change in sa.schema.DropTable(made, if_exists=True), sa.schema.CreateTable(made):
                self._driver.execute(self._driver.dialect.text(change)[0])

    def fill(self, events: Sequence[Arrivals]) -> None:
        """Put earlier events into the windows at once, as if each had come."""
        by_stream = {one.stream: one for one in events}
        now = max(int(one.times[-1]) for one in events)
        for table, stream, size_ms in self._windows:
            rows = by_stream[stream]
            live = rows.times > now - size_ms
            columns = [rows.times[live].tolist(), np.asarray(rows.columns[0])[live].tolist()]
            self._driver.load(table.name, table.c.keys(), columns, [Type.LONG, Type.LONG])

    def push(self, events: Sequence[Arrivals]) -> int:
        """Take events one by one; how many results they had."""
        found = 0
        for stream, event in self._in_order(events):
            self._driver.begin()
            for statement in self._statements[stream]:
                values = statement.bound(event)
                if statement.gives_results:
                    found += len(self._driver.fetch(statement.text, values)[0])
                else:
                    self._driver.execute(statement.text, values)
            self._driver.commit()
        return found

    def close(self) -> None:
        self._driver.close()

    def _in_order(self, events: Sequence[Arrivals]) -> list[tuple[str, dict[str, int]]]:
        found = []
        for one in events:
            names = self._inboxes[one.stream].c.keys()
            columns = [one.times.tolist(), *(np.asarray(c).tolist() for c in one.columns)]
            for place, row in zip(one.places.tolist(), zip(*columns, strict=True), strict=True):
                found.append((place, one.stream, dict(zip(names, row, strict=True))))
        return [(stream, event) for _, stream, event in sorted(found, key=lambda row: row[0])]

    def _filter(self, rule: Rule) -> None:
        inbox = self._inboxes[rule.stream]
        found = sa.select(inbox.c.a, inbox.c.b).where(inbox.c.a - inbox.c.b == rule.number)
        self._add(rule.stream, found)

    def _aggregation(self, rule: Rule) -> None:
        window = self._window(rule, rule.stream, "a")
        self._enter(rule.stream, window)
        self._purge(rule.stream, window, rule)
        self._add(rule.stream, sa.select(sa.func.count()).select_from(window))

    def _correlation(self, rule: Rule) -> None:
        sides = {rule.stream: self._window(rule, rule.stream, "a"),
                 "stream2": self._window(rule, "stream2", "b")}  # fmt: skip
        for stream, other in (rule.stream, "stream2"), ("stream2", rule.stream):
            self._enter(stream, sides[stream])
            for window in sides.values():
                self._purge(stream, window, rule)
            inbox, rows = self._inboxes[stream], sides[other]
            left, right = (inbox, rows) if stream == rule.stream else (rows, inbox)
            found = sa.select(left.c.a, right.c.b).where(left.c.a - right.c.b == rule.number + 1)
            self._add(stream, found)

    def _pattern(self, rule: Rule) -> None:
        ways = self._table(rule.name, ["events", "first", "last", "z1", "z2"])
        now = _newest("a")
        adjacent = [ways.c.last == TS - 1, ways.c.first > TS - rule.window_ms]
        first = sa.insert(ways).values(events=FIRST, first=TS, last=TS, z1=now)
        second = sa.select(sa.literal(SECOND), ways.c.first, TS, ways.c.z1, now).where(
            ways.c.events == FIRST, *adjacent, now - ways.c.z1 == rule.number
        )
        third = sa.select(ways.c.z1, ways.c.z2, now).where(
            ways.c.events == SECOND, *adjacent, now - ways.c.z2 == rule.number
        )
        self._add(rule.stream, sa.delete(ways).where(ways.c.first <= TS - rule.window_ms))
        self._add(rule.stream, third)
        self._add(rule.stream, sa.insert(ways).from_select(ways.c.keys(), second))
        self._add(rule.stream, first)

    def _window(self, rule: Rule, stream: str, attribute: str) -> sa.Table:
        table = self._table(f"{rule.name}_{stream}", ["ts", attribute])
        self._windows.append((table, stream, rule.window_ms))
        return table

    def _enter(self, stream: str, window: sa.Table) -> None:
        inbox = self._inboxes[stream]
        row = sa.select(*(inbox.c[column.name] for column in window.c))
        self._add(stream, sa.insert(window).from_select(window.c.keys(), row))

    def _purge(self, stream: str, window: sa.Table, rule: Rule) -> None:
        self._add(stream, sa.delete(window).where(window.c.ts <= TS - rule.window_ms))

    def _table(self, name: str, columns: Sequence[str]) -> sa.Table:
        made = (sa.Column(column, sa.BigInteger()) for column in columns)
        return sa.Table(f"naive_{name}", self._metadata, *made)

    def _add(self, stream: str, clause: sa.ClauseElement) -> None:
        text, values = self._driver.dialect.text(clause)
        self._statements[stream].append(_Statement(text, values, isinstance(clause, sa.Select)))
