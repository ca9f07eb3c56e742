"""Constants in which queries of one shape differ: columns of a table, a row per query."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from cep.plan.expressions import Column, Constant, Expression
from cep.plan.query import Query
from cep.plan.types import Type

PARAMETER = -7
"""The slot of a constant in which the queries of a shape differ."""

Value = str | int | float
Rewrite = Callable[[Query, Callable[[Constant], Expression]], Query]
"""A query with the constants in which its like may differ changed, always in the same order."""


@dataclass(frozen=True, slots=True)
class Parametrised:
    """`query` stands for all: constants that differ are columns of slot PARAMETER.

    `constants` has a row per query, a column per parameter; `types` are theirs.
    """

    query: Query
    constants: tuple[tuple[Value, ...], ...]
    types: tuple[Type, ...]


def parametrised(queries: Sequence[Query], rewrite: Rewrite) -> Parametrised:
    """Queries of one shape as the first of them and a table of constants."""
    values = [_constants(query, rewrite) for query in queries]
    differing = [
        place for place, found in enumerate(zip(*values, strict=True)) if len(set(found)) > 1
    ]
    return Parametrised(
        rewrite(queries[0], _Parameters(differing)),
        tuple(tuple(found[place][0] for place in differing) for found in values),
        tuple(values[0][place][1] for place in differing),
    )


def _constants(query: Query, rewrite: Rewrite) -> list[tuple[Value, Type]]:
    """The constants in a query, in the order in which it is rewritten."""
    found: list[tuple[Value, Type]] = []

    def take(constant: Constant) -> Expression:
        found.append((_as_stored(constant), constant.type))
        return constant

    rewrite(query, take)
    return found


def _as_stored(constant: Constant) -> Value:
    value = constant.value
    assert isinstance(value, str | int | float)
    if isinstance(value, str):
        return value
    if constant.type not in (Type.FLOAT, Type.DOUBLE):
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
