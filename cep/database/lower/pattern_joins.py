"""One word of a pattern as a select: a join of its rows, from the last one back.

SQLite joins them all at once, by look-ups. Other databases would begin with conditions on rows that
are not neighbours, or plan for too long: they join one row after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import sqlalchemy as sa

from cep.database.dialects.base import Element
from cep.database.expressions import Find, Lowering
from cep.database.late import own_time
from cep.database.lower.instants import instants, precedes
from cep.database.lower.spelling import Spelled
from cep.database.steps import batch_number
from cep.database.tables import NUMBER, Tables
from cep.plan.expressions import Column, EventTime, Expression, children, walk
from cep.plan.families import PARAMETER, Family, is_parameter

Columns: TypeAlias = "Mapping[str, Element]"
Places: TypeAlias = "Mapping[int, Columns]"
"""The columns of rows of a word by their place."""
BEHIND_ALL = 2**62
"""The position of a row that a shorter match does not have: longer ones come before it."""
BEFORE = "before_pos"
"""The column that leads to the instant before."""


@dataclass(frozen=True, slots=True)
class Chain:
    """The words of a family over one stream, in lexical order.

    `within_ms`: what each member's match takes less than, None without limit. `by_instant`: from
    instant to instant, else from row to row.
    """

    stream: str
    words: tuple[Spelled, ...]
    within_ms: tuple[int, ...] | None
    by_instant: bool

    @property
    def longest(self) -> int:
        """How many rows the longest word has."""
        return max(word.length for word in self.words)


class Word:
    """One word's rows: the last one is new, each other one of the instant (or row) before."""

    def __init__(
        self,
        family: Family,
        chain: Chain,
        tables: Tables,
        parameters: sa.FromClause | None,
        number: int,
    ) -> None:
        self._chain, self._tables, self._parameters = chain, tables, parameters
        self._number, self._word = number, chain.words[number]
        self._born = tables.born(family, 0)
        stream = tables.stream(chain.stream)
        self._rows = [stream.alias(f"e{place}") for place in range(self._word.length)]

    def select(self, conditions: Sequence[Expression]) -> sa.Select[Any]:
        """All matches whose last row is new."""
        if self._tables.dialect.forms == "sqlite":
            rows: Places = {place: _columns(row) for place, row in enumerate(self._rows)}
            where = [*self._linked(), *self._limits(), *self._lowered(rows, conditions)]
        else:
            rows = self._one_by_one([one for one in conditions if not parameters_of(one)])
            where = self._lowered(rows, [one for one in conditions if parameters_of(one)])
        last = rows[len(rows) - 1]
        head: list[Element] = []
        if self._parameters is not None:
            head.append(self._parameters.c.member.label("member"))
        head += [last["seq"].label("seq"), last["ts"].label("ts"), *self._order(rows)]
        values = [
            value.label(f"v_{place}")
            for place, value in enumerate(self._lowered(rows, self._word.values, as_values=True))
        ]
        return sa.select(*head, *values).where(*where, *self._young(rows))

    def _linked(self) -> Iterator[Element]:
        """Each row is of the instant (or row) before the next one."""
        rows = self._rows
        if not self._chain.by_instant:
            for row, following in pairwise(rows):
                yield row.c.pos == following.c.pos - 1
        elif len(rows) > 1:
            table = instants(self._chain.stream, self._tables)
            for place in range(len(rows) - 1, 0, -1):
                own = table.alias(f"i{place}")
                yield own.c.pos == rows[place].c.pos
                yield precedes(rows[place - 1], own)

    def _limits(self) -> Iterator[Element]:
        """The last row is new, and the first one there since the query is."""
        yield self._rows[-1].c.pos > batch_number("base", self._chain.stream)
        if self._born:
            yield self._rows[0].c.pos > self._born

    def _one_by_one(self, conditions: Sequence[Expression]) -> Places:
        """The rows after a join each, from the last one back, with the conditions on those."""
        length = self._word.length
        names = list(_columns(self._rows[0]))
        rows: dict[int, Columns] = {}
        joined: sa.FromClause | None = None
        for place in reversed(range(length)):
            known = [one for one in conditions if _first_place(one, length) == place]
            select = self._with_row(place, joined, rows, known)
            joined = select.cte(f"w{self._number}_{place}").prefix_with("MATERIALIZED")
            rows = {
                at: {name: joined.c[f"e{at}_{name}"] for name in names}
                for at in range(place, length)
            }
        return rows

    def _with_row(
        self,
        place: int,
        joined: sa.FromClause | None,
        later: Places,
        conditions: Sequence[Expression],
    ) -> sa.Select[Any]:
        """The rows of places behind, with one of this place."""
        row = self._rows[place]
        columns: list[Element] = []
        where: list[Element] = []
        if joined is None:
            where.append(row.c.pos > batch_number("base", self._chain.stream))
        else:
            columns += [one for one in joined.c if one.key != BEFORE]
        columns += [column.label(f"e{place}_{name}") for name, column in row.c.items()]
        if self._born and place == 0:
            where.append(row.c.pos > self._born)
        if self._chain.by_instant and self._word.length > 1:
            own = instants(self._chain.stream, self._tables).alias(f"i{place}")
            columns.append(own.c.before_pos.label(BEFORE))
            where.append(own.c.pos == row.c.pos)
            if joined is not None:
                where.append(own.c.first_pos == joined.c[BEFORE])
        elif joined is not None:
            where.append(row.c.pos == later[place + 1]["pos"] - 1)
        where += self._lowered({**later, place: _columns(row)}, conditions)
        return sa.select(*columns).where(*where)

    def _lowered(
        self, rows: Places, expressions: Iterable[Expression], *, as_values: bool = False
    ) -> list[Element]:
        find = _find(rows, self._parameters, self._tables.late)
        lowering = Lowering(self._tables.dialect, find)
        return [lowering.value(one) if as_values else lowering.truth(one) for one in expressions]

    def _young(self, rows: Places) -> Iterator[Element]:
        """The match does not take too long."""
        within_ms = self._chain.within_ms
        if within_ms is not None and len(rows) > 1:
            table = self._parameters
            limit = sa.literal(within_ms[0], NUMBER) if table is None else table.c.within_ms
            times = [self._time(rows[place]) for place in range(len(rows))]
            later = times[-1:] if self._tables.late is None else times[1:]
            yield from (time - times[0] < limit for time in later)

    def _time(self, row: Columns) -> Element:
        return own_time(self._tables.late, row["seq"], row["ts"])

    def _order(self, rows: Places) -> Iterator[Element]:
        """Rows from the last one back, then the number of the word."""
        longest = self._chain.longest
        positions = [rows[place]["pos"] for place in reversed(range(len(rows)))]
        missing = [sa.literal(BEHIND_ALL, NUMBER)] * (longest - len(positions))
        for place, position in enumerate([*positions, *missing]):
            yield position.label(f"o_{place}")
        if len(self._chain.words) > 1:
            yield sa.literal(self._number, NUMBER).label(f"o_{longest}")


def parameters_of(expression: Expression) -> list[int]:
    """The constants of a family in an expression, each as often as it is there."""
    below = [number for child in children(expression) for number in parameters_of(child)]
    if isinstance(expression, Column) and is_parameter(expression):
        return [*below, expression.position]
    return below


def _columns(row: sa.FromClause) -> Columns:
    return dict(row.c.items())


def _first_place(expression: Expression, length: int) -> int:
    """The first row that an expression asks for; the last one of all if it asks for none."""
    slots = [one.slot or 0 for one in walk(expression) if isinstance(one, Column | EventTime)]
    return min(slots, default=length - 1)


def _find(rows: Places, parameters: sa.FromClause | None, late: sa.Table | None) -> Find:
    """Where attributes are: of a row of the word by its place, of the parameters."""

    def found(node: Column | EventTime) -> Element:
        if isinstance(node, EventTime):
            row = rows[node.slot or 0]
            return own_time(late, row["seq"], row["ts"])
        if node.slot == PARAMETER and parameters is not None:
            return parameters.c[f"c_{node.position}"]
        return rows[node.slot][f"a_{node.position}"]

    return found
