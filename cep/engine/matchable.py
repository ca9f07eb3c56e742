"""Matchings the native engine compiles: those whose automaton has few steps."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from cep.plan.expressions import Expression
from cep.plan.query import Matching, Query
from cep.plan.regex import Regex, Steps, automaton, steps
from cep.plan.steps import Filter, Holder
from cep.plan.types import Type

STATES_MAX = 40
STEPS_MAX = 80
"""Each step is a piece of the source."""

KEPT = {
    Type.LONG: (Type.INT,),
    Type.DOUBLE: (Type.FLOAT, Type.INT),
}
"""Types of values that a variable of another type holds as they are."""


@cache
def steps_of(regex: Regex) -> Steps | None:
    """The steps of a pattern; None where they are too many."""
    return steps(automaton(regex), STATES_MAX)


def why_not_native(query: Query) -> str | None:
    """Why a matching is not compiled; None when it is."""
    assert isinstance(query.input, Matching)
    return next(_reasons(query, query.input), None)


def _reasons(query: Query, matching: Matching) -> Iterator[str]:
    source = matching.input
    if source.holder is not Holder.STREAM or source.window is not None or source.after:
        yield f"{source.stream} is more than a stream with filters"
    if not all(isinstance(handler, Filter) for handler in source.before):
        yield "stream functions change its events"
    if query.aggregates or query.group_by:
        yield "it aggregates over its matches"
    if query.target == source.stream:
        yield "it reads what it writes"
    found = steps_of(matching.regex)
    written = 0 if found is None else found.count
    if found is not None and matching.skips:
        written = len(found.by_state) * len(matching.symbols)
    if found is None or written > STEPS_MAX:
        yield f"its pattern has more than {STATES_MAX} states or {STEPS_MAX} steps"
    for variable in matching.variables.attributes:
        if variable.type in (Type.OBJECT, Type.LIST):
            yield f"variable {variable.name} is an {variable.type}"
    for symbol in matching.symbols:
        for position, value in symbol.sets:
            variable = matching.variables.attributes[position]
            if value.type not in (variable.type, *KEPT.get(variable.type, ())):
                yield f"variable {variable.name} is given a value of type {value.type}"


def expressions(matching: Matching) -> Iterator[Expression]:
    """Every expression of the symbols."""
    for symbol in matching.symbols:
        yield symbol.condition
        yield from (value for _, value in symbol.sets)
