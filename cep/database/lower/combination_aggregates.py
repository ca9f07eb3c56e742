"""Aggregates of combinations, and of windows that go by a key which is no group.

With each new combination all that is held then is looked through: what began earlier, and what the
same row began before it in order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sqlalchemy as sa

from cep.database.dialects.base import Element
from cep.database.errors import Refusal
from cep.database.expressions import Lowering
from cep.database.lower.combinations import Arm, Combinations, combinations
from cep.database.lower.groups import Groups
from cep.database.lower.lookup import lookup
from cep.database.lower.row_lifetimes import life
from cep.database.lower.summaries import Summary, need_exact, summary
from cep.database.steps import Rows
from cep.database.tables import Tables
from cep.plan.expressions import Aggregated, Column, EventTime, Output, walk
from cep.plan.families import Family
from cep.plan.query import Join, Query, StreamInput

_KEY = ("pos", "seq", "ts")


def lower_combination_aggregates(family: Family, tables: Tables) -> Rows:
    """A part for each input whose rows complete combinations."""
    query = family.query
    if len(family) > 1:
        raise Refusal("notimpl", "one statement for several queries of this kind")
    if isinstance(query.input, Join) and (
        query.input.kind != "inner" or query.input.trigger != "both"
    ):
        raise Refusal("notimpl", "aggregates of outer joins, and of joins that one side triggers")
    combined = _combinations(family, tables)
    if any(one is None for one in combined.lifetimes):
        raise Refusal("notimpl", "aggregates of joins with an input that has no window")
    inside = [*combined.found.conditions, *(one for item in query.aggregates
              for one in item.arguments)]  # fmt: skip
    if any(isinstance(node, EventTime) and node.slot is None
           for one in inside for node in walk(one)) and len(combined.streams) > 1:  # fmt: skip
        raise Refusal("notimpl", "aggregates of the time of a combination")
    need_exact(query, combined.streams, tables)
    together = CombinationAggregates(query, combined)
    selects = [together.select(slot) for slot in range(len(combined.streams))]
    made = selects[0] if len(selects) == 1 else sa.union_all(*selects)
    how = "new combinations, each with all that live then"
    if isinstance(query.input, StreamInput):
        how = "each new row with all that live then"
    return Rows(made, how, orders=together.orders)


def _combinations(family: Family, tables: Tables) -> Combinations:
    """Also of a single stream: each row is one."""
    if isinstance(family.query.input, StreamInput):
        return Combinations(tables, lookup(family, ()), (life(family, 0, tables),), None)
    return combinations(family, tables)


@dataclass(frozen=True)
class CombinationAggregates:
    """A query at work."""

    query: Query
    combined: Combinations

    @property
    def is_singly(self) -> bool:
        """Whether each combination is a result; else the last of a group that a row completes."""
        return not (isinstance(self.query.input, Join) and not self.query.input.singly)

    @property
    def orders(self) -> int:
        """How many columns say the order of the results of an event."""
        return len(self.combined.streams) if self.is_singly else 2

    @cached_property
    def groups(self) -> Groups:
        """How combinations are told apart."""
        return Groups(self.query.group_by, self.combined.tables.dialect)

    @cached_property
    def needed(self) -> dict[Column | EventTime, str]:
        """What of a new combination the results say, under a name."""
        having = [] if self.query.having is None else [self.query.having]
        values = [value for _, value in self.query.projection]
        nodes = (node for one in (*values, *having) for node in walk(one))
        found = dict.fromkeys(one for one in nodes if isinstance(one, Column | EventTime))
        return {node: f"c_{place}" for place, node in enumerate(found)}

    def select(self, arrived: int) -> sa.Select[Any]:
        """The results of the combinations that new rows of an input complete."""
        new = self._new(self.combined.arm(arrived))
        rows, conditions = self._live(arrived, new)
        dialect = self.combined.tables.dialect
        lowering = Lowering(dialect, self.combined.tables.find(rows))
        summaries = [summary(one, lowering, dialect) for one in self.query.aggregates]
        terms = {f"s_{place}_{number}": term for place, one in enumerate(summaries)
                 for number, term in enumerate(one.terms)}  # fmt: skip
        columns = [*new.c, *(term.label(name) for name, term in terms.items())]
        made = sa.select(*columns).where(*conditions).group_by(*new.c).subquery("a")
        select = self._selected(made, summaries)
        return select if self.is_singly else self._last(select)

    def _new(self, arm: Arm) -> sa.Subquery:
        """The new combinations: their last row, order, group, and what is said of them."""
        lowering = Lowering(self.combined.tables.dialect, arm.find)
        columns: dict[str, Element] = {name: arm.newest.c[name] for name in _KEY}
        columns |= {f"o_{place}": one for place, one in enumerate(arm.order)}
        columns |= dict(zip(self.groups.names, self.groups.of(lowering), strict=True))
        columns |= {name: lowering.value(node) for node, name in self.needed.items()}
        labelled = [value.label(name) for name, value in columns.items()]
        select = sa.select(*labelled).select_from(arm.source).where(*arm.conditions)
        return select.subquery("n")

    def _live(
        self, arrived: int, new: sa.FromClause
    ) -> tuple[dict[int, sa.FromClause], list[Element]]:
        """All combinations that live when a new one comes, up to that one."""
        combined = self.combined
        rows: dict[int, sa.FromClause] = {}
        for slot, one in enumerate(combined.lifetimes):
            assert one is not None
            rows[slot] = one.rows(combined.tables).alias(f"t{slot}")
        conditions = [one for slot in rows for one in self._there(slot, arrived, rows[slot], new)]
        lowering = Lowering(combined.tables.dialect, combined.tables.find(rows))
        conditions += [lowering.truth(one) for one in combined.found.conditions]
        conditions += self.groups.equal(new, self.groups.of(lowering))
        others = combined.others(arrived)
        if others:
            mine: list[Element] = [rows[slot].c.pos for slot in others]
            theirs: list[Element] = [new.c[f"o_{place + 1}"] for place in range(len(others))]
            conditions.append(sa.or_(rows[arrived].c.pos < new.c.pos, _up_to(mine, theirs)))
        return rows, conditions

    def _there(
        self, slot: int, arrived: int, row: sa.FromClause, new: sa.FromClause
    ) -> Iterator[Element]:
        """Whether a row of an input is there with the new row, or is the new row."""
        combined, one = self.combined, self.combined.lifetimes[slot]
        assert one is not None
        yield from combined.own(row, slot)
        yield from one.within(row, new.c.ts)

        def has_come(pos: Element, seq: Element) -> Element:
            return pos <= new.c.pos  # the new row has, too, and may displace another

        is_before = has_come if slot == arrived else combined.is_before(slot, arrived, new)
        yield is_before(row.c.pos, row.c.seq)
        yield from one.is_there(row, new, None, is_before, combined.tables)

    def _selected(self, made: sa.FromClause, summaries: list[Summary]) -> sa.Select[Any]:
        """What is selected of each new combination."""

        def find(node: Column | EventTime) -> Element:
            return made.c[self.needed[node]]

        def result(node: Aggregated | Output) -> Element:
            if isinstance(node, Output):
                return values[node.position]
            one, place = summaries[node.position], node.position
            return one.result([made.c[f"s_{place}_{term}"] for term in range(len(one.terms))])

        lowering = Lowering(self.combined.tables.dialect, find, result)
        values = [lowering.value(value) for _, value in self.query.projection]
        orders = [made.c[f"o_{place}"] for place in range(len(self.combined.streams))]
        columns = [made.c.seq, made.c.ts, *orders]
        columns += [value.label(f"v_{place}") for place, value in enumerate(values)]
        if not self.is_singly:
            columns += [made.c[name] for name in self.groups.names]
        select = sa.select(*columns)
        if self.query.having is not None:
            select = select.where(lowering.truth(self.query.having))
        return select

    def _last(self, select: sa.Select[Any]) -> sa.Select[Any]:
        """The last of those that one row completes in each group; groups as they first came."""
        made = select.subquery("s")
        orders = [made.c[f"o_{place}"] for place in range(len(self.combined.streams))]
        same = [made.c.o_0, *(made.c[name] for name in self.groups.names)]
        number = sa.func.row_number().over(partition_by=made.c.o_0, order_by=orders)
        numbered = sa.select(*made.c, number.label("place")).subquery("p")
        same = [numbered.c[one.key] for one in same]
        first = sa.func.min(numbered.c.place).over(partition_by=same)
        last = sa.func.max(numbered.c.place).over(partition_by=same)
        told = sa.select(*numbered.c, first.label("first"), last.label("last")).subquery("q")
        values = [column for name, column in told.c.items() if name.startswith("v_")]
        head = (told.c.seq, told.c.ts, told.c.o_0, told.c.first.label("o_1"))
        return sa.select(*head, *values).where(told.c.place == told.c.last)


def _up_to(left: list[Element], right: list[Element]) -> Element:
    """Whether one list of numbers comes before another in order, or is the same."""
    (one, *rest), (other, *others) = left, right
    if not rest:
        return one <= other
    return sa.or_(one < other, sa.and_(one == other, _up_to(rest, others)))
