"""Query objects to operators of the plan.

An operator that reads another one becomes part of the same query where the plan can say it: a
filter on what a window takes, an aggregate over a correlation. Else the inner one puts its results
on a stream of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce

from cep.jepc.check import Check
from cep.jepc.errors import QueryError
from cep.jepc.patterns import parse_pattern
from cep.jepc.queries import (
    Aggregator,
    Correlator,
    Filter,
    Input,
    PatternMatcher,
    Projector,
    Query,
    Stream,
)
from cep.jepc.windows import derived_window, is_timed, may_leave_out, plan_window
from cep.plan import query as plan
from cep.plan.expressions import Aggregate, Column, EventTime, Expression, Logical
from cep.plan.regex import automaton
from cep.plan.rewrite.expressions import map_children
from cep.plan.scope import Place
from cep.plan.steps import Filter as PlanFilter
from cep.plan.steps import Insert, Step, schema_of, selecting
from cep.plan.types import Attribute, Schema, Type


@dataclass(frozen=True, slots=True)
class Read:
    """One stream as an operator reads it."""

    name: str
    source: plan.StreamInput

    def place(self, slot: int = 0) -> Place:
        """How expressions speak of its rows."""
        return Place(self.name, self.source.schema, slot)


@dataclass(frozen=True, slots=True)
class Combined:
    """The inputs of a correlation, and what must hold of them."""

    reads: tuple[Read, ...]
    on: Expression | None

    def places(self) -> tuple[Place, ...]:
        return tuple(read.place(slot) for slot, read in enumerate(self.reads))


Relation = Read | Combined


@dataclass(frozen=True, slots=True)
class Lowered:
    """The operators of one query, inner ones first; the last one writes the query's stream."""

    queries: tuple[plan.Query, ...]

    @property
    def schema(self) -> Schema:
        return self.queries[-1].schema


def lower(name: str, query: Query, streams: Mapping[str, Schema]) -> Lowered:
    """The operators of a query over registered streams and other queries' output.

    RuleError for a wrong expression or pattern, QueryError for anything else.
    """
    lowering = _Lowering(name, streams)
    lowering.finish(query)
    return Lowered(tuple(lowering.queries))


