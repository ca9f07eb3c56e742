"""Conditions of events that call functions of the user: a query finds out, the event reads that.

Engines compile conditions of events, and no function of the user. The query stands at the event's
own place. All other events of its engine, and of engines chained with that, get such queries, too:
so the interpreter tells all of them in the order of the file, and nothing else changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from cep.plan.expressions import Call, Column, Comparison, Constant, Expression, walk
from cep.plan.nodes import Complex, Event, Operator, Origin, Plan, Stream
from cep.plan.query import Query, StreamInput
from cep.plan.steps import Insert, selecting
from cep.plan.types import Type

HOLDS = "#holds"
"""An attribute that no text can name."""


SUFFIX = "#condition"
"""Behind the event's name: that of its query, and of the stream between them."""


def with_queries(plan: Plan) -> Plan:
    """The plan with a query in front of each event, where one calls the user's functions."""
    engines = _concerned(plan)
    if not engines:
        return plan
    streams: list[Stream] = []
    operators: list[Operator] = []
    moved: dict[tuple[str, str, Column], Column] = {}
    for operator in plan.operators:
        if isinstance(operator, Event) and operator.engine in engines:
            query, event = _split(plan, operator)
            moved |= {
                (event.engine, event.name, before): after
                for before, after in zip(operator.carries, event.carries, strict=True)
            }
            operator = event
            streams.append(Stream(query.name, query.schema, Origin.INNER))
            operators.append(query)
        operators.append(operator)
    operators = [_keeping(one, moved) if isinstance(one, Complex) else one for one in operators]
    return replace(plan, streams=plan.streams + tuple(streams), operators=tuple(operators))


def _keeping(found: Complex, moved: Mapping[tuple[str, str, Column], Column]) -> Complex:
    """A complex event, whose events carry what it keeps in other places."""
    bound = tuple(
        replace(one, column=moved.get((found.engine, one.event, one.column), one.column))
        for one in found.bound
    )
    return replace(found, bound=bound)


def is_condition(query: Query) -> bool:
    """Whether a query was put in front of an event."""
    return query.name.endswith(SUFFIX)


def _concerned(plan: Plan) -> set[str]:
    """Engines with such an event, and all that are chained with one of these."""
    found = {event.engine for event in plan.events if _calls_own(event.condition)}
    while True:
        more = {
            name
            for engine in plan.engines
            for name in (engine.name, *engine.upstream)
            if name not in found and found.intersection((engine.name, *engine.upstream))
        }
        if not more:
            return found
        found |= more


def _calls_own(condition: Expression) -> bool:
    return any(isinstance(node, Call) and node.digest for node in walk(condition))


def _split(plan: Plan, event: Event) -> tuple[Query, Event]:
    source = plan.stream(event.source)
    name = event.name + SUFFIX
    key = () if event.key is None else ((event.key.name, event.key),)
    carried = tuple((f"{HOLDS}{n}", column) for n, column in enumerate(event.carries))
    projection = (*key, (HOLDS, event.condition), *carried)
    query = Query(
        name=name,
        input=StreamInput(source.name, source.schema),
        steps=selecting(projection),
        output=Insert(name, "current"),
    )
    holds = Column(len(key), HOLDS, Type.BOOL)
    return query, replace(
        event,
        source=name,
        condition=Comparison("==", holds, Constant(True, Type.BOOL)),
        key=None if event.key is None else replace(event.key, position=0),
        carries=tuple(
            Column(holds.position + 1 + n, name, column.type)
            for n, (name, column) in enumerate(carried)
        ),
    )
