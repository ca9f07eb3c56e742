"""A table: rows that stay until deleted, found by key, by index or one by one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from loguru import logger

from cep.dropped import Reason
from cep.interpreter.context import Context
from cep.interpreter.rows import Row
from cep.interpreter.tables.index import Index
from cep.interpreter.tables.keys import PrimaryKey
from cep.interpreter.tables.search import Find, Search
from cep.plan.expressions import TABLE_SLOT, Column, Expression
from cep.plan.nodes import Table as TablePlan


class TableRow(Row):
    """A row of a table; rows are numbered as they come."""

    __slots__ = ("number",)

    def __init__(self, time: int, values: list[Any], number: int) -> None:
        super().__init__(time, values)
        self.number = number


class Table:
    """The rows of a `define table`, each never changed but replaced."""

    def __init__(self, plan: TablePlan, context: Context) -> None:
        self.plan = plan
        self._context = context
        self._rows: dict[int, TableRow] = {}
        self._count = 0
        self._key = PrimaryKey(plan) if plan.primary_key else None
        single = plan.primary_key if len(plan.primary_key) == 1 else ()
        self._indexes = {position: Index() for position in {*plan.indexes, *single}}

    def __len__(self) -> int:
        return len(self._rows)

    def rows(self, asking: Row | None = None) -> Iterable[TableRow]:
        """All rows: as they came or, with a primary key, as Siddhi lists them."""
        if self._key is None:
            return list(self._rows.values())
        return [self._rows[number] for number in self._key.numbers()]

    def index(self, key: Expression) -> Find | None:
        """The index on an attribute of the primary key or of `@Index`."""
        index = self._indexes.get(key.position) if isinstance(key, Column) else None
        if index is None:
            return None
        return lambda op, value: self._listed(index.find(op, value))

    def search(self, condition: Expression | None, context: Context) -> Search:
        """A condition on this table's rows (`TABLE_SLOT`) and a row that asks."""
        return Search(condition, TABLE_SLOT, self, context)

    def add(self, rows: Iterable[Row]) -> None:
        """Take over rows; one with the primary key of a row that is there is dropped and told."""
        for row in rows:
            if self._key is not None and self._key.number(self._key.of(row.values)) is not None:
                key = self._key.of(row.values)
                logger.error(
                    "table {}: dropped {}: key {!r} is there", self.plan.name, row.values, key
                )
                self._context.drop_for(Reason.REPEAT)
                continue
            self._put(TableRow(row.time, list(row.values), self._count))
            self._count += 1

    def remove(self, rows: Iterable[Row]) -> None:
        """Delete rows of this table."""
        for row in rows:
            if isinstance(row, TableRow) and self._rows.get(row.number) is row:
                self._take(row)
                del self._rows[row.number]

    def replace(self, changes: list[tuple[Row, list[Any]]]) -> None:
        """Give rows of this table new values; none, and told, when two rows would have one key."""
        if self._key is not None and self._clashes(changes):
            logger.error("table {}: not updated: the key is there", self.plan.name)
            self._context.drop_for(Reason.REPEAT, len(changes))
            return
        renewed = [
            (row, TableRow(row.time, values, row.number))
            for row, values in changes
            if isinstance(row, TableRow)
        ]
        for old, new in renewed:
            self._take(old, new)
        for old, new in renewed:
            self._put(new, old)

    def _listed(self, numbers: list[int]) -> list[TableRow]:
        """The rows with these numbers, in the order in which all rows are listed."""
        if self._key is not None and len(numbers) > 1:
            numbers = self._key.in_order(numbers)
        return [self._rows[number] for number in numbers]

    def _clashes(self, changes: list[tuple[Row, list[Any]]]) -> bool:
        assert self._key is not None
        changed = {row.number for row, _ in changes if isinstance(row, TableRow)}
        seen = set()
        for _, values in changes:
            key = self._key.of(values)
            if key in seen or self._key.number(key) not in (None, *changed):
                return True
            seen.add(key)
        return False

    def _put(self, row: TableRow, old: TableRow | None = None) -> None:
        """Enter a row; `old` is the one whose place it takes."""
        self._rows[row.number] = row
        if self._key is not None and not self._same_key(row, old):
            self._key.add(row, row.number)
        for position, index in self._indexes.items():
            index.add(row.values[position], row.number)

    def _take(self, row: TableRow, new: TableRow | None = None) -> None:
        """Take a row out of the indexes; `new` is the one that takes its place."""
        if self._key is not None and not self._same_key(row, new):
            self._key.remove(row)
        for position, index in self._indexes.items():
            index.remove(row.values[position], row.number)

    def _same_key(self, row: TableRow, other: TableRow | None) -> bool:
        assert self._key is not None
        return other is not None and self._key.of(row.values) == self._key.of(other.values)

    def state(self) -> Any:
        """The rows with their times, in order, and the state of the primary key."""
        rows = [[row.number, row.time, list(row.values)] for row in self._rows.values()]
        return {"rows": rows, "count": self._count, "key": self._key and self._key.state()}

    def restore(self, state: Any) -> None:
        """Take the state back; also over rows that are there."""
        self.remove(list(self._rows.values()))
        for number, time, values in state["rows"]:
            self._put(TableRow(time, values, number))
        if self._key is not None:
            self._key.restore(state["key"], self._rows)
        self._count = state["count"]


def make_table(plan: TablePlan, context: Context) -> Table:
    """A table, kept for snapshots."""
    table = Table(plan, context)
    context.keep(table, plan.name)
    return table
