"""A run that begins as late as the plan's memory allows goes on as the whole run does."""

from __future__ import annotations

from random import Random

import pytest

from cep.engine.native import Compiled
from cep.lang.errors import RuleError
from cep.plan import Plan, compile_rules
from cep.plan.memory import NOTHING, Memory, for_ms
from cep.plan.remembered import remembered
from tests.campaign import examples
from tests.engine.random_apps import SCHEMA
from tests.engine.remembered_apps import (
    begun,
    first_needed,
    may_cut,
    random_history,
    random_text,
    steps_of,
)

CUTS = 2
STREAMS = "".join(f"@key('k') define stream {name} {SCHEMA};" for name in "AB")


def where_parts_differ(plan: Plan, number: int, memory: Memory) -> list[int]:
    """Rows at which a part that reads what the memory says differs from the whole run."""
    rows = random_history(number, keys_for(plan.text, number))
    rules = Compiled(plan, jit=False).by_interpreter
    whole = steps_of(begun(rules, rows), rows)
    cuts = [cut for cut in range(1, len(rows)) if may_cut(memory, rows, cut)]
    differ = []
    for cut in Random(number).sample(cuts, min(CUTS, len(cuts))):
        first = first_needed(memory, rows, cut)
        part = steps_of(begun(rules, rows), rows[first:])
        if part[cut - first :] != whole[cut:]:
            differ.append(cut)
    return differ


def keys_for(text: str, number: int) -> str:
    """Of several keys whose time comes together the first is the one that first came: what follows
    from their clocks is looked at one key at a time, as parts of a run are.
    """
    return "xxyz" if number % 2 and "bars" not in text and "partition" not in text else "x"


@pytest.mark.parametrize("number", range(examples(300)))
def test_parts_are_the_whole_run(number: int) -> None:
    try:
        plan = compile_rules(random_text(number))
    except RuleError:
        return  # some that the choices make can never match
    memory = remembered(plan).plan
    assert memory.forever or where_parts_differ(plan, number, memory) == []


@pytest.mark.parametrize(
    ("text", "too_short"),
    [
        ("from A#window.time(300 milliseconds) select sum(p) as s insert into O;", for_ms(60)),
        ("from A#window.length(4) select sum(v) as s insert into O;", NOTHING),
        ("define event Up as A[p > 1.0] repeat allow;", NOTHING),
        ("from every e1=A -> e2=A[v > e1.v] within 300 milliseconds select e1.v as v"
         " insert into O;", for_ms(60)),
    ],
)  # fmt: skip
def test_too_little_is_noticed(text: str, too_short: Memory) -> None:
    """Else the test above could not fail."""
    plan = compile_rules(STREAMS + text)
    enough = remembered(plan).plan
    assert not enough.forever and not enough.silence_ms
    numbers = range(2, 12, 2)
    assert not any(where_parts_differ(plan, number, enough) for number in numbers)
    more = range(2, 80, 2)
    assert any(where_parts_differ(plan, number, too_short) for number in more)
