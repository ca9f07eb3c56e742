"""Patterns without end: all partial matches, each kept where it stands, and how they go on.

The partial matches of new rows follow from earlier ones in a recursive statement, instant by
instant. They are numbered in the order in which the engine finds them: by row, then by the partial
match that they go on from (a new one last), then by symbol.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha1
from typing import Any

import sqlalchemy as sa

from cep.database.dialects.base import Element
from cep.database.errors import Refusal
from cep.database.lower.instants import instants, instants_by_before
from cep.database.lower.spelling import selected
from cep.database.lower.transitions import Partial, Transitions
from cep.database.steps import Rows, batch_number
from cep.database.tables import NUMBER, Tables
from cep.plan.families import Family
from cep.plan.query import Matching, Query
from cep.plan.words import Steps

MIDDLE = 5_000_000_000
"""Positions from there on have ten digits, before and behind the rows of a batch."""
LAST = "9" * 10
"""What a partial match that begins goes on from: it is behind all others."""
FIRST_NUMBER = 10**15
"""Numbers of partial matches from there on have sixteen digits."""
_PLACE = ("pos", "first_pos", "ts", "state", "first_ts")


def lower_partials(family: Family, matching: Matching, steps: Steps, tables: Tables) -> Rows:
    """The partial matches of new rows that may end there."""
    if len(family) > 1:
        raise Refusal("notimpl", "patterns without end as one statement")
    transitions = Transitions(matching, steps, tables.dialect)
    return _Partials(transitions, tables, tables.born(family, 0)).rows(family.query)


@dataclass(frozen=True, slots=True)
class _Partials:
    """The partial matches of one matching; rows up to `born` are not its."""

    transitions: Transitions
    tables: Tables
    born: int

    @property
    def matching(self) -> Matching:
        return self.transitions.matching

    @property
    def stream(self) -> str:
        """What the matching reads."""
        return self.matching.input.stream

    def rows(self, query: Query) -> Rows:
        """The matches: partial matches at new rows in a state in which they may end."""
        self.tables.keep(self.stream, time_ms=self.matching.within_ms)
        instant = instants(self.stream, self.tables).alias("i")
        partial = self._table().alias("w")
        row, is_new = self.tables.fresh(self.stream, "e")
        lowering = self.transitions.lowering(row, dict(partial.c.items()))
        values = [
            lowering.value(value).label(f"v_{place}")
            for place, (_, value) in enumerate(query.projection)
        ]
        where = [
            is_new,
            instant.c.pos == row.c.pos,
            partial.c.first_pos == instant.c.first_pos,
            partial.c.pos == row.c.pos,
            sa.or_(
                *(partial.c.state == state for state in sorted(self.transitions.steps.accepting))
            ),
        ]
        if query.having is not None:
            where.append(lowering.truth(selected(query.having, query)))
        head = [row.c.seq.label("seq"), row.c.ts.label("ts"), partial.c.number.label("o_0")]
        return Rows(sa.select(*head, *values).where(*where), self._strategy(), orders=1)

    def _strategy(self) -> str:
        steps = f"{len(self.transitions.steps.steps)} steps of an automaton"
        silent = ", to the next instant that is heard" if self.matching.skips else ""
        return f"{steps}, from a table of the partial matches{silent}"

    def _table(self) -> sa.Table:
        """The partial matches that have begun: `number` in their order, the row of each."""
        instants(self.stream, self.tables)
        if self.matching.skips:
            self.tables.index(self.stream, "ts")
        else:
            instants_by_before(self.stream, self.tables)
        whole = (self.matching, self.transitions.steps, self.born)
        digest = sha1(repr(whole).encode(), usedforsecurity=False).hexdigest()[:12]
        columns = dict.fromkeys(("number", *_PLACE), NUMBER) | self.transitions.variables()
        key = ("first_pos", "number")
        return self.tables.following(self.stream, f"ways.{digest}", columns, key, self._fill)

    def _fill(self, table: sa.Table) -> sa.Select[Any]:
        """New partial matches: those that begin, those that go on from before the batch, and from
        these.
        """
        begun = sa.union_all(self._begun(), self._continued(table)).subquery("b")
        partials = sa.select(*begun.c).cte("w", recursive=True)
        whole = partials.union_all(self._extended(partials))
        last = sa.func.coalesce(sa.select(sa.func.max(table.c.number)).scalar_subquery(), 0)
        order = [whole.c.pos, whole.c.path, whole.c.symbols]
        number = last + sa.func.row_number().over(order_by=order)
        names = [*_PLACE, *self.transitions.variables()]
        return sa.select(number, *(whole.c[name] for name in names))

    def _begun(self) -> sa.Select[Any]:
        row, is_new = self.tables.fresh(self.stream, "r")
        instant = instants(self.stream, self.tables).alias("i")
        kinds = self.transitions.variables().items()
        missing = {name: sa.cast(sa.null(), kind) for name, kind in kinds}
        nothing: Element = sa.literal_column("0")
        start = Partial(nothing, row.c.ts, missing, _text(LAST), _text(""))
        found = self.transitions.step(start, row, instant.c.first_pos)
        found = found.where(is_new, instant.c.pos == row.c.pos)
        return found.where(row.c.pos > self.born) if self.born else found

    def _continued(self, table: sa.Table) -> sa.Select[Any]:
        """From a partial match of before the batch."""
        row, is_new = self.tables.fresh(self.stream, "r")
        instant = instants(self.stream, self.tables).alias("i")
        before = table.alias("k")
        path = self._behind(before, sa.cast(before.c.number + FIRST_NUMBER, sa.Text()))
        partial = self._partial(before, path, _text(""))
        found = self.transitions.step(partial, row, instant.c.first_pos).where(is_new)
        return found.where(instant.c.pos == row.c.pos, *self._next(partial, before, row, instant))

    def _extended(self, partials: sa.CTE) -> sa.Select[Any]:
        """From a partial match of the batch."""
        row = self.tables.stream(self.stream).alias("r")
        by_before = not self.matching.skips
        table = (instants_by_before if by_before else instants)(self.stream, self.tables)
        instant = table.alias("i")
        partial = self._partial(
            partials, self._behind(partials, partials.c.path), partials.c.symbols
        )
        found = self.transitions.step(partial, row, instant.c.first_pos)
        return found.where(instant.c.pos == row.c.pos, *self._next(partial, partials, row, instant))

    def _next(
        self, partial: Partial, before: sa.FromClause, row: sa.FromClause, instant: sa.FromClause
    ) -> Iterator[Element]:
        """A row of the next instant, or of the next one in which a row emits a symbol."""
        yield row.c.ts - partial.first_ts < self.matching.within_ms
        if not self.matching.skips:
            yield instant.c.before_pos == before.c.first_pos
            return
        later = self.tables.stream(self.stream).alias("m")
        heard = sa.select(sa.func.min(later.c.ts)).where(
            later.c.ts > before.c.ts, self.transitions.is_heard(partial, later)
        )
        yield row.c.ts == heard.correlate(before).scalar_subquery()

    def _partial(self, before: sa.FromClause, path: Element, symbols: Element) -> Partial:
        variables = {name: before.c[name] for name in self.transitions.variables()}
        return Partial(before.c.state, before.c.first_ts, variables, path, symbols)

    def _behind(self, before: sa.FromClause, path: Element) -> Element:
        """The order of a partial match by the one that it goes on from."""
        number = before.c.pos - batch_number("base", self.stream) + MIDDLE
        return sa.cast(number, sa.Text()).concat(path)


def _text(text: str) -> Element:
    return sa.literal(text, sa.Text())