class _Lowering:
    def __init__(self, name: str, streams: Mapping[str, Schema]) -> None:
        self._name = name
        self._streams = streams
        self.queries: list[plan.Query] = []

    def finish(self, query: Query) -> None:
        """The query itself, whose window would be its readers'."""
        if not isinstance(query, Query):
            raise QueryError(f"{self._name}: a {type(query).__name__} alone is no query")
        self._write(replace(query, span=None), self._name)

    def _relation(self, node: Input) -> Relation:
        """An input, with the window that its reader needs."""
        match node:
            case Stream():
                return self._stream(node)
            case Filter():
                return self._filter(node)
            case Correlator() if node.span is None:
                return self._combined(node)
            case _:
                return self._materialised(node)

    def _stream(self, node: Stream) -> Read:
        schema = self._streams.get(node.source)
        if schema is None:
            known = ", ".join(sorted(self._streams)) or "none"
            raise QueryError(f"{self._name}: there is no stream {node.source!r}; known: {known}")
        window = None if node.span is None else plan_window(node.span, schema, self._name)
        source = plan.StreamInput(node.source, schema, window=window)
        return Read(node.name or node.source, source)

    def _filter(self, node: Filter) -> Relation:
        """A filter in front of a window of time, behind one of rows, which counts all rows."""
        inner = self._relation(node.input)
        condition = self._check(node, inner).condition(node.condition)
        if isinstance(inner, Combined):
            on = condition if inner.on is None else Logical("and", inner.on, condition)
            combined = Combined(inner.reads, on)
            return combined if node.span is None else self._results(node, combined)
        source, handler = inner.source, PlanFilter(condition)
        if node.span is not None and may_leave_out(source.window):
            behind = replace(source, after=(*source.after, handler))
            return self._results(node, Read(inner.name, behind))
        if node.span is not None:
            window = plan_window(node.span, source.schema, self._name)
            before = (*source.before, *source.after, handler)
            source = replace(source, before=before, window=window, after=())
        elif source.window is None or is_timed(source.window):
            source = replace(source, before=(*source.before, handler))
        else:
            source = replace(source, after=(*source.after, handler))
        return Read(node.name or inner.name, source)

    def _combined(self, node: Correlator) -> Combined:
        """All inputs side by side; a correlation of correlations is one of all their inputs."""
        reads: list[Read] = []
        conditions: list[Expression] = []
        for part in map(self._relation, node.inputs):
            if isinstance(part, Combined):
                conditions += [] if part.on is None else [_moved(part.on, len(reads))]
                reads += part.reads
            else:
                reads.append(part)
        for read in reads:
            if read.source.window is None:
                hint = f"say how long events live: Stream({read.name!r}).window(TimeWindow(..))"
                raise QueryError(f"{self._name}: input {read.name} has no window; {hint}")
        combined = Combined(tuple(_told_apart(reads)), None)
        if node.condition is not None:
            conditions.append(self._check(node, combined).condition(node.condition))
        return replace(combined, on=_all(conditions))

    def _materialised(self, node: Query) -> Read:
        """The results of an operator as a stream, in their window."""
        name = self._inner_name()
        own = node.span or derived_window(node)
        made = self._write(replace(node, span=None), name)
        window = None if own is None else plan_window(own, made.schema, self._name)
        return Read(node.name or name, plan.StreamInput(name, made.schema, window=window))

    def _results(self, node: Filter, inner: Relation) -> Read:
        """What a filter lets pass as a stream, in the window of its own that it has."""
        name = self._inner_name()
        made = self._put(name, _source(inner), _everything(inner))
        assert node.span is not None
        window = plan_window(node.span, made.schema, self._name)
        return Read(node.name or name, plan.StreamInput(name, made.schema, window=window))

    def _inner_name(self) -> str:
        """The stream of an operator inside the query."""
        return f"{self._name}.{len(self.queries) + 1}"

    def _write(self, node: Query, target: str) -> plan.Query:
        match node:
            case Filter() | Correlator():
                relation = self._relation(node)
                if isinstance(relation, Read):
                    relation = _without_window(relation)
                return self._put(target, _source(relation), _everything(relation))
            case Projector():
                relation = self._relation(node.input)
                check = self._check(node, relation)
                values = [(name, check.value(value)) for name, value in node.values.items()]
                if isinstance(relation, Read):
                    relation = _without_window(relation)
                return self._put(target, _source(relation), values)
            case Aggregator():
                return self._aggregator(node, target)
            case PatternMatcher():
                return self._matcher(node, target)

    def _aggregator(self, node: Aggregator, target: str) -> plan.Query:
        relation = self._relation(node.input)
        if isinstance(relation, Read) and relation.source.window is None:
            hint = "give its input a window: .window(TimeWindow(..))"
            raise QueryError(f"{self._name}: an aggregator over all events of a stream; {hint}")
        check = self._check(node, relation)
        aggregates: list[Aggregate] = []
        groups = [(name.rpartition(".")[2], check.value(name)) for name in node.group_by]
        values = [(name, check.aggregate(one, aggregates)) for name, one in node.aggregates.items()]
        columns = tuple(value for _, value in groups if isinstance(value, Column))
        if len(columns) < len(groups):
            raise QueryError(f"{self._name}: group_by takes attributes, not {node.group_by}")
        made = tuple(groups + values)
        having = None if node.having is None else check.having(node.having, schema_of(made))
        steps = selecting(made, aggregates=tuple(aggregates), group_by=columns, having=having)
        return self._put_steps(target, _source(relation), steps)

    def _matcher(self, node: PatternMatcher, target: str) -> plan.Query:
        read = self._read(node.input)
        variables = _variables(node, self._name)
        check = self._check(node, read, Place("", variables, 1))
        names = tuple(node.symbols)
        definitions = []
        for name, symbol in node.symbols.items():
            sets = tuple(
                (_variable(variables, variable, self._name), check.value(value))
                for variable, value in symbol.sets.items()
            )
            definitions.append(plan.Definition(name, check.condition(symbol.condition), sets))
        regex = parse_pattern(node.pattern, names, f"<{self._name}: pattern>")
        if automaton(regex).is_nullable:
            hint = "ask for one event at least"
            raise QueryError(f"{self._name}: the pattern {node.pattern!r} matches nothing; {hint}")
        skips = node.gaps == "invisible"
        source = plan.Matching(
            read.source, regex, tuple(definitions), variables, node.within_ms, skips
        )
        chosen = node.output or variables.names
        place = Place("", variables, 1)
        picked = [_variable(variables, name, self._name) for name in chosen]
        values = tuple((variables.names[at], place.column(variables.names[at])) for at in picked)
        return self._put(target, source, values)

    def _read(self, node: Input) -> Read:
        relation = self._relation(node)
        if isinstance(relation, Combined):
            assert isinstance(node, Correlator | Filter)
            name = self._inner_name()
            made = self._put(name, _source(relation), _everything(relation))
            return Read(node.name or name, plan.StreamInput(name, made.schema))
        return _without_window(relation)

    def _put(
        self, target: str, source: plan.Input, values: Sequence[tuple[str, Expression]]
    ) -> plan.Query:
        return self._put_steps(target, source, selecting(tuple(values)))

    def _put_steps(self, target: str, source: plan.Input, steps: tuple[Step, ...]) -> plan.Query:
        made = plan.Query(target, source, steps, Insert(target, "current"))
        self.queries.append(made)
        return made

    def _check(self, node: Input, relation: Relation, *more: Place) -> Check:
        own = relation.places() if isinstance(relation, Combined) else (relation.place(),)
        return Check(f"<{self._name}: {type(node).__name__.lower()}>", (*own, *more))


