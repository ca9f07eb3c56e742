"""Match queries of one shape: neighbours that differ in nothing but numbers share their source.

Ten patterns with ten thresholds are one loop over a table of constants: the source, and with it the
time to compile it, grows with the number of shapes, not of queries.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from cep.engine.linear import Linear, linear
from cep.plan.expressions import Constant, Expression
from cep.plan.families import Value, parametrised
from cep.plan.nodes import Plan
from cep.plan.query import Match, Query
from cep.plan.rewrite.expressions import map_children, map_plan
from cep.plan.types import Type


@dataclass(frozen=True, slots=True)
class MatchGroup:
    """`query` stands for all: constants that differ are columns of slot PARAMETER.

    `constants` has a row per query, a column per parameter; `types` are theirs.
    """

    names: tuple[str, ...]
    query: Query
    linear: Linear
    within_ms: tuple[int | None, ...]
    constants: tuple[tuple[Value, ...], ...]
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
    shared = parametrised([_bare(query) for query in queries], _rewritten)
    query = shared.query
    matches = [query.input for query in queries if isinstance(query.input, Match)]
    chain = linear(matches[0])
    assert isinstance(query.input, Match)
    return MatchGroup(
        tuple(one.name for one in queries),
        query,
        replace(chain, states=query.input.states),
        tuple(match.within_ms for match in matches),
        shared.constants,
        shared.types,
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


def _rewritten(query: Query, change: Callable[[Constant], Expression]) -> Query:
    """The query with every number in it changed."""

    def rewrite(expression: Expression) -> Expression:
        if isinstance(expression, Constant):
            is_number = expression.type.is_numeric and expression.value is not None
            return change(expression) if is_number else expression
        return map_children(expression, rewrite)

    plan = map_plan(Plan("", (), (query,)), rewrite)
    return plan.queries[0]
