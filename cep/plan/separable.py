"""What of a plan is separable by key: where every output row depends on one key's events only.

`cep.plan.keys` says where rows hold their key. Keyed operators have one clock, one window and one
queue per key, so they run per key in parallel with exactly the sequential answer. Whatever is not
keyed has one clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cep.plan.expressions import Column, Expression, InTable, walk
from cep.plan.keys import (
    IN_EVENTS,
    Held,
    declared_at,
    declared_keys,
    divides_by_key,
    groups_by_key,
    is_key,
    looks_by_key,
    put_by_query,
)
from cep.plan.nodes import (
    Complex,
    Event,
    Operator,
    Plan,
    Ref,
    ValueKey,
    leaves,
)
from cep.plan.outlets import streams_filled
from cep.plan.query import Input, Match, Query, StreamInput
from cep.plan.steps import Filter, Holder, Insert
from cep.plan.windows import kind_of


@dataclass(frozen=True, slots=True)
class Separability:
    """The key attribute of each source (empty: nothing works by key), and what is keyed by them."""

    keys: Mapping[str, str]
    engines: frozenset[str]
    operators: frozenset[str]
    key_columns: dict[str, frozenset[int]] = field(default_factory=dict)
    reasons: tuple[tuple[str, str], ...] = ()

    @property
    def key(self) -> str | None:
        """The key's name, or names; None where nothing works by key."""
        return " or ".join(dict.fromkeys(self.keys.values())) or None

    def is_keyed(self, operator: Operator) -> bool:
        """Whether this operator depends on rows of one key only."""
        return operator.name in self.operators

    def is_engine_keyed(self, engine: str) -> bool:
        return engine in self.engines

    def is_stream_keyed(self, stream: str) -> bool:
        """Whether every row of the stream belongs to one key."""
        return stream in self.key_columns

    def holds_key(self, stream: str, column: Column | None) -> bool:
        """Whether that column of the stream is the row's key."""
        return column is not None and column.position in self.key_columns.get(stream, frozenset())

    def describe(self) -> list[str]:
        """What `explain` says about it, a line each."""
        if self.key is None:
            return ["not separable: no operator works per key"]
        if not self.reasons:
            return [f"separable by {self.key}"]
        rest = [f"  {name}: {why}" for name, why in self.reasons]
        return [f"separable by {self.key}, except what has one clock:", *rest]


def separability(plan: Plan) -> Separability:
    """Find everything in a plan that is keyed by the keys of its sources."""
    keys = declared_keys(plan)
    if not keys or not _works_by_key(plan):
        return Separability({}, frozenset(), frozenset())
    return _Analysis(plan, keys).run()


def _works_by_key(plan: Plan) -> bool:
    """Whether anything may: else no key need be looked up for any row."""
    by_value = any(isinstance(one, ValueKey) for part in plan.partitions for one in part.keys)
    return (
        by_value
        or any(event.key is not None for event in plan.events)
        or any(query.group_by for query in plan.queries)
    )


