"""Variants that differ in nothing but numbers of their signals: rules that run once for all.

A signal is a row of values. A value that is a constant, and that no other rule reads, says what is
to be ordered and nothing of when: rules with another one give the same rows but for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from cep.backtest.results import Results
from cep.plan.expressions import Constant, Expression
from cep.plan.nodes import Operator, Plan
from cep.plan.query import Query
from cep.plan.readers import is_read
from cep.plan.steps import Project, Step
from cep.plan.types import Type

Numbers = Mapping[str, Mapping[str, float]]
"""By name of the signal and of the attribute."""
_NUMBERS = {Type.DOUBLE: float, Type.LONG: int}


def likeness(plan: Plan) -> str:
    """All of a plan but such numbers: where it is the same, so are the rows but for these.

    It is a text, as 0.0 equals -0.0.
    """
    free = _free(plan)
    operators = tuple(_blank(one) if one.name in free else one for one in plan.operators)
    return repr(replace(plan, operators=operators, text="", parameters=()))


def numbers_of(plan: Plan) -> Numbers:
    """The numbers that `likeness` leaves out."""
    free = _free(plan)
    return {
        query.name: {
            name: _NUMBERS[value.type](value.value)
            for step in query.steps
            if isinstance(step, Project)
            for name, value in step.columns
            if _is_number(value) and isinstance(value, Constant) and value.value is not None
        }
        for query in plan.queries
        if query.name in free
    }


def results_of(plan: Plan, other: Results) -> Results:
    """What a plan's rules have given, from what those of a like plan have."""
    found, numbers = Results(plan), numbers_of(plan)
    found.records, found.counts, found.dropped = other.records, other.counts, other.dropped
    found.signals = [
        (place, {**row, **numbers.get(row["stream"], {})}) for place, row in other.signals
    ]
    return found


def like(plans: Sequence[Plan]) -> list[list[int]]:
    """The places of plans that are alike, each group in order, by the first of each."""
    groups: dict[str, list[int]] = {}
    for place, plan in enumerate(plans):
        groups.setdefault(likeness(plan), []).append(place)
    return list(groups.values())


def _free(plan: Plan) -> set[str]:
    """Signals that no rule reads."""
    return {one.name for one in plan.signals if not is_read(plan, one.name)}


def _blank(operator: Operator) -> Operator:
    if not isinstance(operator, Query):
        return operator
    return replace(operator, steps=tuple(_blank_steps(operator.steps)))


def _blank_steps(steps: Sequence[Step]) -> Iterator[Step]:
    for step in steps:
        if isinstance(step, Project):
            columns = tuple((name, _without_number(value)) for name, value in step.columns)
            step = replace(step, columns=columns)
        yield step


def _without_number(value: Expression) -> Expression:
    return Constant(0, value.type) if _is_number(value) else value


def _is_number(value: Expression) -> bool:
    """Whether it is a constant number, which null is not."""
    return isinstance(value, Constant) and value.type in _NUMBERS and value.value is not None
