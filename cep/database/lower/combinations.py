"""Rows of several inputs side by side: the new ones of each with what the others hold then."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from cep.database.dialects.base import Element
from cep.database.expressions import Find, Lowering
from cep.database.lower.index_ranges import index_range, moved
from cep.database.lower.lookup import Lookup, lookup
from cep.database.lower.nested import nested
from cep.database.lower.row_lifetimes import RowLifetime, life
from cep.database.steps import batch_number
from cep.database.tables import NUMBER, Tables
from cep.plan.expressions import Column, Comparison, EventTime, Expression, walk
from cep.plan.families import PARAMETER, Family
from cep.plan.query import Correlation, Join, Query
from cep.plan.rewrite.conjunctions import conjuncts
from cep.plan.types import Type

_ROWS_MAX = 2**52
"""More rows than any stream has."""
_READ_MAX = 2
"""So many columns are put into an index for those who read them."""

Slots = Mapping[int, sa.FromClause]


@dataclass(frozen=True, slots=True)
class Arm:
    """The combinations that new rows of input `arrived` complete.

    `rows` has a table for each slot (and the parameters), `source` is all of them. `order` puts the
    combinations of one event in order: the place of the new row among those of all inputs, then the
    numbers of the others. `strategy` says how they are found.
    """

    arrived: int
    rows: Slots
    source: sa.FromClause
    conditions: tuple[Element, ...]
    order: tuple[Element, ...]
    find: Find
    strategy: str = ""

    @property
    def newest(self) -> sa.FromClause:
        """The new row."""
        return self.rows[self.arrived]


@dataclass(frozen=True, slots=True)
class Combinations:
    """The inputs of a join or correlation, and what must be true of their rows together.

    `found.family` has the constants as they are compared; `parameters` is their table, if any.
    """

    tables: Tables
    found: Lookup
    lifetimes: tuple[RowLifetime | None, ...]
    parameters: sa.FromClause | None

    @property
    def family(self) -> Family:
        """The queries."""
        return self.found.family

    @property
    def streams(self) -> tuple[str, ...]:
        """The stream of each slot."""
        return tuple(one.stream for one in self.family.query.inputs)

    def arm(self, arrived: int) -> Arm:
        """The combinations with new rows of one input."""
        rows = self.named(arrived)
        find = self.finder(rows, arrived)
        loops, ways = [arrived], [f"new {self.streams[arrived]}"]
        conditions = [*self.begins(rows, arrived)]
        while len(loops) < len(rows):
            slot = self._next(loops, [one for one in rows if one not in loops])
            if slot == PARAMETER:
                ways.append(self._way_to_parameters())
            else:
                column, ranges = self._range(slot, loops, find)
                conditions += [*self.holds(rows, slot, arrived), *ranges]
                conditions += self._within(rows, slot, arrived, column is not None)
                ways.append(f"{self.streams[slot]} by {self.index(slot, column)}")
            loops.append(slot)
        lowering = Lowering(self.tables.dialect, find)
        conditions += [lowering.truth(one) for one in self.found.conditions]
        source = nested([rows[slot] for slot in loops])
        order = self.order(rows, arrived)
        return Arm(arrived, rows, source, tuple(conditions), order, find, ", ".join(ways))

    def order(self, rows: Slots, arrived: int) -> tuple[Element, ...]:
        """What puts the combinations of one event in order."""
        others = (rows[slot].c.pos for slot in self.others(arrived))
        return self.place(rows, arrived), *others

    def others(self, arrived: int) -> list[int]:
        """The slots but one."""
        return [slot for slot in range(len(self.streams)) if slot != arrived]

    def finder(self, rows: Slots, arrived: int) -> Find:
        """Attributes of all slots; the time of a combination is that of its newest row."""
        found = self.tables.find(rows)

        def find(node: Column | EventTime) -> Element:
            if isinstance(node, EventTime) and node.slot is None:
                return self.tables.own_time(rows[arrived])
            return found(node)

        return find

    def begins(self, rows: Slots, slot: int) -> Iterator[Element]:
        """Which rows of an input are new, and get into its window."""
        row = rows[slot]
        yield row.c.pos > batch_number("base", self.streams[slot])
        yield from self.own(row, slot)
        one = self.lifetimes[slot]
        if one is not None:
            yield from one.enters(row, rows.get(PARAMETER))

    def holds(self, rows: Slots, slot: int, arrived: int) -> Iterator[Element]:
        """Which rows an input holds when the new row comes."""
        row, newest, one = rows[slot], rows[arrived], self.lifetimes[slot]
        if one is None:
            yield sa.false()
            return
        is_before = self.is_before(slot, arrived, newest)
        yield is_before(row.c.pos, row.c.seq)
        yield from self.own(row, slot)
        yield from one.is_there(row, newest, rows.get(PARAMETER), is_before, self.tables)

    def place(self, rows: Slots, arrived: int) -> Element:
        """A number that grows in the order in which one event's rows reach the inputs."""
        ranks = [self.tables.rank(self.family, slot) for slot in range(len(self.streams))]
        alike = [ranks[slot] for slot, name in enumerate(self.streams)
                 if name == self.streams[arrived]]  # fmt: skip
        number: Element = rows[arrived].c.pos
        if len(alike) > 1:  # row by row into one input after the other
            number = number * len(ranks) + ranks[arrived]
        return number + min(alike) * _ROWS_MAX if min(alike) else number

    def named(self, arrived: int) -> dict[int, sa.FromClause]:
        """A table for each slot, the new rows' and the others', and the parameters."""
        rows: dict[int, sa.FromClause] = {
            slot: self._rows(slot).alias(f"{'e' if slot == arrived else 'r'}{slot}")
            for slot in range(len(self.streams))
        }
        if self.parameters is not None:
            rows[PARAMETER] = self.parameters
        return rows

    def _rows(self, slot: int) -> sa.Table:
        one = self.lifetimes[slot]
        return self.tables.stream(self.streams[slot]) if one is None else one.rows(self.tables)

    def own(self, row: sa.FromClause, slot: int) -> Iterator[Element]:
        """What is asked of a row of an input alone."""
        begun = self.tables.born(self.family, slot)
        if begun:
            yield row.c.pos > begun
        lowering = Lowering(self.tables.dialect, self.tables.find({0: row}))
        for condition in self.family.query.inputs[slot].window_filters:
            yield lowering.truth(condition)

    def is_before(
        self, slot: int, arrived: int, newest: sa.FromClause
    ) -> Callable[[Element, Element], Element]:
        """Whether a row of one input is there when a row of another comes."""
        rank = self.tables.rank
        is_first = rank(self.family, slot) < rank(self.family, arrived)
        is_same = self.streams[slot] == self.streams[arrived]

        def is_before(pos: Element, seq: Element) -> Element:
            one, other = (pos, newest.c.pos) if is_same else (seq, newest.c.seq)
            return one <= other if is_first else one < other

        return is_before

    def _next(self, known: Sequence[int], rest: Sequence[int]) -> int:
        """The slot to be looked through next: one that an equality leads to, parameters last."""
        led = (slot for slot in rest if any(self._leads(slot, known)))
        inputs = (slot for slot in rest if slot != PARAMETER)
        return next(led, next(inputs, PARAMETER))

    def _leads(self, slot: int, known: Sequence[int]) -> Iterator[Column]:
        """The columns of a slot that equalities with known slots give."""
        for condition in self.found.conditions:
            if isinstance(condition, Comparison) and condition.op == "==":
                sides = (condition.left, condition.right)
                for one, other in (sides, sides[::-1]):
                    if isinstance(one, Column) and one.slot == slot and _slots(other) <= {*known}:
                        yield one

    def _within(self, rows: Slots, slot: int, arrived: int, is_found: bool) -> list[Element]:
        one = self.lifetimes[slot]
        return [] if one is None else one.within(rows[slot], rows[arrived].c.ts, is_found)

    def _range(
        self, slot: int, known: Sequence[int], find: Find
    ) -> tuple[Column | None, list[Element]]:
        """The column by which rows of an input are found, and where they lie if it is no value."""
        column = next(self._leads(slot, known), None)
        if column is not None:
            return column, []
        for reached in (index_range(one, slot) for one in self.found.conditions):
            if reached is not None and reached.slots <= {*known, PARAMETER}:
                bounds = reached.bounds(self.family, find)
                if bounds is not None:
                    return reached.column, [find(reached.column).between(*bounds)]
        return None, []

    def index(self, slot: int, column: Column | None) -> str:
        """An index by a column, then by what says how long rows live; what it is by."""
        one = self.lifetimes[slot]
        is_timed = one is not None and one.is_timed
        keys = [] if column is None else [f"a_{column.position}"]
        if is_timed:
            keys += ["ts", "seq"] if keys else ["ts"]
        is_indexed = one is not None and not one.keys and self.tables.dialect.forms != "duckdb"
        if keys and is_indexed:
            self.tables.index(self.streams[slot], *keys, *self._read(slot, keys))
        return column.name if column is not None else "time" if is_timed else "number"

    def _read(self, slot: int, keys: Sequence[str]) -> list[str]:
        """What many queries read of an input; with it in the index rows need not be fetched."""
        query = self.family.query
        values = [*self.found.conditions, *(value for _, value in query.projection)]
        nodes = [node for value in values for node in walk(value)]
        columns = [node for node in nodes if isinstance(node, Column) and node.slot == slot]
        names = dict.fromkeys(f"a_{node.position}" for node in columns)
        more = [name for name in names if name not in keys]
        is_small = len(more) <= _READ_MAX and all(node.type is not Type.STRING for node in columns)
        return more if len(self.family) > 1 and is_small else []

    def _way_to_parameters(self) -> str:
        """How a combination finds the queries that it is for."""
        number = f"{len(self.family)} queries"
        return f"{number} by their constants" if self.found.columns else f"each of {number}"


def combinations(family: Family, tables: Tables) -> Combinations:
    """What a join or correlation combines; has the rows kept. Refusal for windows not known."""
    found = lookup(family, map(moved, _conditions(family.query)))
    lifetimes = tuple(life(found.family, slot, tables) for slot in range(len(family.query.inputs)))
    parameters = _parameters(found, lifetimes, tables) if len(family) > 1 else None
    return Combinations(tables, found, lifetimes, parameters)


def _conditions(query: Query) -> list[Expression]:
    assert isinstance(query.input, Join | Correlation)
    return [] if query.input.on is None else conjuncts(query.input.on)


def _parameters(
    found: Lookup, lifetimes: Iterable[RowLifetime | None], tables: Tables
) -> sa.FromClause:
    more = {
        name: (NUMBER, values)
        for one in lifetimes
        if one is not None
        for name, values in one.parameters.items()
    }
    indexes = [(*found.columns, *more, "member")] if found.columns else []
    return tables.parameters(found.family, more, indexes).alias("p")


def _slots(expression: Expression) -> set[int]:
    nodes = (node for node in walk(expression) if isinstance(node, Column | EventTime))
    return {node.slot for node in nodes if node.slot is not None}