class _Analysis:
    """One pass in definition order; engines are settled first by the slower fixed point."""

    def __init__(self, plan: Plan, keys: Mapping[str, str]) -> None:
        self.plan = plan
        self.keys = keys
        self.key = " or ".join(dict.fromkeys(keys.values()))
        self.reasons: dict[str, str] = {}

    def run(self) -> Separability:
        engines = {engine.name for engine in self.plan.engines}
        while True:
            self.reasons = {}
            columns, operators = self._flow(engines)
            kept = {name for name in engines if self._engine_is_keyed(name, engines, operators)}
            if kept == engines:
                break
            engines = kept
        return Separability(
            self.keys,
            frozenset(engines),
            frozenset(operators),
            columns,
            tuple(self._all_reasons(engines)),
        )

    def _all_reasons(self, engines: set[str]) -> list[tuple[str, str]]:
        crossing = [
            (engine.name, "its events cross keys")
            for engine in self.plan.engines
            if engine.name not in engines
        ]
        return list(self.reasons.items()) + crossing

    def _flow(self, engines: set[str]) -> tuple[dict[str, frozenset[int]], set[str]]:
        """Key columns per keyed stream and the names of keyed operators."""
        columns: dict[str, frozenset[int]] = {}
        for stream in self.plan.sources:
            if stream.reorder is not None:
                self.reasons[stream.name] = "it is put in order over all keys"
            elif stream.key is not None:
                columns[stream.name] = declared_at(stream)
        operators: set[str] = set()
        for operator in self.plan.operators:
            if self._operator_is_keyed(operator, columns, engines):
                operators.add(operator.name)
        return self._drop_mixed(columns, operators)

    def _drop_mixed(
        self, columns: dict[str, frozenset[int]], operators: set[str]
    ) -> tuple[dict[str, frozenset[int]], set[str]]:
        """A stream written by a query that is not keyed is not keyed, nor what reads it."""
        mixed = {
            target
            for query in self.plan.queries
            for target in streams_filled(query)
            if query.name not in operators and target in columns
        }
        while mixed:
            for stream in mixed:
                columns.pop(stream, None)
            readers = [op for op in self.plan.operators if self._reads_unkeyed(op, columns)]
            operators -= {op.name for op in readers}
            targets = {
                name for op in readers if isinstance(op, Query) for name in streams_filled(op)
            }
            mixed = targets & columns.keys()
        return columns, operators

    def _reads_unkeyed(self, operator: Operator, columns: dict[str, frozenset[int]]) -> bool:
        match operator:
            case Query():
                return any(one.stream not in columns for one in operator.inputs)
            case Event():
                return operator.source not in columns
            case _:
                return False

    def _operator_is_keyed(
        self, operator: Operator, columns: dict[str, frozenset[int]], engines: set[str]
    ) -> bool:
        match operator:
            case Query():
                return self._query(operator, columns)
            case Event():
                keyed = self._edge(operator, columns)
                if operator.engine in engines:
                    columns[operator.name] = IN_EVENTS
                return keyed
            case Complex():
                if operator.engine in engines:
                    columns[operator.name] = IN_EVENTS
                return operator.engine in engines

    def _query(self, query: Query, columns: dict[str, frozenset[int]]) -> bool:
        if any(one.stream not in columns for one in query.inputs):
            return False
        reason = self._crosses(query, columns)
        if reason:
            self.reasons[query.name] = reason
            return False
        for stream, kept in put_by_query(query, columns):
            columns[stream] = columns.get(stream, kept) & kept
        return True

    def _crosses(self, query: Query, columns: dict[str, frozenset[int]]) -> str:
        """Why a query over keyed streams mixes rows of several keys; empty when it does not."""
        output = query.output
        if not isinstance(output, Insert) or output.holder is not Holder.STREAM:
            return "tables and windows are shared by all keys"
        if any(isinstance(node, InTable) for whole in expressions(query) for node in walk(whole)):
            return "it asks a table, which is shared by all keys"
        if query.rate is not None or query.cuts_chunks:
            return "it chooses among rows of several keys"
        if query.partition is not None:
            return self._partition_crosses(query, columns)
        if not isinstance(query.input, StreamInput):
            return f"it is a {_kind(query.input)} outside a partition by {self.key}"
        return self._stream_crosses(query, query.input, columns)

    def _stream_crosses(self, query: Query, source: StreamInput, held: Held) -> str:
        functions = (one for one in (*source.before, *source.after) if not isinstance(one, Filter))
        if not all(any(is_key(key, query, held) for key in one.keys) for one in functions):
            return "its stream functions see rows of all keys"
        window = source.window
        apart = "aggregates" if window is None else kind_of(window).apart
        leaves_matter = not isinstance(query.output, Insert) or query.output.events != "current"
        if window is not None and (leaves_matter or apart == "never"):
            return f"rows of all keys are in its {window.name} window"
        if query.aggregates and not groups_by_key(query, held):
            return f"its aggregates are not grouped by {self.key}"
        if query.aggregates and window is not None and apart == "rows":
            return f"rows of other keys push rows out of its {window.name} window"
        return ""

    def _partition_crosses(self, query: Query, columns: dict[str, frozenset[int]]) -> str:
        """A partition by the key keeps keys apart, where all its streams have that key."""
        partition = next(one for one in self.plan.partitions if one.name == query.partition)
        if not divides_by_key(partition, columns):
            return f"its partition is not by {self.key}"
        keyed = {key.stream for key in partition.keys}
        inner = f"{partition.name}#"
        for one in query.inputs:
            if one.stream not in keyed and not one.stream.startswith(inner):
                return f"rows of {one.stream} reach every key"
        return ""

    def _edge(self, event: Event, columns: dict[str, frozenset[int]]) -> bool:
        if event.source not in columns:
            return False
        if event.key is None:
            self.reasons[event.name] = f"it has no `for each {self.key}`"
            return False
        if not looks_by_key(event, columns):
            self.reasons[event.name] = f"{event.key.name} is not the row's {self.key}"
            return False
        return True

    def _engine_is_keyed(self, name: str, engines: set[str], operators: set[str]) -> bool:
        plan = self.plan
        events = [event for event in plan.events if event.engine == name]
        complexes = [found for found in plan.complexes if found.engine == name]
        return (
            all(event.name in operators for event in events)
            and all(found.key is not None for found in complexes)
            and not any(ref.key is not None for found in complexes for ref in _refs(found))
            and all(upstream in engines for upstream in plan.engine(name).upstream)
        )


def _refs(found: Complex) -> tuple[Ref, ...]:
    """Every event a complex event names, required or forbidden."""
    return leaves(found.pattern) + found.forbid + _absent(found)


def _absent(found: Complex) -> tuple[Ref, ...]:
    pending, refs = [found.pattern], []
    while pending:
        node = pending.pop()
        refs += list(getattr(node, "absent", ()))
        pending += [
            child for child in (getattr(node, "left", None), getattr(node, "right", None)) if child
        ]
    return tuple(refs)


def _kind(source: Input) -> str:
    match source:
        case Match():
            return source.kind
        case _:
            return type(source).__name__.lower()


def expressions(query: Query) -> list[Expression]:
    """Every expression of a query that may ask a table."""
    found = [value for _, value in query.projection]
    found += [argument for one in query.aggregates for argument in one.arguments]
    for source in query.inputs:
        found += [*source.filters, *source.window_filters]
    return [*found, *([query.having] if query.having is not None else [])]
