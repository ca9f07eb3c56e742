"""What a generated module can run, and why rules need a program instead.

A module runs all of the rules, or none.
"""

from __future__ import annotations

from collections.abc import Iterator

from cep.engine.chunks import Chunks
from cep.engine.codegen.aggregates import native_of
from cep.engine.codegen.queries import streams_current
from cep.engine.joinable import why_not_native as join_reason
from cep.engine.linear import matched_streams, may_follow
from cep.engine.linear import why_not_native as match_reason
from cep.engine.matchable import expressions as matching_expressions
from cep.engine.matchable import why_not_native as matching_reason
from cep.engine.stages import windows_of_all_keys
from cep.engine.windows import native_window
from cep.plan.expressions import (
    Aggregate,
    Call,
    Collected,
    Column,
    Constant,
    Expression,
    InTable,
    Missing,
    walk,
)
from cep.plan.functions import aggregator_of, scalar_of
from cep.plan.nodes import Aggregation, Event, NamedWindow, Plan, Table, Trigger
from cep.plan.query import Correlation, Join, Match, Matching, Query, StreamInput
from cep.plan.rewrite import is_condition
from cep.plan.separable import Separability, separability
from cep.plan.steps import Filter, Holder, Insert, Window
from cep.plan.types import Type
from cep.plan.windows import argument_of, kind_of

Held = Table | NamedWindow | Trigger | Aggregation
KINDS: dict[type[Held], str] = {
    Table: "a table",
    NamedWindow: "a named window",
    Trigger: "a trigger",
    Aggregation: "an aggregation",
}
"""Definitions whose state no module has."""


def why_not_generated(plan: Plan, *, lived: bool = False) -> dict[str, str]:
    """What no module can run, and why, by name; empty: one can run the plan.

    `lived`: for records as they came, of which each key has a clock of its own.
    """
    coverage = Coverage(plan, separability(plan))
    held: list[Held] = [*plan.tables, *plan.windows, *plan.triggers, *plan.aggregations]
    found = {one.name: KINDS[type(one)] for one in held}
    found |= {s.name: "its rows wait for their order" for s in plan.streams if s.reorder}
    if plan.playback is not None and plan.playback.idle_ms is not None:
        found[plan.name] = "time goes on by the wall's clock when no row comes"
    found |= {one.name: "it keeps values of its events" for one in plan.complexes if one.bound}
    for operator in plan.operators:
        if isinstance(operator, Query | Event) and (why := coverage.why_not(operator)) is not None:
            found[operator.name] = why
    if lived and not plan.compat:
        of_all = "its window of all keys has a clock for each"
        found |= {name: of_all for name in windows_of_all_keys(plan) if name not in found}
    return found


class Coverage:
    """Which operators of a plan a module can run."""

    def __init__(self, plan: Plan, by: Separability) -> None:
        self.plan = plan
        self.by = by
        self._matched = matched_streams(plan)
        self.chunks = Chunks(plan)

    def why_not(self, operator: Query | Event) -> str | None:
        """Why no module runs a query or watches an event; None when one does."""
        if isinstance(operator, Event):
            return next(expression_reasons(operator.condition), None)
        return next(self._reasons(operator), None)

    def _reasons(self, query: Query) -> Iterator[str]:
        if is_condition(query):
            yield "an event of the engine calls a function of yours"
        if self.plan.compat and _has_defects(query):
            yield "the reference's defects are the interpreter's (`@app:compat`)"
        if query.partition is not None:
            yield from self._partition_reasons(query)
        if not may_follow(query) and any(one.stream in self._matched for one in query.inputs):
            yield "a match or join, which can put out any number of rows, writes what it reads"
        if isinstance(query.input, Match):
            reason = match_reason(query)
            yield from [reason] if reason else []
        if isinstance(query.input, Join):
            reason = join_reason(query)
            yield from [reason] if reason else []
        if isinstance(query.input, Matching):
            reason = matching_reason(query)
            yield from [reason] if reason else []
        if isinstance(query.input, Correlation):
            yield "a correlation of three or more is not compiled"
        yield from _reasons(query)
        if self.chunks.makes_many(query):
            reason = self.chunks.why_together(query)
            yield from [reason] if reason else []

    def _partition_reasons(self, query: Query) -> Iterator[str]:
        partition = next(one for one in self.plan.partitions if one.name == query.partition)
        if partition.idle_ms is not None:
            yield "its partition forgets keys (`@purge`)"
        if not self.by.is_keyed(query):
            reasons = dict(self.by.reasons)
            yield reasons.get(query.name, "its partition is not by the plan's key")


