"""SiddhiQL's sequences of single events of one stream: a word of rows, one behind the other."""

from __future__ import annotations

from dataclasses import replace

from cep.database.errors import Refusal
from cep.database.lower.chains import lower_chain
from cep.database.lower.pattern_joins import Chain
from cep.database.lower.spelling import Spelled, replaced, selected
from cep.database.steps import Rows
from cep.database.tables import Tables
from cep.plan.expressions import Collected, Column, EventTime, Expression, Missing, walk
from cep.plan.families import Family
from cep.plan.query import EveryState, Match, MatchState, NextState, Query, StreamState
from cep.plan.steps import Filter


def lower_match(family: Family, tables: Tables) -> Rows:
    """`every e1=S[..], e2=S[..], .. within t`; Refusal for any other pattern or sequence."""
    query = family.query
    match = query.input
    assert isinstance(match, Match)
    states = _states(match)
    reason = _reason(query, match, states)
    if reason is not None:
        raise Refusal("notimpl", reason)
    # as old as `within` is young enough here
    within_ms = None if match.within_ms is None else (match.within_ms + 1,)
    word = _spelled(query, states)
    chain = Chain(states[0].input.stream, (word,), within_ms, by_instant=False)
    return lower_chain(family, chain, tables)


def _states(match: Match) -> list[StreamState]:
    """The states; Refusal unless it is `every` and one single event behind the other."""
    first, *rest = _chain(match.root)
    if match.kind == "pattern" and rest:
        raise Refusal("notimpl", "patterns (`->`), which wait for an event however long")
    if not isinstance(first, EveryState):
        raise Refusal("notimpl", "sequences without `every`, whose matches do not overlap")
    states = [first.state, *rest]
    single = [state for state in states if isinstance(state, StreamState)]
    if len(single) < len(states):
        raise Refusal(
            "notimpl", "sequences of more than single events (counts, `and`, `or`, `not`)"
        )
    return single


def _chain(root: MatchState) -> list[MatchState]:
    if isinstance(root, NextState):
        return [*_chain(root.left), *_chain(root.right)]
    return [root]


def _reason(query: Query, match: Match, states: list[StreamState]) -> str | None:
    if len({state.input.stream for state in states}) > 1:
        return "sequences over several streams"
    if match.expired is not None:
        return "sequences whose expired partial matches go to a stream"
    if match.partials_max < len(states):
        return "sequences that drop partial matches (`@bound`)"
    if query.aggregates or query.group_by:
        return "aggregates of a sequence: let another query read what it finds"
    asked = [node for state in states for one in _conditions(state) for node in walk(one)]
    if any(isinstance(node, EventTime) and node.slot is None for node in asked):
        return "a condition on the time of a sequence that is not complete"
    asked += [node for _, value in query.projection for node in walk(value)]
    if any(isinstance(node, Collected | Missing) for node in asked):
        return "questions for events that may be missing"
    return None


def _conditions(state: StreamState) -> list[Expression]:
    return [one.condition for one in state.input.before if isinstance(one, Filter)]


def _spelled(query: Query, states: list[StreamState]) -> Spelled:
    """What must hold of the rows: each state's slot is the place of its row."""
    places = {state.slot: place for place, state in enumerate(states)}

    def moved(expression: Expression) -> Expression:
        def find(node: Column | EventTime) -> Expression:
            slot = len(states) - 1 if node.slot is None else places.get(node.slot, node.slot)
            return replace(node, slot=slot)

        return replaced(expression, find)

    conditions = [moved(one) for state in states for one in _conditions(state)]
    values = [moved(value) for _, value in query.projection]
    if query.having is not None:
        conditions.append(moved(selected(query.having, query)))
    return Spelled(len(states), tuple(conditions), tuple(values))
