"""Every function, aggregator, window and stream function, called with anything."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from cep.lang import RuleError, parse
from cep.plan import compile_rules
from cep.plan.functions import AGGREGATORS, SCALARS, STREAM_FUNCTIONS
from cep.plan.signatures import Signature
from cep.plan.windows import WINDOWS

HEAD = """\
define stream S (i int, l long, f float, d double, s string, b bool, o object);
define table T (i int);
"""
ARGUMENTS = ("i", "l", "f", "d", "s", "b", "o", "0", "-1L", "2.5", "'x'", "true", "5 sec", "S", "T")
CALLED = tuple(one.signature for one in SCALARS)
HELD = tuple(one.signature for one in WINDOWS)
AGGREGATED = tuple(one.signature for one in AGGREGATORS)
SITES = {
    "scalar": (CALLED, "from S select {} as x insert into X{};"),
    "scalar in a filter": (CALLED, "from S[{} is null] select i insert into X{};"),
    "aggregator": (AGGREGATED, "from S select {} as x insert into X{};"),
    "window": (HELD, "from S#window.{} select i insert into X{};"),
    "stream function": (STREAM_FUNCTIONS, "from S#{} select i insert into X{};"),
}


def argument_lists(number_max: int) -> Iterator[tuple[str, ...]]:
    """None, then every kind once, and from two arguments on each kind with itself and others."""
    yield from ((), ("*",), ("nope",), ("coalesce()",), ("max(i)",))
    for number in range(1, number_max + 1):
        for start in range(len(ARGUMENTS)):
            rotated = ARGUMENTS[start:] + ARGUMENTS[:start]
            yield (rotated[0],) * number
            yield rotated[:number]
            yield (rotated[0], *("1",) * (number - 1))


def calls(signature: Signature) -> list[str]:
    """Calls with up to one argument more than it has parameters."""
    lists = argument_lists(len(signature.parameters) + 1)
    return [f"{signature.name}({', '.join(one)})" for one in dict.fromkeys(lists)]


@pytest.mark.parametrize("site", SITES)
def test_any_arguments_are_taken_or_refused_with_their_place(site: str) -> None:
    signatures, statement = SITES[site]
    for signature in signatures:
        lines = [statement.format(*pair) for pair in zip(calls(signature), count(), strict=False)]
        if signature is signatures[0]:
            parse(HEAD + "\n".join(lines))  # else its errors would hide what is looked for
        with pytest.raises(RuleError) as caught:
            compile_rules(HEAD + "\n".join(lines), "rules.cep")
        for error in caught.value.errors:
            assert 2 < error.line <= 2 + len(lines), signature.name
            assert 1 < error.column < len(lines[error.line - 3]), error.render()
            assert error.message


def test_a_call_without_arguments_is_offered_only_where_nothing_is_needed() -> None:
    for signature in (*CALLED, *AGGREGATED, *HELD, *STREAM_FUNCTIONS):
        if () in signature.forms:
            assert all(one.default is not None for one in signature.parameters), signature.name
