"""Compiled queries opened for the trace: what they select and what they see goes to streams.

A query with aggregates or `having` is split in two: the rows in front of `having`, with all it
reads, are put on a stream of their own; behind that stands `having` as a filter. In front of a
join or a match stands a query for each of its streams that copies the rows: their order is that in
which it sees them. Nothing else changes, so the run gives the same rows in the same order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from cep.plan.expressions import Aggregated, Column, Constant, EventTime, Expression, Output
from cep.plan.nodes import Operator, Origin, Plan, Stream
from cep.plan.query import Query, StreamInput
from cep.plan.rewrite.expressions import map_children
from cep.plan.steps import Filter, Insert, Project, schema_of, selecting
from cep.plan.types import Attribute, Type
from cep.trace.conditions import read


@dataclass(frozen=True, slots=True)
class Split:
    """The rows in front of `having`: on `stream`, the selected values first.

    `places` says where they hold what `having` reads.
    """

    stream: str
    places: dict[Expression, Column]

    def moved(self, expression: Expression) -> Expression:
        """`having`, or a part of it, on rows of the stream."""
        if isinstance(expression, Output):
            return Column(expression.position, expression.name, expression.type)
        if expression in self.places:
            return self.places[expression]
        return map_children(expression, self.moved)


@dataclass(frozen=True, slots=True)
class Probed:
    """The opened plan; by query, where its rows can be seen.

    `copies` are (stream of the copy, stream of the join or match), in the order of the text.
    """

    plan: Plan
    splits: dict[str, Split]
    copies: dict[str, tuple[tuple[str, str], ...]]

    @property
    def streams(self) -> frozenset[str]:
        """The streams that are not of the rules."""
        copies = {copy for pairs in self.copies.values() for copy, _ in pairs}
        return frozenset(copies | {split.stream for split in self.splits.values()})


def probed(plan: Plan, queries: Iterable[Query]) -> Probed:
    """Open compiled queries of a plan."""
    chosen = {query.name for query in queries}
    streams: list[Stream] = []
    operators: list[Operator] = []
    made = Probed(plan, {}, {})
    for operator in plan.operators:
        if not isinstance(operator, Query) or operator.name not in chosen:
            operators.append(operator)
        elif not isinstance(operator.input, StreamInput):
            operators += [*_copies(operator, plan, streams, made), operator]
        elif operator.aggregates or operator.having is not None:
            operators += _split(operator, streams, made)
        else:
            operators.append(operator)
    opened = replace(plan, streams=(*plan.streams, *streams), operators=tuple(operators))
    return replace(made, plan=opened)


def _copies(query: Query, plan: Plan, streams: list[Stream], made: Probed) -> list[Operator]:
    names = dict.fromkeys(one.stream for one in query.inputs)
    pairs = tuple((_inside(query, f"{query.name} reads {name}"), name) for name in names)
    made.copies[query.name] = pairs
    return [_copy(query, plan.stream(name), copy, streams) for copy, name in pairs]


def _inside(query: Query, name: str) -> str:
    """The name of a stream beside the query, in its partition if it has one."""
    return name if query.partition is None else f"{query.partition}#{name}"


def _origin(query: Query) -> Origin:
    return Origin.QUERY if query.partition is None else Origin.INNER


def _copy(query: Query, stream: Stream, name: str, streams: list[Stream]) -> Query:
    """Objects are left out: nothing that is compiled reads them."""
    projection = tuple(
        (attribute.name, _value(position, attribute))
        for position, attribute in enumerate(stream.schema.attributes)
    )
    streams.append(Stream(name, schema_of(projection), _origin(query)))
    source = StreamInput(stream.name, stream.schema)
    return Query(name, source, selecting(projection), Insert(name, "current"), query.partition)


def _value(position: int, attribute: Attribute) -> Expression:
    if attribute.type in (Type.OBJECT, Type.LIST):
        return Constant(None, Type.STRING)
    return Column(position, attribute.name, attribute.type)


def _split(query: Query, streams: list[Stream], made: Probed) -> list[Operator]:
    name = _inside(query, f"{query.name} in front of having")
    needed = list(dict.fromkeys(read(query.having))) if query.having is not None else []
    held = [one for one in needed if isinstance(one, Aggregated | Column | EventTime)]
    selected = len(query.projection)
    projection = (*query.projection, *((f"read {i}", one) for i, one in enumerate(held)))
    schema = schema_of(projection)
    streams.append(Stream(name, schema, _origin(query)))
    places: dict[Expression, Column] = {
        one: Column(selected + i, f"read {i}", one.type) for i, one in enumerate(held)
    }
    split = made.splits[query.name] = Split(name, places)
    filters = () if query.having is None else (Filter(split.moved(query.having)),)
    steps = tuple(
        Project(projection) if isinstance(step, Project) else step
        for step in query.steps
        if not isinstance(step, Filter)
    )
    front = replace(query, name=name, steps=steps, output=Insert(name, "current"))
    back = Query(
        query.name,
        StreamInput(name, schema, filters),
        selecting(
            tuple((n, Column(i, n, value.type)) for i, (n, value) in enumerate(query.projection))
        ),
        query.output,
        query.partition,
    )
    return [front, back]
