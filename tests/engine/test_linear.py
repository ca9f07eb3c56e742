"""Which matches are compiled, and the reason given for those that are not."""

from __future__ import annotations

import pytest

from cep.engine.coverage import why_not_generated
from cep.plan import compile_rules

STREAM = "define stream S (symbol string, mid double, volume int);\n"
SELECTED = " select e1.mid as m insert into Out;"

COMPILED = [
    "from e1=S",
    "from every e1=S -> e2=S[mid > e1.mid]",
    "from every (e1=S -> e2=S) -> e3=S within 1 min",
    "from every e1=S -> (e2=S -> e3=S) within 1 min",
    "from every e1=S, e2=S, e3=S[e1.volume - volume == 3] within 1 min",
    "@bound(partials='2') from every e1=S, e2=S, e3=S",
]
INTERPRETED_FOR = {
    "from every e1=S<2:3> -> e2=S": "counts events",
    "from every e1=S, e2=S+, e3=S": "counts events",
    "from every e1=S -> not S[mid > 1.0] for 1 min": "absence",
    "from every e1=S -> e2=S and e3=S": "`and` or `or`",
    "from e1=S -> every e2=S": "behind its first event",
    "@expired(stream='Late') from every e1=S -> e2=S within 1 min": "@expired",
    "from every e1=S#log('x') -> e2=S": "stream functions",
    "@bound(partials='1') from every e1=S, e2=S, e3=S": "more partial matches than `@bound`",
}


@pytest.mark.parametrize("start", COMPILED)
def test_modules_run_chains_of_single_events(start: str) -> None:
    plan = compile_rules(STREAM + start + SELECTED, "rules.cep")
    assert not why_not_generated(plan)


@pytest.mark.parametrize(("start", "why"), INTERPRETED_FOR.items())
def test_the_rest_is_in_no_module_and_says_why(start: str, why: str) -> None:
    plan = compile_rules(STREAM + start + SELECTED, "rules.cep")
    (reason,) = why_not_generated(plan).values()
    assert why in reason


def test_the_reference_with_its_defects_is_in_no_module() -> None:
    text = f"@app:compat('siddhi')\n{STREAM}{COMPILED[1]}{SELECTED}"
    (reason,) = why_not_generated(compile_rules(text, "rules.cep")).values()
    assert "@app:compat" in reason


@pytest.mark.parametrize(
    ("reader", "why"),
    [
        ("from Out[m > 1.0] select m * 2.0 as n insert into Last;", None),
        ("from Out#window.length(2) select sum(m) as n insert into Last;", "any number of rows"),
        ("from every e1=Out -> e2=Out select e1.m as n insert into Last;", "any number of rows"),
    ],
)
def test_what_reads_a_pattern_keeps_nothing(reader: str, why: str | None) -> None:
    plan = compile_rules(f"{STREAM}{COMPILED[1]}{SELECTED}\n{reader}", "rules.cep")
    reasons = why_not_generated(plan)
    assert why in reasons[plan.queries[1].name] if why else not reasons


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ("symbol of S", None),
        ("volume of S", "not by symbol"),
        ("mid > 1.0 as 'high' or mid <= 1.0 as 'low' of S", "key"),
    ],
)
def test_modules_run_partitions_by_the_key(keys: str, why: str | None) -> None:
    text = f"{STREAM}partition with ({keys}) begin {COMPILED[1]}{SELECTED} end;"
    reasons = why_not_generated(compile_rules(text, "rules.cep"))
    assert [why in reason for reason in reasons.values()] == [True] if why else not reasons


def test_a_partition_that_forgets_is_in_no_module() -> None:
    purge = "@purge(enable='true', interval='1 min', idle.period='1 hour')"
    text = f"{STREAM}{purge} partition with (symbol of S) begin {COMPILED[1]}{SELECTED} end;"
    (reason,) = why_not_generated(compile_rules(text, "rules.cep")).values()
    assert "@purge" in reason
