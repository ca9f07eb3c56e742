"""Every aggregator there is, in every engine: nothing here names one."""

from __future__ import annotations

import pytest

from cep.database.dialects import DIALECTS
from cep.database.program import build, prepared
from cep.engine.codegen.aggregates import native_of
from cep.engine.coverage import why_not_generated
from cep.lang import RuleError
from cep.plan import compile_rules
from cep.plan.expressions import Aggregate
from cep.plan.functions import AGGREGATORS, EXAMPLE, Aggregator
from tests.functions.everywhere import INTERPRETED, interpreted, native, rows, rules

WINDOW = "from S#window.time(5 sec) select {call} as v insert into O;"
CALENDAR = (
    "define aggregation A from S select k, {call} as v group by k aggregate by t every sec, min;"
)
each = pytest.mark.parametrize("one", AGGREGATORS, ids=lambda one: one.name)


def planned(one: Aggregator) -> Aggregate:
    [aggregate] = rules(one.example, (WINDOW,)).queries[0].aggregates
    return aggregate


@each
def test_it_says_the_same_compiled_and_after_a_snapshot(one: Aggregator) -> None:
    plan, some = rules(one.example), rows()
    expected = interpreted(plan, some)
    assert native(plan, some) == expected
    assert native(plan, some, cut=50) == expected
    assert any(": None" not in line for line in expected)


@each
def test_a_module_runs_it_or_refuses_it_by_name(one: Aggregator) -> None:
    reasons = why_not_generated(rules(one.example))
    how = native_of(planned(one))
    if isinstance(how, str):
        assert set(reasons.values()) == {how}
        assert f"`{one.name}`" in how
    else:
        assert not reasons


@each
def test_it_goes_on_where_rows_leave_or_come_together(one: Aggregator) -> None:
    plan, some = rules(one.example, INTERPRETED), rows()
    assert native(plan, some, cut=50) == interpreted(plan, some)


@each
@pytest.mark.parametrize("name", DIALECTS)
def test_a_database_runs_it_or_refuses_it_by_name(one: Aggregator, name: str) -> None:
    wanted = prepared(rules(one.example, (WINDOW,)))
    reasons = list(build(wanted, wanted.plan.made, DIALECTS[name]).refused.values())
    if one.sql is None and not one.of_rows:
        [reason] = reasons
        assert one.name in reason or "sets are not values" in reason
    else:
        assert reasons == []


@each
def test_it_is_had_per_calendar_unit_or_that_is_refused_by_name(one: Aggregator) -> None:
    text = (EXAMPLE + CALENDAR).format(call=one.example)
    if one.is_calendar:
        [made] = compile_rules(text, "rules.cep").aggregations
        assert [found.function for found in made.aggregates] == [one.name]
        return
    with pytest.raises(RuleError, match=f"`{one.name}` cannot be aggregated over calendar units"):
        compile_rules(text, "rules.cep")


@pytest.mark.campaign
def test_machine_code_says_the_same() -> None:
    """All that are compiled, in one module."""
    calls = [one.example for one in AGGREGATORS if not isinstance(native_of(planned(one)), str)]
    selected = ", ".join(f"{call} as c{number}" for number, call in enumerate(calls))
    statements = tuple(
        line.format(selected=selected)
        for line in (
            "from S#window.length(5) select {selected} insert into Last;",
            "from S#window.time(9 milliseconds) select {selected} group by k insert into Grouped;",
        )
    )
    plan, some = rules("", statements), rows()
    assert native(plan, some, jit=True) == interpreted(plan, some)
