"""Refusing rows that would come back to where they started."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise, product

from cep.lang import ast
from cep.lang.errors import Span
from cep.plan.nodes import Complex, Engine, Event, Operator
from cep.plan.outlets import outlets
from cep.plan.problems import Problems
from cep.plan.query import Query
from cep.plan.streams import FAULT

ENGINE = "engine "


def refuse_loops(
    problems: Problems,
    built: list[tuple[ast.Statement, Operator]],
    engines: tuple[Engine, ...],
    faults: Iterable[str] = (),
    *,
    queries_may: bool = False,
) -> None:
    """Report one place of a circle of streams and engines, if there is one.

    An engine is one step, because it is never entered again while it hands its findings over.
    Siddhi lets queries go in circles (`queries_may`): only rows that never end it does not survive.
    `faults` are the fault streams.
    """
    graph: TopologicalSorter[str] = TopologicalSorter()
    for engine in engines:
        graph.add(ENGINE + engine.name, *(ENGINE + upper for upper in engine.upstream))
    for fault in faults:
        graph.add(fault, fault.removeprefix(FAULT))
    for _, operator in built:
        if not (queries_may and isinstance(operator, Query)):
            for before, after in _edges(operator):
                graph.add(after, before)
    try:
        graph.prepare()
    except CycleError as error:
        _report(problems, built, error.args[1])


def _edges(operator: Operator) -> Iterator[tuple[str, str]]:
    match operator:
        case Query():
            for source, outlet in product(operator.inputs, outlets(operator)):
                yield source.stream, outlet.name
        case Event():
            yield operator.source, ENGINE + operator.engine
            yield ENGINE + operator.engine, operator.name
        case Complex():
            yield ENGINE + operator.engine, operator.name


def _report(
    problems: Problems, built: list[tuple[ast.Statement, Operator]], cycle: list[str]
) -> None:
    steps = set(pairwise(cycle))
    node, operator = next(pair for pair in reversed(built) if steps.intersection(_edges(pair[1])))
    place = node.output.span if isinstance(node, ast.Query) else _source_span(node)
    through = " -> ".join(f"`{name}`" for name in cycle)
    message = f"rows would go round in a circle: {through}"
    if isinstance(operator, Event):
        hint = f"bind them in a second engine: `define engine X from {operator.engine}`"
    else:
        hint = "insert into a new stream"
    problems.report(place, message, hint)


def _source_span(node: ast.Statement) -> Span:
    return node.source.span if isinstance(node, ast.EventDefinition) else node.span
