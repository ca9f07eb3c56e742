"""Patterns and sequences the native engine compiles: single events, one behind the other.

Everything else of a match (counts, `and`, `or`, absence) runs in the interpreter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from cep.plan.expressions import Collected, EventTime, Expression, InTable, Missing, walk
from cep.plan.nodes import Plan
from cep.plan.query import (
    AbsentState,
    CountState,
    EveryState,
    GroupState,
    Join,
    LogicalState,
    Match,
    Matching,
    MatchState,
    NextState,
    Query,
    StreamInput,
    StreamState,
)
from cep.plan.rewrite.conjunctions import conjuncts
from cep.plan.steps import Filter, Holder, Insert

STATES_MAX = 60
"""States of a sequence have a bit each in a whole number."""

REASONS: dict[type, str] = {
    CountState: "it counts events (`<m:n>`, `*`, `+`, `?`)",
    AbsentState: "it waits for the absence of an event (`not`)",
    LogicalState: "it joins events with `and` or `or`",
    GroupState: "a part of it has a `within` of its own",
    EveryState: "`every` stands behind its first event",
}


@dataclass(frozen=True, slots=True)
class Linear:
    """A match of single events: the first `every` of its states begin again and again."""

    kind: Literal["pattern", "sequence"]
    states: tuple[StreamState, ...]
    every: int
    within_ms: int | None
    partials_max: int

    @property
    def streams(self) -> tuple[str, ...]:
        """Its streams, each once, in order of the text."""
        return tuple(dict.fromkeys(state.input.stream for state in self.states))

    @property
    def waits_many(self) -> bool:
        """Whether many partial matches can wait at once, and one row complete all of them."""
        return self.kind == "pattern" and 0 < self.every < len(self.states)

    def at(self, stream: str) -> list[int]:
        """The slots of the states that a stream feeds, the last first."""
        slots = [state.slot for state in self.states if state.input.stream == stream]
        return slots[::-1]


def linear(match: Match) -> Linear:
    """The match as a chain; TypeError when `why_not_native` has a reason."""
    chain = _chain(match.root)
    every = 0
    if chain and isinstance(chain[0], EveryState):
        group = _chain(chain[0].state)
        chain, every = [*group, *chain[1:]], len(group)
    states = tuple(state for state in chain if isinstance(state, StreamState))
    if len(states) < len(chain):
        raise TypeError("the match is not a chain of single events")
    return Linear(match.kind, states, every, match.within_ms, match.partials_max)


def conditions(state: StreamState) -> tuple[Expression, ...]:
    """What a row must fulfil to be taken by a state, one by one."""
    return tuple(part for whole in state.input.filters for part in conjuncts(whole))


def why_not_native(query: Query) -> str | None:
    """Why a pattern or sequence is not compiled; None when it is. `explain` prints it."""
    assert isinstance(query.input, Match)
    match = query.input
    return (
        _state_reason(match)
        or _input_reason(match)
        or _selection_reason(query)
        or _expression_reason(query)
    )


def may_follow(query: Query) -> bool:
    """Whether a query can read what a compiled match writes, however many rows that are at once."""
    source = query.input
    return (
        isinstance(source, StreamInput)
        and source.window is None
        and not query.aggregates
        and all(isinstance(handler, Filter) for handler in source.before)
    )


def matched_streams(plan: Plan) -> frozenset[str]:
    """The streams behind patterns and joins: one row can lead to any number of rows on them."""
    found: set[str] = set()
    for query in plan.queries:
        many = completes_many(query) or any(one.stream in found for one in query.inputs)
        if many and isinstance(query.output, Insert):
            found.add(query.output.target)
    return frozenset(found)


def completes_many(query: Query) -> bool:
    """Whether one row can complete several matches, or meet several rows."""
    match = query.input
    if isinstance(match, Join | Matching):
        return True
    if not isinstance(match, Match) or _state_reason(match) is not None:
        return False
    return linear(match).waits_many


def _chain(root: MatchState) -> list[MatchState]:
    if isinstance(root, NextState):
        return [*_chain(root.left), *_chain(root.right)]
    return [root]


def _state_reason(match: Match) -> str | None:
    chain = _chain(match.root)
    if isinstance(chain[0], EveryState):
        group = _chain(chain[0].state)
        if match.kind == "sequence" and len(group) > 1:
            return "`every` repeats several events of a sequence"
        chain = [*group, *chain[1:]]
    for state in chain:
        if type(state) in REASONS:
            return REASONS[type(state)]
    if match.kind == "sequence" and len(chain) > STATES_MAX:
        return f"it has more than {STATES_MAX} events"
    if match.kind == "sequence" and match.partials_max < len(chain) - 1:
        return "it may have more partial matches than `@bound` allows"
    return None


def _input_reason(match: Match) -> str | None:
    if match.expired is not None:
        return "its expired partial matches go to a stream (`@expired`)"
    for state in match.states:
        source = state.input
        if source.holder is not Holder.STREAM:
            return f"it reads the {source.holder} {source.stream}"
        if not all(isinstance(handler, Filter) for handler in source.before):
            return "stream functions change its events"
    return None


def _selection_reason(query: Query) -> str | None:
    if query.aggregates or query.group_by:
        return "it aggregates over its matches"
    if query.target in {state.input.stream for state in _states(query)}:
        return "it reads what it writes"
    return None


def _expression_reason(query: Query) -> str | None:
    for expression in expressions(query):
        for node in walk(expression):
            if isinstance(node, Collected | Missing | InTable):
                return "it asks whether an event or a table's row is there"
    for state in _states(query):
        for condition in conditions(state):
            if any(isinstance(node, EventTime) and node.slot is None for node in walk(condition)):
                return "a condition asks for the time of a match that is not complete"
    return None


def expressions(query: Query) -> Iterator[Expression]:
    """Every expression of a match query."""
    for state in _states(query):
        yield from conditions(state)
    yield from (value for _, value in query.projection)
    if query.having is not None:
        yield query.having


def _states(query: Query) -> tuple[StreamState, ...]:
    assert isinstance(query.input, Match)
    return query.input.states
