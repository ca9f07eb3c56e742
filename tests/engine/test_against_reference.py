"""The native engine against the naive reference, on generated rules and input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import HealthCheck, given, settings

from cep.engine.native import Compiled
from cep.plan.nodes import Plan
from tests import campaign
from tests.engine.binder_only import BinderOnly, RecordingReference, on_source_rows
from tests.reference.engine import NATIVE, Reference
from tests.reference.generate_queries import query_plans, query_rows
from tests.reference.generate_rows import SourceRow, cases

Row = dict[str, Any]


def examples(count: int) -> settings:
    return settings(
        max_examples=campaign.examples(count),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


def native(plan: Plan, rows: Sequence[SourceRow], **options: Any) -> list[Row]:
    run = Compiled(plan, **options).start(mode="sorted")
    return [found for row in rows for found in run.push_row(*row).dicts()]


def reference(plan: Plan, rows: Sequence[SourceRow]) -> list[Row]:
    engine = Reference(plan, like=NATIVE)
    return [found for row in rows for found in engine.push(*row)]


@examples(2000)
@given(cases())
def test_rule_sets_in_plain_mode(case: tuple[Plan, list[SourceRow]]) -> None:
    plan, rows = case
    assert native(plan, rows, jit=False) == reference(plan, rows)


@examples(2000)
@given(cases())
def test_binder_compiled_by_numba(case: tuple[Plan, list[SourceRow]]) -> None:
    """The binder's kernels are the same for all rules, so thousands of rule sets compile once."""
    plan, rows = on_source_rows(case[0]), case[1]
    expected = RecordingReference(plan, like=NATIVE)
    binder = BinderOnly(plan)
    for row in rows:
        found = expected.push(*row)
        bound = [one for one in found if one["stream"] in binder.streams]
        assert binder.feed(expected.raised, expected.keys) == bound


@examples(500)
@given(query_plans(), query_rows(moderate=True))
def test_queries_in_plain_mode(plan: Plan, rows: list[SourceRow]) -> None:
    assert native(plan, rows, jit=False) == reference(plan, rows)
