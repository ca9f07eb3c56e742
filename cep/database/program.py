"""A plan as a program of statements for one database."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import TopologicalSorter

import sqlalchemy as sa

from cep.database.dialects.base import Dialect
from cep.database.errors import Refusal
from cep.database.hidden import HIDDEN, with_hidden
from cep.database.lower import lower
from cep.database.order import Arrivals, arrivals
from cep.database.refused import refusal
from cep.database.statements import fetch, fetch_stream, insert
from cep.database.steps import CreatedTable, Filled, Kept, Program, Retention, Rows, Statement, Step
from cep.database.tables import Tables, types_of
from cep.plan.families import Family, family_of, shape_of
from cep.plan.nodes import Plan
from cep.plan.query import Query

Born = Mapping[tuple[str, int], int]
"""How many rows an input had when a query was made, by query and slot."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A plan without what is refused at once, its filters before windows as streams."""

    plan: Plan
    reached: Arrivals
    refused: Mapping[str, str]
    takes_late: bool = False


def prepared(plan: Plan, *, takes_late: bool = False) -> Prepared:
    """The plan as it is to be built; `takes_late`: rows may be older than others before them."""
    reached = arrivals(plan)
    refused = {
        one.name: str(why)
        for one in plan.operators
        if (why := refusal(one, plan, reached, takes_late)) is not None
    }
    operators = tuple(one for one in plan.operators if one.name not in refused)
    plan = with_hidden(replace(plan, operators=operators))
    return Prepared(plan, reached, refused, takes_late)


def build(
    wanted: Prepared,
    outputs: Collection[str],
    dialect: Dialect,
    *,
    prefix: str = "",
    born: Born | None = None,
    is_durable: bool = True,
    sees_late: bool = False,
) -> Program:
    """The program that makes the streams `outputs`. Nothing is raised: `refused` tells.

    With `sees_late` it is the one for the time in which late rows may be there: the same tables,
    and statements that ask for the own times of rows.
    """
    plan, reached = wanted.plan, wanted.reached
    schemas = {stream.name: stream.schema for stream in plan.streams}
    tables = Tables(dialect, schemas, prefix, born, is_durable, wanted.takes_late)
    if sees_late:
        tables.late = tables.late_times
    tables.rank_as(reached.slots, reached.alone)
    builder = _Builder(plan, tables, frozenset(outputs), born or {})
    steps = builder.steps()
    kept = {name: _kept(name, tables) for name in tables.streams}
    made = frozenset(query.target for query in plan.queries)
    sources = {name: schemas[name] for name in kept if name not in made}
    refused = {**wanted.refused, **builder.refused}
    late = tables.late_times
    return Program(_made(tables), kept, sources, steps, refused, reached.streams, late)


