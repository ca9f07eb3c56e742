"""On-demand queries on the memory of a program: the interpreter's, on rows that are read from it.

A question is rare, and one is not worth machine code. Tables, named windows and aggregations are
given to it as the interpreter has its own, which read and change the words of the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from loguru import logger

from cep.engine.jit import plain
from cep.engine.machine.aggregations import View
from cep.engine.machine.host import reading, writing
from cep.engine.machine.kernels.memory import release
from cep.engine.machine.kernels.stored import rechained
from cep.engine.machine.kernels.tables import (
    S_DATA,
    S_DROPPED,
    S_INDEXES,
    S_KEY,
    S_KEYS,
    T_COUNT,
    T_LIST,
    key_set,
    key_taken,
    key_unset,
    listed,
    table_add,
    table_at,
    table_remove,
    table_room,
)
from cep.engine.machine.kernels.words import (
    HOME,
    NOW,
    SHOWN,
    TIME,
    VALUES,
)
from cep.engine.machine.program import Held, HeldByKey
from cep.engine.machine.stage import MachineRun
from cep.engine.machine.views import rows_held
from cep.interpreter.aggregations.aggregation import View as Seen
from cep.interpreter.context import Context, Shared
from cep.interpreter.on_demand import answer
from cep.interpreter.rows import Row
from cep.interpreter.tables.search import Find, Search
from cep.plan.expressions import TABLE_SLOT, Expression
from cep.plan.nodes import Plan
from cep.plan.query import OnDemandQuery
from cep.plan.types import Schema


def ask(run: MachineRun, plan: Plan, query: OnDemandQuery) -> list[dict[str, Any]]:
    """The rows that a query finds, as dictionaries; none of one that changes a table.

    ValueError when the times or the unit of an aggregation are none.
    """
    shared, i = Shared(compat=False), run.memory.i[0]
    shared.clock.jump(max(0, int(i[NOW] if run.program.clocks is None else i[SHOWN])))
    held = run.program.holders
    shared.tables = {one.name: Table(run, held.tables[one.name], one.name, one.schema)
                     for one in plan.tables}  # fmt: skip
    shared.windows = {one.name: Window(run, held.windows[one.name], one.schema)
                      for one in plan.windows}  # fmt: skip
    shared.aggregations = {name: Aggregation(View(lowered, None, run.host))
                           for name, lowered in held.aggregations.items()}  # fmt: skip
    names = query.schema.names
    return [dict(zip(names, values, strict=True)) for values in answer(query, shared) or []]


class Words:
    """Rows of a schema in the memory of a run: their values from an address on."""

    def __init__(self, run: MachineRun, schema: Schema) -> None:
        types = [one.type for one in schema.attributes]
        memory, strings = run.memory, run.strings
        self._readers = [reading(type_, memory, strings) for type_ in types]
        self._writers = [writing(type_, memory, strings) for type_ in types]

    def read(self, at: int) -> list[Any]:
        """The values from an address on."""
        return [read(at + place) for place, read in enumerate(self._readers)]

    def write(self, at: int, values: Iterable[Any]) -> None:
        """Write values from an address on."""
        for place, (write, value) in enumerate(zip(self._writers, values, strict=True)):
            write(at + place, value)


class StoredRow(Row):
    """A row of a table, with its address."""

    __slots__ = ("at",)

    def __init__(self, time: int, values: list[Any], at: int) -> None:
        super().__init__(time, values)
        self.at = at


class Table:
    """A table of a program as the interpreter has one; one question is not worth an index."""

    def __init__(self, run: MachineRun, shape: int, name: str, schema: Schema) -> None:
        self._run, self._memory, self._name = run, run.memory, name
        self._shape, self._p = shape, run.program.words
        self._words, self._width = Words(run, schema), len(schema)

    @property
    def _at(self) -> int:
        return int(plain(table_at)(self._memory.i, self._p, self._shape))

    def _said(self, word: int) -> int:
        return int(self._p[self._shape + word])

    def rows(self, asking: Row | None = None) -> Iterable[StoredRow]:
        """All rows, in order."""
        while not plain(listed)(self._memory.i, self._p, self._shape, self._at):
            self._memory.grow()
        i, data = self._memory.i[0], self._said(S_DATA)
        first, count = int(i[self._at + T_LIST]), int(i[self._at + T_COUNT])
        return [
            StoredRow(int(i[at + data]), self._words.read(at + data + 1), at)
            for at in i[first : first + count].tolist()
        ]

    def index(self, key: Expression) -> Find | None:
        """No index."""
        return None

    def search(self, condition: Expression | None, context: Context) -> Search:
        """A condition on this table's rows and a row that asks."""
        return Search(condition, TABLE_SLOT, self, context)

    def add(self, rows: Iterable[Row]) -> None:
        """Take over rows; one with the primary key of a row that is there is dropped and told."""
        for row in rows:
            with self._written(row.values) as at:
                before = self._dropped
                self._call(table_add, row.time, at)
                if self._dropped > before:
                    logger.error("table {}: dropped {}: its key is there", self._name, row.values)

    def remove(self, rows: Iterable[Row]) -> None:
        """Delete rows of this table."""
        for row in rows:
            if isinstance(row, StoredRow):
                plain(table_remove)(self._memory.i, self._p, self._shape, row.at)

    def replace(self, changes: list[tuple[Row, list[Any]]]) -> None:
        """Give rows of this table new values; none, and told, when two rows would have one key."""
        stored = [(row, values) for row, values in changes if isinstance(row, StoredRow)]
        keys = [self._key(values) for _, values in stored]
        if self._clash([row.at for row, _ in stored], keys):
            self._memory.i[0, self._said(S_DROPPED)] += len(changes)
            logger.error("table {}: not updated: the key is there", self._name)
            return
        for (row, values), key in zip(stored, keys, strict=True):
            self._set(row.at, values, is_other_key=self._key_at(row.at) != key)

    def _set(self, at: int, values: list[Any], *, is_other_key: bool) -> None:
        with self._written(values) as written:
            i, p, data = self._memory.i, self._p, self._said(S_DATA)
            if is_other_key:
                plain(key_unset)(i, p, self._shape, self._at, at)
            i[0, at + data + 1 : at + data + 1 + self._width] = (
                i[0, written : written + self._width]
            )  # fmt: skip
            for number in range(self._said(S_INDEXES)):
                self._call(rechained, self._at, at, number)
            if is_other_key:
                self._call(key_set, self._at, at)

    def _clash(self, rows: list[int], keys: list[tuple[int, ...]]) -> bool:
        """Whether two rows would have one key, which are those with these keys and the others."""
        if not self._said(S_KEYS):
            return False
        others = {self._key_at(row.at) for row in self.rows() if row.at not in rows}
        return len(set(keys)) < len(keys) or not others.isdisjoint(keys)

    def _key(self, values: list[Any]) -> tuple[int, ...]:
        """The words of the key that a row with these values has."""
        with self._written(values) as at:
            key = self._memory.block(1 + self._said(S_KEYS))
            self._call(key_taken, at, key)
            found = tuple(self._memory.i[0, key : key + self._said(S_KEYS)].tolist())
            plain(release)(self._memory.i, key, 1 + self._said(S_KEYS))
            return found

    def _key_at(self, row: int) -> tuple[int, ...]:
        first = row + self._said(S_KEY)
        return tuple(self._memory.i[0, first : first + self._said(S_KEYS)].tolist())

    @property
    def _dropped(self) -> int:
        return int(self._memory.i[0, self._said(S_DROPPED)])

    def _call(self, kernel: Callable[..., Any], *arguments: int) -> None:
        plain(kernel)(self._memory.i, self._memory.f, self._p, self._shape, *arguments)

    @contextmanager
    def _written(self, values: Iterable[Any]) -> Iterator[int]:
        """The address of values, written down meanwhile; there is room for a row more then."""
        at = self._memory.block(self._width)
        self._words.write(at, values)
        self._run.know_texts()
        while not plain(table_room)(self._memory.i, self._p, self._shape, self._at, 1):
            self._memory.grow()
        try:
            yield at
        finally:
            plain(release)(self._memory.i, at, self._width)


class Window:
    """The rows of a named window of a program."""

    def __init__(self, run: MachineRun, held: Held | HeldByKey, schema: Schema) -> None:
        self._run, self._held = run, held
        self._words = Words(run, schema)

    def rows(self, asking: Row | None = None) -> Iterable[Row]:
        """The rows held now, in the order in which they came."""
        held, memory = self._held, self._run.memory
        i = memory.i
        found = rows_held(held, i, self._run.program.words, int(i[0, HOME]))
        return [Row(int(i[0, at + TIME]), self._words.read(at + VALUES)) for at in found]

    def index(self, key: Expression) -> Find | None:
        """No index."""
        return None


class Aggregation:
    """An aggregation of a program, as `cep.interpreter.aggregations` has one."""

    def __init__(self, read: View) -> None:
        self.plan, self.rows = read.plan, read.rows

    def view(
        self, within: tuple[Expression, ...], per: Expression | None, context: Context
    ) -> Seen:
        """What an on-demand query sees of it."""
        return Seen(self, within, per, context)
