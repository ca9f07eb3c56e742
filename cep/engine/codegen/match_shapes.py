"""Match queries of one shape: neighbours that differ in nothing but numbers share their source.

Ten patterns with ten thresholds are one loop over a table of constants: the source, and with it the
time to compile it, grows with the number of shapes, not of queries.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cep.engine.layout import is_float
from cep.engine.linear import Linear, linear
from cep.plan.expressions import Column, Constant, Expression
from cep.plan.nodes import Plan
from cep.plan.query import Match, Query
from cep.plan.rewrite.expressions import map_children, map_plan
from cep.plan.types import Type

PARAMETER = -7
"""The slot of a constant in which the queries of a group differ."""

Number = int | float


@dataclass(frozen=True, slots=True)
class MatchGroup:
    """`query` stands for all: constants that differ are columns of slot PARAMETER.

    `constants` has a row per query, a column per parameter; `types` are theirs.
    """

    names: tuple[str, ...]
    query: Query
    linear: Linear
    within_ms: tuple[int | None, ...]
    constants: tuple[tuple[Number, ...], ...]
    types: tuple[Type, ...]

    def __len__(self) -> int:
        return len(self.names)

    @property
    def name(self) -> str:
        """The first query's name: the group is written in its place."""
        return self.names[0]


def grouped(queries: Sequence[Query]) -> list[MatchGroup]:
    """Groups of neighbours of one shape; `queries` are match queries in definition order."""
    groups: list[list[Query]] = []
    shape: tuple[Query, int] | None = None
    for query in queries:
        found = _shape(query)
        if found != shape:
            groups.append([])
        groups[-1].append(query)
        shape = found
    return [_group(group) for group in groups]


def _group(queries: list[Query]) -> MatchGroup:
    numbers = [_numbers(query) for query in queries]
    differing = [
        place for place, values in enumerate(zip(*numbers, strict=True)) if len(set(values)) > 1
    ]
    query = _rewritten(_bare(queries[0]), _Parameters(differing))
    matches = [query.input for query in queries if isinstance(query.input, Match)]
    chain = linear(matches[0])
    assert isinstance(query.input, Match)
    return MatchGroup(
        tuple(one.name for one in queries),
        query,
        replace(chain, states=query.input.states),
        tuple(match.within_ms for match in matches),
        tuple(tuple(values[place][0] for place in differing) for values in numbers),
        tuple(numbers[0][place][1] for place in differing),
    )


def _bare(query: Query) -> Query:
    """The query without what tells it from others of its shape, but for constants."""
    match = query.input
    assert isinstance(match, Match)
    states = tuple(replace(state, reference="") for state in match.states)
    within_ms = None if match.within_ms is None else 0
    bare = replace(match, root=states[0], states=states, within_ms=within_ms)
    return replace(query, name="", input=bare)


def _shape(query: Query) -> tuple[Query, int]:
    """What is equal for queries of one shape."""
    assert isinstance(query.input, Match)
    blank = _rewritten(_bare(query), lambda constant: Constant(0, constant.type))
    return blank, linear(query.input).every


def _numbers(query: Query) -> list[tuple[Number, Type]]:
    """The numbers in a query, in the order in which it is rewritten."""
    found: list[tuple[Number, Type]] = []

    def take(constant: Constant) -> Expression:
        found.append((_as_stored(constant), constant.type))
        return constant

    _rewritten(_bare(query), take)
    return found


def _as_stored(constant: Constant) -> Number:
    value = constant.value
    assert isinstance(value, int | float)
    if not is_float(constant.type):
        return int(value)
    return float(np.float32(value)) if constant.type is Type.FLOAT else float(value)


class _Parameters:
    """Replaces the constants at some places by parameters, counting them as they come."""

    def __init__(self, places: list[int]) -> None:
        self.numbers = {place: number for number, place in enumerate(places)}
        self.next = 0

    def __call__(self, constant: Constant) -> Expression:
        number = self.numbers.get(self.next)
        self.next += 1
        if number is None:
            return constant
        return Column(number, "", constant.type, PARAMETER)


def _rewritten(query: Query, change: Callable[[Constant], Expression]) -> Query:
    """The query with every number in it changed."""

    def rewrite(expression: Expression) -> Expression:
        if isinstance(expression, Constant):
            is_number = expression.type.is_numeric and expression.value is not None
            return change(expression) if is_number else expression
        return map_children(expression, rewrite)

    plan = map_plan(Plan("", (), (query,)), rewrite)
    return plan.queries[0]