class _Builder:
    """Lowers families in the order of their inputs; those of leaves, which nothing reads, last."""

    def __init__(self, plan: Plan, tables: Tables, outputs: frozenset[str], born: Born) -> None:
        self.plan = plan
        self.tables = tables
        self.outputs = outputs
        self.born = born
        self.refused: dict[str, str] = {}
        read = {one.stream for query in plan.queries for one in query.inputs}
        made = frozenset(query.target for query in plan.queries if query.target is not None)
        self._leaves = made - read

    def steps(self) -> tuple[Step, ...]:
        inner = [query for query in self._ordered() if query.target not in self._leaves]
        steps = [step for query in inner for step in self._lowered([query])]
        for members in self._families():
            steps += self._lowered(members)
        return tuple(steps)

    def _ordered(self) -> list[Query]:
        """Queries behind those that make their inputs."""
        makers = {query.target: query for query in self.plan.queries}
        graph: TopologicalSorter[str] = TopologicalSorter()
        for query in self.plan.queries:
            before = [makers[one.stream].name for one in query.inputs if one.stream in makers]
            graph.add(query.name, *before)
        by_name = {query.name: query for query in self.plan.queries}
        return [by_name[name] for name in graph.static_order()]

    def _families(self) -> list[list[Query]]:
        """Leaves of one shape, begun at one time, all wanted or none."""
        groups: defaultdict[object, list[Query]] = defaultdict(list)
        for query in self.plan.queries:
            if query.target in self._leaves:
                begun = tuple(
                    self.born.get((query.name, slot), 0) for slot in range(len(query.inputs))
                )
                wanted = query.target in self.outputs
                groups[self._shape(query), begun, wanted].append(query)
        return list(groups.values())

    def _shape(self, query: Query) -> Query:
        try:
            return shape_of(query, self._leaves)
        except TypeError:  # a match has no shape: it is like itself alone
            return query

    def _lowered(self, members: Sequence[Query]) -> list[Step]:
        """The step of a family; where it is refused, those of its members."""
        try:
            self._need_inputs(members)
            family = _family(members)
            return self._finished(family, lower(family, self.tables))
        except Refusal as why:
            if len(members) > 1:
                return [step for query in members for step in self._lowered([query])]
            self.refused[members[0].name] = str(why)
            return []

    def _need_inputs(self, members: Sequence[Query]) -> None:
        """A filter in front of a window is a query of ours, refused in its reader's name."""
        for query in members:
            for one in query.inputs:
                if one.stream.startswith(HIDDEN) and one.stream in self.refused:
                    gap, _, reason = self.refused[one.stream].partition(": ")
                    raise Refusal(gap, reason)  # type: ignore[arg-type]

    def _finished(self, family: Family, rows: Rows) -> list[Step]:
        targets = family.targets
        target = targets[0] if targets else None
        step = Step(
            family.name,
            tuple(query.name for query in family.members),
            rows.strategy,
            tuple(dict.fromkeys(one.stream for one in family.query.inputs)),
        )
        if target is None:
            return []
        is_wanted = target in self.outputs
        if target in self._leaves:
            return [replace(step, fetch=fetch(family, rows, self.tables))] if is_wanted else []
        read = fetch_stream(target, family.query.schema, self.tables) if is_wanted else None
        written = insert(target, rows, self.tables)
        return [replace(step, writes=target, insert=written, fetch=read)]


def _family(members: Sequence[Query]) -> Family:
    """A family; one of a single query keeps its constants where they are."""
    if len(members) > 1:
        return family_of(members)
    windows = tuple(one.window for one in members[0].inputs)
    return Family(tuple(members), members[0], ((),), (), (windows,))


def _kept(name: str, tables: Tables) -> Kept:
    table = tables.stream(name)
    dialect = tables.dialect
    followers = [one for one in tables.followers.values() if one.stream == name]
    fills = tuple(
        Filled(
            one.table.name,
            Statement.of(
                dialect, sa.insert(one.table).from_select(list(one.table.c.keys()), one.fill)
            ),
        )
        for one in followers
    )
    purges = [one.purge for one in followers if one.purge is not None]
    purges.append(tables.purge(table, name))
    return Kept(
        table,
        types_of(table),
        tables.retention.get(name, Retention()),
        fills,
        tuple(Statement.of(dialect, one) for one in purges),
    )


def _made(tables: Tables) -> tuple[CreatedTable, ...]:
    """Every table, parameters with their rows."""
    rows = {one.table.name: one.rows for one in tables.parameter_tables}
    compiler = tables.dialect.compiler
    made = []
    for table in tables.metadata.tables.values():
        indexes = sorted(table.indexes, key=lambda index: str(index.name))
        create = str(sa.schema.CreateTable(table).compile(dialect=compiler))
        texts = {
            str(one.name): str(sa.schema.CreateIndex(one).compile(dialect=compiler))
            for one in indexes
        }
        made.append(CreatedTable(table, types_of(table), create, texts, rows.get(table.name)))
    return tuple(made)