def _source(relation: Relation) -> plan.Input:
    if isinstance(relation, Read):
        return relation.source
    inputs = tuple(read.source for read in relation.reads)
    if len(inputs) == 2:
        return plan.Join(inputs[0], inputs[1], "inner", "both", relation.on, singly=True)
    return plan.Correlation(inputs, relation.on)


def _without_window(read: Read) -> Read:
    """Only new rows count: no window is needed, but one that may leave rows out."""
    source = read.source
    if may_leave_out(source.window):
        return read
    before = (*source.before, *source.after)
    return replace(read, source=replace(source, before=before, window=None, after=()))


def _everything(relation: Relation) -> tuple[tuple[str, Expression], ...]:
    """All attributes; those of one name are told apart by their input's."""
    if isinstance(relation, Read):
        place = relation.place()
        return tuple((name, place.column(name)) for name in place.schema.names)
    places = relation.places()
    names = [name for place in places for name in place.schema.names]
    return tuple(
        (name if names.count(name) == 1 else f"{place.name}_{name}", place.column(name))
        for place in places
        for name in place.schema.names
    )


def _told_apart(reads: Sequence[Read]) -> list[Read]:
    """Inputs of one name get numbers: `s_1`, `s_2`."""
    names = [read.name for read in reads]
    seen: Counter[str] = Counter()
    apart: list[Read] = []
    for read in reads:
        seen[read.name] += 1
        again = names.count(read.name) > 1
        apart.append(replace(read, name=f"{read.name}_{seen[read.name]}") if again else read)
    return apart


def _moved(expression: Expression, by: int) -> Expression:
    """The expression of an inner correlation, whose inputs stand further back in the outer one."""
    match expression:
        case Column():
            return replace(expression, slot=expression.slot + by)
        case EventTime(slot=int(slot)):
            return replace(expression, slot=slot + by)
        case _:
            return map_children(expression, lambda child: _moved(child, by))


def _all(conditions: Sequence[Expression]) -> Expression | None:
    return reduce(partial(Logical, "and"), conditions) if conditions else None


def _variables(node: PatternMatcher, query: str) -> Schema:
    try:
        types = [Attribute(name, Type(type_)) for name, type_ in node.variables.items()]
    except ValueError as problem:
        known = ", ".join(type_ for type_ in Type if type_ not in (Type.LIST, Type.OBJECT))
        raise QueryError(f"{query}: variables: {problem}; types: {known}") from None
    return Schema(tuple(types))


def _variable(variables: Schema, name: str, query: str) -> int:
    position = variables.position(name)
    if position < 0:
        known = ", ".join(variables.names) or "none"
        raise QueryError(f"{query}: there is no variable {name!r}; known: {known}")
    return position
