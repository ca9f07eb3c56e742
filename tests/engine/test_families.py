"""Queries of one shape, written once over a table of constants, against the naive reference."""

from __future__ import annotations

import pytest
from hypothesis import given

from cep.engine.native import Compiled
from cep.plan import compile_rules
from cep.plan.nodes import Plan
from tests.engine.test_against_reference import examples, native, reference
from tests.reference.generate_families import filter_plans, window_plans
from tests.reference.generate_queries import query_rows
from tests.reference.generate_rows import SourceRow


@examples(300)
@given(filter_plans(), query_rows())
def test_filters_of_one_shape(plan: Plan, rows: list[SourceRow]) -> None:
    assert native(plan, rows, jit=False) == reference(plan, rows)


@examples(300)
@given(window_plans(), query_rows(moderate=True))
def test_windows_of_one_shape(plan: Plan, rows: list[SourceRow]) -> None:
    assert native(plan, rows, jit=False) == reference(plan, rows)


@pytest.mark.parametrize("count", [4, 1000])
def test_source_grows_with_shapes_only(count: int) -> None:
    rules = "define stream S (symbol string, mid double);\n" + "\n".join(
        f"from S[symbol == '{i % 7}' and mid > {i}.5] select mid insert into Out;"
        for i in range(count)
    )
    source = Compiled(compile_rules(rules, "many"), jit=False).generated.source
    run = source[source.index("def run") :]
    assert len(run.splitlines()) < 60


def test_compiled_by_numba() -> None:
    rules = "define stream S (symbol string, mid double);\n" + "\n".join(
        f"from S[symbol == 'S{i % 3}' and mid > {40 - i}] select mid, {i} as i insert into Out;"
        for i in range(40)
    )
    values = [(f"S{i % 4}", float(i % 50)) for i in range(200)]
    rows: list[SourceRow] = [
        ("S", time, {"symbol": symbol, "mid": mid}) for time, (symbol, mid) in enumerate(values)
    ]
    plan = compile_rules(rules, "many")
    found = native(plan, rows)
    assert found == native(plan, rows, jit=False)
    assert len(found) == sum(
        mid > 40 - i and symbol == f"S{i % 3}" for symbol, mid in values for i in range(40)
    )


@pytest.mark.parametrize("count", [3, 17, 60])
def test_filters_that_hold_together_come_in_the_order_of_their_queries(count: int) -> None:
    """Found by their limits, in another order than they are written."""
    limits = [i * 7 % count for i in range(count)]
    rules = "define stream S (symbol string, mid double);\n" + "\n".join(
        f"from S[mid > {limit}] select mid, {i} as i insert into Out;"
        for i, limit in enumerate(limits)
    )
    mids = [count / 2, 0.0, count - 0.5, 1.0]
    rows: list[SourceRow] = [("S", time, {"symbol": "A", "mid": m}) for time, m in enumerate(mids)]
    found = native(compile_rules(rules, "many"), rows, jit=False)
    assert [(row["mid"], row["i"]) for row in found] == [
        (mid, i) for mid in mids for i, limit in enumerate(limits) if mid > limit
    ]
