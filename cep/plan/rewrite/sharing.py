"""Equal parts of different queries, which back ends compute once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from cep.plan.expressions import Column, Comparison, Constant
from cep.plan.nodes import Plan
from cep.plan.query import (
    AbsentState,
    CountState,
    EveryState,
    GroupState,
    LogicalState,
    Match,
    MatchState,
    NextState,
    Query,
    StreamInput,
    StreamState,
)
from cep.plan.rewrite.conjunctions import conjuncts
from cep.plan.steps import Filter, Handler, Window

T = TypeVar("T")
Test = tuple[Column, str, str | int | float | bool]


@dataclass(frozen=True, slots=True)
class SharedFilter:
    """Queries whose rows pass the same handlers in front of the window."""

    stream: str
    partition: str | None
    before: tuple[Handler, ...]
    queries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SharedWindow:
    """Queries over the same rows, in the same window."""

    stream: str
    partition: str | None
    before: tuple[Handler, ...]
    window: Window
    queries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SharedPrefix:
    """Matches that begin with the same `states` (references left out)."""

    kind: str
    partition: str | None
    states: tuple[MatchState, ...]
    queries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Threshold:
    """Queries that ask one attribute of a stream for one operator and different constants.

    An index over the constants finds those that pass: `tests` are (constant, query).
    """

    stream: str
    column: Column
    op: str
    tests: tuple[tuple[str | int | float | bool, str], ...]


@dataclass(frozen=True, slots=True)
class Sharing:
    """What queries of a plan share; each entry names two queries or more."""

    filters: tuple[SharedFilter, ...]
    windows: tuple[SharedWindow, ...]
    prefixes: tuple[SharedPrefix, ...]
    thresholds: tuple[Threshold, ...]


def sharing(plan: Plan) -> Sharing:
    """Find the equal parts of a plan's queries."""
    return Sharing(
        tuple(_filters(plan)), tuple(_windows(plan)), tuple(_prefixes(plan)), tuple(_tests(plan))
    )


def _grouped(items: Iterable[T], key: Callable[[T], Hashable]) -> Iterator[list[T]]:
    """Items of equal key, two or more, in order of first appearance."""
    groups: dict[Hashable, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return (group for group in groups.values() if len(group) > 1)


def _names(queries: Iterable[Query]) -> tuple[str, ...]:
    return tuple(query.name for query in queries)


def _over_streams(plan: Plan) -> list[tuple[Query, StreamInput]]:
    return [(q, q.input) for q in plan.queries if isinstance(q.input, StreamInput)]


def _filters(plan: Plan) -> Iterator[SharedFilter]:
    filtered = [pair for pair in _over_streams(plan) if pair[1].before]
    groups = _grouped(filtered, lambda pair: (pair[1].stream, pair[0].partition, pair[1].before))
    for group in groups:
        query, source = group[0]
        names = _names(query for query, _ in group)
        yield SharedFilter(source.stream, query.partition, source.before, names)


def _windows(plan: Plan) -> Iterator[SharedWindow]:
    held = [pair for pair in _over_streams(plan) if pair[1].window is not None]
    for group in _grouped(
        held, lambda pair: (pair[1].stream, pair[0].partition, pair[1].before, pair[1].window)
    ):
        query, source = group[0]
        assert source.window is not None
        names = _names(query for query, _ in group)
        yield SharedWindow(source.stream, query.partition, source.before, source.window, names)


def _prefixes(plan: Plan) -> Iterator[SharedPrefix]:
    """Groups by the first state; what all of a group begin with."""
    matches = [
        (query, query.input, _chain(query.input.root))
        for query in plan.queries
        if isinstance(query.input, Match)
    ]
    for group in _grouped(
        matches, lambda m: (m[1].kind, m[0].partition, m[1].within_ms, m[1].partials_max, m[2][0])
    ):
        common: list[MatchState] = []
        for states in zip(*(chain for _, _, chain in group), strict=False):
            if any(state != states[0] for state in states):
                break
            common.append(states[0])
        query, match, _ = group[0]
        names = _names(query for query, _, _ in group)
        yield SharedPrefix(match.kind, query.partition, tuple(common), names)


def _chain(root: MatchState) -> tuple[MatchState, ...]:
    """The states one behind another, without the names given to events."""
    if isinstance(root, NextState):
        return (*_chain(root.left), *_chain(root.right))
    return (_nameless(root),)


def _nameless(state: MatchState) -> MatchState:
    match state:
        case StreamState():
            return replace(state, reference="")
        case CountState() | AbsentState():
            return replace(state, state=replace(state.state, reference=""))
        case LogicalState():
            left, right = _nameless_side(state.left), _nameless_side(state.right)
            return replace(state, left=left, right=right)
        case NextState():
            return NextState(_nameless(state.left), _nameless(state.right))
        case EveryState() | GroupState():
            return replace(state, state=_nameless(state.state))


def _nameless_side(side: StreamState | AbsentState) -> StreamState | AbsentState:
    if isinstance(side, AbsentState):
        return replace(side, state=replace(side.state, reference=""))
    return replace(side, reference="")


def _tests(plan: Plan) -> Iterator[Threshold]:
    """Of each query's first filter the first condition that is `attribute op constant`."""
    found = [
        (source.stream, test, query.name)
        for query, source in _over_streams(plan)
        if query.partition is None and (test := _first_test(source)) is not None
    ]
    for group in _grouped(found, lambda one: (one[0], one[1][0], one[1][1])):
        stream, (column, op, _), _ = group[0]
        tests = tuple((test[2], name) for _, test, name in group)
        if len({constant for constant, _ in tests}) > 1:
            yield Threshold(stream, column, op, tests)


def _first_test(source: StreamInput) -> Test | None:
    first = source.before[0] if source.before else None
    if not isinstance(first, Filter):
        return None
    for condition in conjuncts(first.condition):
        match condition:
            case Comparison(op, Column() as column, Constant(value)) if value is not None:
                return column, op, value
    return None
