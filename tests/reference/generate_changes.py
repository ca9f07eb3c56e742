"""Hypothesis strategies: changes of rules, as parts of one plan that holds the old and new ones."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from cep.plan.nodes import Complex, Event, Operator, Pattern, Plan, Ref, Sequence, leaves
from cep.plan.query import Query
from tests.reference.plans import is_signal


@dataclass(frozen=True, slots=True)
class ChangeCase:
    """Rules before and after, and both together."""

    before: Plan
    after: Plan
    together: Plan


@st.composite
def changes(draw: st.DrawFn, plan: Plan) -> ChangeCase:
    """Each operator is in the old rules, in the new ones or in both; what needs it goes with it.

    Numbers of events are others in the new rules, and queues are never too small: an event that
    is only in some of the rules shall not make another one leave.
    """
    roomy = tuple(replace(engine, events_max=1_000_000) for engine in plan.engines)
    plan = replace(plan, engines=roomy)
    homes = {op.name: draw(st.sampled_from("bbbon")) for op in plan.operators}
    old = part_of(plan, {name for name, home in homes.items() if home in "bo"})
    new = part_of(plan, {name for name, home in homes.items() if home in "bn"})
    return ChangeCase(old, _renumbered(new), plan)


def part_of(plan: Plan, names: Collection[str]) -> Plan:
    """The plan without other operators, nor those that need them."""
    kept = {op.name for op in plan.operators if op.name in names}
    made = {op.name for op in plan.operators if not isinstance(op, Query) or is_signal(op)}
    while True:
        operators = [op for op in plan.operators if op.name in kept]
        left = {op.name for op in operators if _needed(op, made) <= kept}
        if left == kept:
            break
        kept = left
    return replace(
        plan,
        streams=tuple(one for one in plan.streams if one.name not in made - kept),
        operators=tuple(operators),
        chained=tuple(one for one in plan.chained if one.complex in kept),
    )


def _needed(operator: Operator, made: Collection[str]) -> set[str]:
    """Names of operators without which this one means nothing; `made` are those with a stream."""
    match operator:
        case Event():
            return {*operator.opposites, *{operator.source}.intersection(made)}
        case Complex():
            refs = (*leaves(operator.pattern), *_absent(operator.pattern), *operator.forbid)
            return {ref.event for ref in refs}
        case Query():
            return {one.stream for one in operator.inputs}.intersection(made)


def _absent(pattern: Pattern) -> tuple[Ref, ...]:
    if not hasattr(pattern, "left"):
        return ()
    own = pattern.absent if isinstance(pattern, Sequence) else ()
    return (*own, *_absent(pattern.left), *_absent(pattern.right))


def _renumbered(plan: Plan) -> Plan:
    """Numbers in the opposite order."""
    named = [*plan.chained, *reversed(plan.events), *reversed(plan.complexes)]
    numbers = {id(one): number for number, one in enumerate(named, start=1)}
    return replace(
        plan,
        operators=tuple(
            replace(op, number=numbers[id(op)]) if isinstance(op, Event | Complex) else op
            for op in plan.operators
        ),
        chained=tuple(replace(one, number=numbers[id(one)]) for one in plan.chained),
    )
