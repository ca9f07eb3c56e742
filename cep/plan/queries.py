"""Queries of the syntax tree to query operators."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from cep.lang import ast
from cep.plan.expressions import Column
from cep.plan.inputs import InputBuilder, keyed, need_whole
from cep.plan.joins import JoinBuilder
from cep.plan.matches import MatchBuilder
from cep.plan.nodes import Origin, Stream
from cep.plan.outputs import OutputBuilder, build_rate
from cep.plan.problems import Problems, with_article
from cep.plan.query import (
    Correlation,
    ExpiredPartials,
    Input,
    Join,
    Match,
    Matching,
    Query,
    StreamInput,
)
from cep.plan.scope import Scope, one_row
from cep.plan.selection import Selected, SelectionBuilder
from cep.plan.steps import Holder, Insert, repeats_held, schema_of
from cep.plan.streams import Known, Streams, holder_of, made_by
from cep.plan.types import Schema

Built = list[tuple[ast.Query, Query]]


class QueryBuilder:
    """Builds one query, and before it those that stand in its parentheses."""

    def __init__(self, problems: Problems, streams: Streams) -> None:
        self.problems = problems
        self.streams = streams

    def build(self, node: ast.Query, name: str) -> Built:
        """The queries; target streams are declared on the way."""
        before: Built = []
        source, scope = self._input(node, name, before)
        selected = self._select(node, scope)
        output = OutputBuilder(self.problems, self.streams, selected.schema).build(node.output)
        if isinstance(source, Match) and source.expired is not None:
            self._declare_expired(node, source.expired)
        rate = build_rate(self.problems, node.rate)
        if repeats_held(rate):
            if output.events == "expired":
                message = "a snapshot repeats what is held, it has no expired rows of its own"
                hint = "write `insert into` or `insert all events into`"
                raise self.problems.error(node.output.span, message, hint)
            output = replace(output, events="all")
        query = Query(
            name=name,
            input=_with_keys(source, selected.group_by),
            steps=selected.steps(rate),
            output=output,
            partition=self.streams.partition,
        )
        return [*before, (node, query)]

    def _select(self, node: ast.Query, scope: Scope) -> Selected:
        tables = self.streams.tables
        return SelectionBuilder(self.problems, scope, tables).build(node.selection)

    def _input(self, node: ast.Query, name: str, before: Built) -> tuple[Input, Scope]:
        match node.source:
            case ast.StreamInput():
                return self._stream(node.source, self._known(node.source, f"{name}.inner", before))
            case ast.JoinInput():
                left = self._known(node.source.left, f"{name}.left", before)
                right = self._known(node.source.right, f"{name}.right", before)
                return JoinBuilder(self.problems, self.streams, node.source, left, right).build()
            case ast.StateInput():
                streams, notes = self.streams, node.annotations
                return MatchBuilder(self.problems, streams, node.source, notes).build()

    def _known(self, source: ast.StreamInput, name: str, before: Built) -> Known:
        """What a stream input reads; a query in parentheses becomes one of its own."""
        if source.inner is None:
            return self.streams.find(source.stream, source.marker)
        inner = self.build(source.inner, name)
        events = source.inner.output.events if isinstance(source.inner.output, ast.Return) else None
        if events is None:
            hint = "write `(from .. select .. return)`"
            raise self.problems.error(source.inner.output.span, "here stands `return`", hint)
        last_node, last = inner[-1]
        stream = Stream(name, last.schema, Origin.QUERY)
        self.streams.add(stream)
        kinds = last.output.events if not isinstance(last.output, Insert) else "current"
        before += [*inner[:-1], (last_node, replace(last, output=Insert(name, kinds)))]
        return stream

    def _stream(self, source: ast.StreamInput, known: Known) -> tuple[StreamInput, Scope]:
        holder = holder_of(known)
        if holder in (Holder.TABLE, Holder.AGGREGATION):
            message = f"`{source.stream.text}` is {with_article(holder)}, whose rows do not arrive"
            hint = "join a stream with it, or ask it with an on-demand query"
            raise self.problems.error(source.stream.span, message, hint)
        builder = InputBuilder(self.problems, self.streams)
        name = source.marker + source.stream.text
        bound = self.streams.bound.get(name)

        def scope(schema: Schema) -> Scope:
            return one_row(self.problems, name, schema, bound)

        built = builder.stream(source, known, scope)
        need_whole(builder)
        return built, scope(built.schema)

    def _declare_expired(self, node: ast.Query, expired: ExpiredPartials) -> None:
        """The stream of partial matches that ran out of time."""
        note = next(note for note in node.annotations if note.name == "expired")
        name = ast.Name(expired.stream, span=note.span)
        self.streams.insert(name, "", schema_of(expired.projection))


def _with_keys(source: Input, group_by: tuple[Column, ...]) -> Input:
    """Functions that remember rows do it per group."""
    match source:
        case StreamInput():
            return keyed(source, group_by, 0)
        case Join():
            left, right = keyed(source.left, group_by, 0), keyed(source.right, group_by, 1)
            return replace(source, left=left, right=right)
        case Correlation() | Match() | Matching():
            return source


@dataclass(frozen=True, slots=True)
class Names:
    """The names of queries and partitions, by the identity of their nodes."""

    names: dict[int, str]

    def of(self, node: ast.Query | ast.Partition) -> str:
        """The name of a query or partition."""
        return self.names[id(node)]


def query_names(problems: Problems, script: ast.Script) -> Names:
    """The name of each query and partition: that of `@info`, or `query1`, `partition1`, .. .

    Queries are counted through, those of partitions too, but for those that a definition stands
    for and names: it may come and go without changing other names. Names of operators are unique:
    no query shares one with another query or an event.
    """
    queries = list(queries_of(script))
    partitions = [node for node in script.statements if isinstance(node, ast.Partition)]
    taken = {
        made.text
        for node in script.statements
        if not isinstance(node, ast.Query | ast.Partition)
        for made in made_by(node)
    }
    names: dict[int, str] = {}
    given = [_given_name(node) for node in queries]
    position = 0
    for node, name in zip(queries, given, strict=True):
        position += not (name and _is_made(problems, node))
        if name in taken:
            message = f"the name `{name}` is taken"
            problems.report(node.annotations[0].span, message, "choose another name")
        chosen = name or _free_name(f"query{position}", taken.union(filter(None, given)))
        taken.add(chosen)
        names[id(node)] = chosen
    for number, partition in enumerate(partitions, start=1):
        chosen = _free_name(_given_name(partition) or f"partition{number}", taken)
        taken.add(chosen)
        names[id(partition)] = chosen
    return Names(names)


def _is_made(problems: Problems, node: ast.Query) -> bool:
    """Whether it is what a definition stands for: in the text no query begins there."""
    start = node.span.start
    return problems.source.text[start : start + 6].lower() == "define"


def queries_of(script: ast.Script) -> Iterator[ast.Query]:
    """Every query of a script, those of partitions too, in the order of the text."""
    for node in script.statements:
        if isinstance(node, ast.Query):
            yield node
        elif isinstance(node, ast.Partition):
            yield from node.queries


def _free_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _given_name(node: ast.Query | ast.Partition) -> str | None:
    values = (note.value("name") for note in node.annotations if note.name == "info")
    return next((value for value in values if value), None)