def _has_defects(query: Query) -> bool:
    """Whether the reference answers some rows in a way of its own."""
    return isinstance(query.input, Join | Match) or any(
        aggregator_of(one.function).plain_siddhi is not None for one in query.aggregates
    )


def _reasons(query: Query) -> Iterator[str]:
    yield from _source_reasons(query)
    if not isinstance(query.output, Insert) or query.output.holder is not Holder.STREAM:
        yield "it does not insert into a stream"
    elif query.output.events != "current":
        yield f"it puts out {query.output.events} events"
    if query.rate is not None:
        yield "its output is rate limited"
    if query.cuts_chunks:
        yield "it orders or limits its output"
    yield from _aggregate_reasons(query.aggregates)
    for expression in _expressions(query):
        yield from expression_reasons(expression)


def _source_reasons(query: Query) -> Iterator[str]:
    if not isinstance(query.input, StreamInput):
        return
    source = query.input
    if source.holder is not Holder.STREAM:
        yield f"it reads a {source.holder}"
    if not all(isinstance(handler, Filter) for handler in (*source.before, *source.after)):
        yield "it uses a stream function"
    if source.window is not None:
        yield from _window_reasons(query, source.window)


def _window_reasons(query: Query, window: Window) -> Iterator[str]:
    name, kind, native = window.name, kind_of(window), native_window(window)
    if native is None:
        yield f"window `{name}` is not compiled"
    elif not isinstance(window.arguments[kind.size], Constant):
        yield f"the size of window `{name}` is no constant"
    elif window.constant(kind.size) == 0:
        yield f"window `{name}` holds no row"
    elif native.is_batch:
        yield from _batch_reasons(query, streams_current(window))
    elif kind.by == "attribute" and not isinstance(argument_of(window, "timestamp"), Column):
        yield f"the time of window `{name}` is no attribute"


def _batch_reasons(query: Query, at_once: bool) -> Iterator[str]:
    """A batch is compiled where one row comes of it, its last, or (`at_once`) each as it comes."""
    if not query.aggregates:
        yield "all rows of a batch go out together"
    if query.group_by:
        yield "a row per group goes out of a batch"
    if query.stream_input.after or (query.having is not None and not at_once):
        yield "a batch's last row that passes a condition goes out"


def _aggregate_reasons(aggregates: tuple[Aggregate, ...]) -> Iterator[str]:
    for aggregate in aggregates:
        native = native_of(aggregate)
        if isinstance(native, str):
            yield native


def _expressions(query: Query) -> Iterator[Expression]:
    for one in query.inputs:
        yield from (*one.filters, *one.window_filters)
    if isinstance(query.input, Join) and query.input.on is not None:
        yield query.input.on
    if isinstance(query.input, Matching):
        yield from matching_expressions(query.input)
    for aggregate in query.aggregates:
        yield from aggregate.arguments
    yield from (expression for _, expression in query.projection)
    if query.having is not None:
        yield query.having


def expression_reasons(expression: Expression) -> Iterator[str]:
    """Why an expression is not compiled, if it is not."""
    for node in walk(expression):
        match node:
            case InTable():
                yield "it looks into a table"
            case Collected() | Missing():
                yield "it asks for a collection of events"
            case Call() if (reason := _why_not_written(node)) is not None:
                yield reason
        if node.type in (Type.OBJECT, Type.LIST):
            yield "it works on objects"


def _why_not_written(call: Call) -> str | None:
    scalar = scalar_of(call.function)
    if scalar is None or scalar.native is None:
        return f"function `{call.function}` is not compiled"
    return scalar.native.why_not(call)
