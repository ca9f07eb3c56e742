"""Every scalar function there is, in every engine: nothing here names one but to leave it out."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from cep.database.dialects import DIALECTS
from cep.database.program import build, prepared
from cep.engine.coverage import why_not_generated
from cep.lang import RuleError
from cep.plan.functions import SCALARS, Scalar
from cep.plan.signatures import Parameter
from cep.plan.types import Type
from tests.functions.everywhere import interpreted, native, rows, rules

STATEMENT = "from S[n != 2] select {call} as v insert into O;"
VALUES = ("x", "n", "t", "k", "f")
"""A double, an int, a long, a string and a truth."""
RANDOM = {"UUID"}
each = pytest.mark.parametrize("one", SCALARS, ids=lambda one: one.name)


def arguments(parameter: Parameter) -> tuple[str, ...]:
    """What a parameter may be given."""
    if parameter.choices:
        return tuple(f"'{choice}'" for choice in parameter.choices)
    if parameter.types == (Type.OBJECT,):
        return ("createSet(k)",)
    return (*VALUES, "3", "2.5", "'a'")


def calls(one: Scalar) -> Iterator[str]:
    """Calls with arguments of each kind."""
    taken = (arguments(parameter) for parameter in one.signature.parameters)
    for given in product(*taken):
        yield f"{one.name}({', '.join(given)})"


def compilable(one: Scalar) -> list[str]:
    """The calls that rules may have, of ten kinds at the most."""
    found: list[str] = []
    for call in calls(one):
        try:
            plan = rules(call, (STATEMENT,))
        except RuleError:
            continue
        if plan.queries[0].schema.attributes[0].type is not Type.OBJECT:
            found.append(call)
        if len(found) == 10:
            break
    return found


@each
def test_it_says_the_same_compiled(one: Scalar) -> None:
    some, found = rows(30), compilable(one)
    if one.name in RANDOM:
        pytest.skip("it says something else each time")
    for call in found:
        plan = rules(call, (STATEMENT,))
        assert native(plan, some) == interpreted(plan, some), call


@each
def test_a_module_runs_it_or_refuses_it_by_name(one: Scalar) -> None:
    for call in compilable(one):
        reasons = why_not_generated(rules(call, (STATEMENT,))).values()
        assert all(one.name in why or "createSet" in why for why in reasons), call
        assert reasons or one.native is not None or "eventTimestamp" in call


@each
@pytest.mark.parametrize("name", DIALECTS)
def test_a_database_runs_it_or_refuses_it_by_name(one: Scalar, name: str) -> None:
    for call in compilable(one):
        wanted = prepared(rules(call, (STATEMENT,)))
        refused = build(wanted, wanted.plan.made, DIALECTS[name]).refused
        # texts of numbers are those of `convert`
        known = (one.name, "createSet", "convert of ")
        assert all(any(name in why for name in known) for why in refused.values()), call
