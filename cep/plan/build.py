"""Rule text to checked plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from cep.lang import Given, ast, parse, with_magic, with_parameters
from cep.lang.errors import Source, Span
from cep.lang.parameters import Parameter
from cep.plan.aggregations import AggregationBuilder
from cep.plan.app import app_name, compat, playback
from cep.plan.bound import BoundBuilder, with_values
from cep.plan.bound_names import BoundNames
from cep.plan.catalog import Catalog, build_catalog, mentioned
from cep.plan.definitions import DefinitionBuilder
from cep.plan.events import EventBuilder
from cep.plan.flow import refuse_loops
from cep.plan.kinds import kinds_of
from cep.plan.nodes import (
    COMPLEX_SCHEMA,
    EVENT_SCHEMA,
    Operator,
    Origin,
    Partition,
    Plan,
    Signal,
)
from cep.plan.partitions import PartitionBuilder
from cep.plan.positions import MAGIC, expanded
from cep.plan.problems import Problems, Skip
from cep.plan.queries import QueryBuilder, query_names
from cep.plan.query import Query
from cep.plan.rewrite import rewrite
from cep.plan.signals import SignalBuilder
from cep.plan.streams import Streams, made_by
from cep.plan.variables import substitute

BLANKS = "\ufeff \t\r\n\v\f"


def compile_rules(
    text: str,
    file: str = "<rules>",
    variables: Mapping[str, str] | None = None,
    parameters: Given | None = None,
    magic: int | None = None,
) -> Plan:
    """The plan of a rule text; raises RuleError (RuleErrors for several problems).

    `variables` are the values of `${name}` in the text, `parameters` those of its parameters in
    place of what the text says; ParameterError says what is no value of one. `magic` is that of
    positions for which the text names none.
    """
    text = substitute(text, file, variables or {})
    text = with_parameters(text, file, parameters or {})
    text = with_magic(text, file, magic)
    script = parse(text, file)
    problems = Problems(Source(text, file), kinds_of(script))
    script = expanded(problems, script, MAGIC)
    _need_statements(problems, script)
    builder = _Builder(problems, script)
    builder.build()
    known = _parameters(problems, script, builder.streams)
    mode = problems.attempt(compat, problems, script)
    clock = problems.attempt(playback, problems, script)
    problems.raise_all()
    engines = tuple(builder.catalog.engines.values())
    catalog, streams = builder.catalog, builder.streams
    faults = [stream.name for stream in streams.all if stream.origin is Origin.FAULT]
    refuse_loops(problems, builder.built, engines, faults, queries_may=mode == "siddhi")
    problems.raise_all()
    numbers = [*catalog.by_number, *(chained.number for chained in catalog.chained)]
    operators, chained = with_values((one for _, one in builder.built), catalog.chained)
    plan = Plan(
        name=app_name(script),
        streams=streams.all,
        engines=engines,
        operators=operators,
        tables=tuple(streams.tables.values()),
        windows=streams.windows,
        triggers=tuple(builder.definitions.triggers),
        aggregations=streams.aggregations,
        partitions=tuple(builder.partitions),
        signals=tuple(builder.signals),
        chained=chained,
        number_stride=_stride(numbers),
        keys=_keys(script),
        text=text,
        compat=mode or "",
        playback=clock,
        parameters=known,
    )
    return rewrite(plan)


def _need_statements(problems: Problems, script: ast.Script) -> None:
    """Refuse a text without rules: another file was meant, it was cut short, or all is comment."""
    if not script.statements:
        is_blank = not problems.source.text.strip(BLANKS)
        message = "the text is empty" if is_blank else "no statement stands in this text"
        hint = "statements start with `define`, `from` or `partition`; is this the right file?"
        raise problems.error(Span(0, 1), message, hint)


class _Builder:
    """Builds every statement in turn; what is in error leaves a name known to be broken."""

    def __init__(self, problems: Problems, script: ast.Script) -> None:
        self.problems = problems
        self.script = script
        self.catalog: Catalog = build_catalog(problems, script)
        self.streams = Streams(problems, script)
        self.definitions = DefinitionBuilder(problems, self.streams)
        self.queries = QueryBuilder(problems, self.streams)
        self.names = query_names(problems, script)
        self.events = EventBuilder(self.catalog, self.streams)
        self.bound = BoundBuilder(self.catalog, self.streams, script)
        self.signal_builder = SignalBuilder(self.catalog, self.streams)
        self.partitions: list[Partition] = []
        self.signals: list[Signal] = []
        self.built: list[tuple[ast.Statement, Operator]] = []

    def build(self) -> None:
        """The operators, in definition order."""
        signals: list[tuple[ast.SignalDefinition, int]] = []
        for node in self.script.statements:
            done = self.problems.attempt(self._statement, node)
            for name in made_by(node) if done is None else ():
                self.streams.broken(name.text)
            if isinstance(node, ast.SignalDefinition) and done is not None:
                signals.append((node, len(self.built)))
        for taken, (node, place) in enumerate(signals):
            self.problems.attempt(self._signal, node, place + taken)

    def _signal(self, node: ast.SignalDefinition, place: int) -> None:
        """The query of a signal, which may be of what is defined behind it."""
        query, signal = self.signal_builder.build(node)
        for number, (_, operator) in enumerate(self.built):
            written = operator.target if isinstance(operator, Query) else operator.name
            place = max(place, number + 1) if written == signal.source else place
        self.built.insert(place, (node, query))
        self.signals.append(signal)

    def _statement(self, node: ast.Statement) -> bool:
        match node:
            case ast.Query():
                self.built += self.queries.build(node, self.names.of(node))
            case ast.Partition():
                self._partition(node)
            case ast.EventDefinition() | ast.ComplexDefinition():
                self._event(node)
            case ast.PositionDefinition():
                raise Skip  # it is in error, or others would stand here
            case ast.SignalDefinition():
                self.signal_builder.declare(node)
            case ast.EngineDefinition():
                pass  # the catalog has taken it in
            case _:
                self._definition(node)
        return True

    def _definition(self, node: ast.Statement) -> None:
        match node:
            case ast.StreamDefinition():
                self.definitions.stream(node)
            case ast.TableDefinition():
                self.definitions.table(node)
            case ast.WindowDefinition():
                self.definitions.window(node)
            case ast.TriggerDefinition():
                self.definitions.trigger(node)
            case ast.AggregationDefinition():
                built = AggregationBuilder(self.problems, self.streams).build(node)
                self.streams.declare(node.name, built)

    def _event(self, node: ast.EventDefinition | ast.ComplexDefinition) -> None:
        """An operator of the simple engine; its stream is known even when it is in error."""
        operator: Operator | None
        match node:
            case ast.EventDefinition():
                operator = self.problems.attempt(self.events.event, node)
                self.streams.declare_stream(node.header.name, EVENT_SCHEMA, Origin.EVENT)
            case ast.ComplexDefinition():
                operator = self._complex(node)
        if operator is not None:
            self.built.append((node, operator))

    def _complex(self, node: ast.ComplexDefinition) -> Operator:
        """A complex event, with what it keeps of its events for those who read it."""
        kept = self.problems.attempt(self.bound.build, node)
        schema, bound, names = kept or (COMPLEX_SCHEMA, (), BoundNames(is_broken=True))
        self.streams.declare_stream(node.header.name, schema, Origin.COMPLEX)
        self.streams.bound[node.header.name.text] = names
        operator = self.events.complex(node)
        if kept is None:
            raise Skip
        return replace(operator, bound=bound)

    def _partition(self, node: ast.Partition) -> None:
        """A partition and its queries; one query in error does not hide the others."""
        name = self.names.of(node)
        self.partitions.append(PartitionBuilder(self.problems, self.streams).build(node, name))
        self.streams.partition = name
        broken = False
        for query in node.queries:
            built = self.problems.attempt(self.queries.build, query, self.names.of(query))
            self.built += built or []
            broken |= built is None
            self._note_broken(query, built is None)
        self.streams.partition = None
        if broken:
            raise Skip

    def _note_broken(self, query: ast.Query, is_broken: bool) -> None:
        if is_broken and isinstance(query.output, ast.Insert):
            output = query.output
            self.streams.broken(self.streams.full_name(output.target.text, output.marker))


def _parameters(problems: Problems, script: ast.Script, streams: Streams) -> tuple[Parameter, ...]:
    """All parameters; none has the name of an attribute, which its name would then stand for."""
    found = [one for one in script.statements if isinstance(one, ast.ParameterDefinition)]
    schemas = {stream.name: stream.schema for stream in streams.all}
    schemas |= {window.name: window.schema for window in streams.windows}
    schemas |= {table.name: table.schema for table in streams.tables.values()}
    of = {name: holder for holder, schema in schemas.items() for name in schema.names}
    for one in found:
        if one.name.text in schemas:
            hint = "rename one of them"
            problems.report(one.name.span, f"a stream or table is called `{one.name.text}`", hint)
        elif one.name.text in of:
            message = f"`{of[one.name.text]}` has an attribute of that name"
            problems.report(one.name.span, message, "rename the parameter")
    return tuple(one.parameter for one in found)


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
