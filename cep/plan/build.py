"""Rule text to checked plan."""

from __future__ import annotations

from typing import Literal

from cep.lang import ast, parse
from cep.lang.errors import Source, suggestion
from cep.plan.catalog import Catalog, build_catalog, mentioned
from cep.plan.events import EventBuilder
from cep.plan.flow import refuse_loops
from cep.plan.nodes import (
    COMPLEX_SCHEMA,
    EVENT_SCHEMA,
    SIGNAL_SCHEMA,
    Operator,
    Origin,
    Plan,
)
from cep.plan.problems import Problems
from cep.plan.queries import QueryBuilder, query_names
from cep.plan.streams import Streams, stream_name

Built = list[tuple[ast.Statement, Operator]]


def compile_rules(text: str, file: str = "<rules>") -> Plan:
    """The plan of a rule text; raises RuleError (RuleErrors for several problems)."""
    script = parse(text, file)
    problems = Problems(Source(text, file))
    catalog = build_catalog(problems, script)
    streams = Streams(problems, script)
    built = _build(problems, script, catalog, streams)
    problems.attempt(_compat, problems, script)
    engines = tuple(catalog.engines.values())
    problems.raise_all()
    refuse_loops(problems, built, engines)
    problems.raise_all()
    numbers = [*catalog.by_number, *(chained.number for chained in catalog.chained)]
    return Plan(
        name=_app_value(script, "app:name") or "rules",
        streams=streams.all,
        engines=engines,
        operators=tuple(operator for _, operator in built),
        chained=catalog.chained,
        number_stride=_stride(numbers),
        keys=_keys(script),
        text=text,
        compat=_compat(problems, script),
    )


def _build(problems: Problems, script: ast.Script, catalog: Catalog, streams: Streams) -> Built:
    """Every statement in turn; what is in error leaves a stream that is known to be broken."""
    names = iter(query_names(problems, script))
    events = EventBuilder(catalog, streams)
    built: Built = []
    for node in script.statements:
        name = next(names) if isinstance(node, ast.Query) else ""
        operator = problems.attempt(_statement, problems, streams, events, node, name)
        produced = stream_name(node)
        if operator is not None:
            built.append((node, operator))
        elif produced is not None:
            streams.broken(produced)
    return built


def _statement(
    problems: Problems, streams: Streams, events: EventBuilder, node: ast.Statement, name: str
) -> Operator | None:
    match node:
        case ast.StreamDefinition():
            streams.define(node)
            return None
        case ast.EngineDefinition():
            return None
        case ast.Query():
            return QueryBuilder(problems, streams, node).build(name)
        case ast.EventDefinition():
            operator = problems.attempt(events.event, node)
            streams.declare(node.header.name, EVENT_SCHEMA, Origin.EVENT)
            return operator
        case ast.ComplexDefinition():
            streams.declare(node.header.name, COMPLEX_SCHEMA, Origin.COMPLEX)
            return events.complex(node)
        case ast.SignalDefinition():
            streams.declare(node.name, SIGNAL_SCHEMA, Origin.SIGNAL)
            return events.signal(node)


def _stride(numbers: list[int]) -> int:
    """The smallest power of ten, from 100 on, above every number."""
    stride = 100
    while stride <= max(numbers, default=0):
        stride *= 10
    return stride


def _keys(script: ast.Script) -> tuple[str, ...]:
    """The keys named in patterns, in order of first appearance."""
    keys = [
        str(event.key.value)
        for node in script.statements
        if isinstance(node, ast.ComplexDefinition)
        for event in mentioned(node)
        if event.key is not None
    ]
    return tuple(dict.fromkeys(keys))


def _app_value(script: ast.Script, annotation: str) -> str | None:
    nodes = (node for node in script.annotations if node.name == annotation)
    return next((node.value("") for node in nodes), None)


def _compat(problems: Problems, script: ast.Script) -> Literal["", "siddhi"]:
    value = _app_value(script, "app:compat")
    if value is None:
        return ""
    if value != "siddhi":
        node = next(node for node in script.annotations if node.name == "app:compat")
        hint = suggestion(value, ("siddhi",))
        raise problems.error(node.span, f"unknown compatibility `{value}`", hint)
    return "siddhi"
