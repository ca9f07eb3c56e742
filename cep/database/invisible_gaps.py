"""Invisible gaps of matchings as a filter, where no symbol asks for a variable."""

from __future__ import annotations

from dataclasses import replace
from functools import partial, reduce

from cep.plan.expressions import Column, Constant, Expression, Logical, children
from cep.plan.query import Matching
from cep.plan.steps import Filter
from cep.plan.types import Type

VARIABLES = 1
"""The slot of a matching's variables."""
_TRUE = Constant(True, Type.BOOL)


def with_gaps_filtered(matching: Matching) -> Matching:
    """The matching over the rows that emit a symbol: then each instant counts.

    The matching itself where that depends on its variables.
    """
    conditions = [symbol.condition for symbol in matching.symbols]
    if not matching.skips:
        return matching
    if _TRUE in conditions:
        return replace(matching, skips=False)
    if any(map(uses_variables, conditions)):
        return matching
    emitting = Filter(reduce(partial(Logical, "or"), conditions))
    source = replace(matching.input, after=(*matching.input.after, emitting))
    return replace(matching, input=source, skips=False)


def uses_variables(condition: Expression) -> bool:
    """Whether a symbol's condition asks for a variable."""
    if isinstance(condition, Column) and condition.slot == VARIABLES:
        return True
    return any(map(uses_variables, children(condition)))
