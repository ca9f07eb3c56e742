"""What the names of a rule file stand for, to be said where something else is wanted."""

from __future__ import annotations

from collections.abc import Iterator

from cep.lang import RuleError, ast
from cep.plan import functions
from cep.plan.problems import NameKind, Problems, with_article
from cep.plan.windows import window_kind


def kinds_of(script: ast.Script) -> dict[str, NameKind]:
    """Every name that a script defines, the first definition of each."""
    found: dict[str, NameKind] = {}
    for statement in script.statements:
        for noun, name in _defined(statement):
            found.setdefault(name.text, NameKind(noun, name.span.start))
    return found


def _defined(statement: ast.Statement) -> Iterator[tuple[str, ast.Name]]:
    match statement:
        case ast.StreamDefinition():
            yield "stream", statement.name
        case ast.TableDefinition():
            yield "table", statement.name
        case ast.WindowDefinition():
            yield "named window", statement.name
        case ast.TriggerDefinition():
            yield "trigger", statement.name
        case ast.AggregationDefinition():
            yield "aggregation", statement.name
        case ast.EngineDefinition():
            yield "engine", statement.name
        case ast.EventDefinition():
            yield "simple event", statement.header.name
        case ast.ComplexDefinition():
            yield "complex event", statement.header.name
        case ast.SignalDefinition():
            yield "signal", statement.name
        case ast.ParameterDefinition():
            yield "parameter", statement.name
        case ast.PositionDefinition():
            *tables, fills, closed = statement.made
            yield from (("table", name) for name in tables)
            yield from (("stream", name) for name in (fills, closed))
        case ast.Query():
            yield from _filled(statement)
        case ast.Partition():
            for query in statement.queries:
                yield from _filled(query)


def _filled(query: ast.Query) -> Iterator[tuple[str, ast.Name]]:
    """The stream that a query inserts into, which is new where nothing above has that name."""
    if isinstance(query.output, ast.Insert) and not query.output.marker:
        yield "stream", query.output.target


def unknown(problems: Problems, name: ast.Name, wanted: str, hint: str) -> RuleError:
    """The error for a name where one of a `wanted` must stand: what it is, if it is anything."""
    noun = noun_of(problems, name.text)
    message = f"unknown {wanted} `{name.text}`"
    if noun and noun != wanted:
        message = f"`{name.text}` is {with_article(noun)}, not {with_article(wanted)}"
    return problems.error(name.span, message, hint)


def noun_of(problems: Problems, name: str) -> str:
    """What a name stands for in the file, or in the language; empty for nothing."""
    kind = problems.kinds.get(name)
    return _built_in(name) if kind is None else kind.noun


def _built_in(name: str) -> str:
    if functions.aggregator(name) is not None:
        return "aggregator"
    if functions.scalar(name) is not None:
        return "function"
    if functions.stream_function(name) is not None:
        return "stream function"
    return "window" if window_kind(name) is not None else ""
