"""The plan as boxes and arrows: streams, what reads them, what they lead to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cep.plan.explain import query_clauses
from cep.plan.nodes import Complex, Event, Operator, Plan, leaves
from cep.plan.on_demand import Held
from cep.plan.query import Query
from cep.plan.text import duration_text, expression_text, pattern_text


@dataclass(frozen=True, slots=True)
class Node:
    """`kind` is stream, query, table, event, complex or signal."""

    name: str
    kind: str
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes in definition order, and edges (from, to) by name."""

    nodes: tuple[Node, ...]
    edges: tuple[tuple[str, str], ...]


def graph(plan: Plan) -> Graph:
    """The graph; streams that nothing reads or writes are left out."""
    edges = tuple(dict.fromkeys(_edges(plan)))
    used = {name for edge in edges for name in edge}
    operators = [_operator(operator) for operator in plan.operators]
    made = {node.name for node in operators}
    holders = [node for node in _holders(plan) if node.name in used and node.name not in made]
    return Graph((*holders, *operators), edges)


def _holders(plan: Plan) -> Iterator[Node]:
    for stream in plan.streams:
        columns = ", ".join(f"{a.name} {a.type}" for a in stream.schema.attributes)
        yield Node(stream.name, "stream", (columns,))
    tables: tuple[Held, ...] = (*plan.tables, *plan.windows, *plan.aggregations)
    for held in tables:
        columns = ", ".join(f"{a.name} {a.type}" for a in held.schema.attributes)
        yield Node(held.name, "table", (columns,))


def _operator(operator: Operator) -> Node:
    match operator:
        case Query():
            return Node(operator.name, "query", tuple(query_clauses(operator)))
        case Event():
            raised = "every" if operator.every else "when it turns true"
            condition = expression_text(operator.condition)
            return Node(operator.name, "event", (f"number {operator.number}", raised, condition))
        case Complex():
            within = f"within {duration_text(operator.within_ms)}"
            text = pattern_text(operator.pattern)
            return Node(operator.name, "complex", (f"number {operator.number}", text, within))


def _edges(plan: Plan) -> Iterator[tuple[str, str]]:
    sources: Mapping[str, str] = {a.name: a.input.stream for a in plan.aggregations}
    yield from ((stream, name) for name, stream in sources.items())
    for operator in plan.operators:
        match operator:
            case Query():
                yield from ((one.stream, operator.name) for one in operator.inputs)
                if operator.target is not None:
                    yield operator.name, operator.target
            case Event():
                yield operator.source, operator.name
            case Complex():
                names = (*leaves(operator.pattern), *operator.forbid)
                yield from ((ref.event, operator.name) for ref in names)
