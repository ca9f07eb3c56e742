"""Late rows in windows by time, joins and all: compiled as interpreted, whatever the batches."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from cep.engine.native import Compiled
from cep.engine.snapshot import restore, take
from cep.interpreter.run import InterpretedRun
from cep.plan import compile_rules
from tests.campaign import examples
from tests.engine.late_apps import Case, batches, encoded, late_cases
from tests.engine.test_joins import by_stream

MANY = settings(
    max_examples=examples(500),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    database=None,
)
FEW = settings(MANY, max_examples=examples(12))


def native(case: Case, jit: bool) -> list[dict[str, Any]]:
    """In batches, saved and restored in front of one of them."""
    rules = Compiled(compile_rules(case.text, "late.cep"), jit=jit)
    run, found = rules.start(mode=case.mode), []
    for number, rows in enumerate(batches(case)):
        if number == case.saved:
            run = restore(rules, take(run))
        found += run.feed(encoded(run, rows)).dicts()
    return found


def meant(case: Case) -> list[dict[str, Any]]:
    run = InterpretedRun(compile_rules(case.text, "late.cep"), mode=case.mode)
    return [out for row in case.rows for out in run.push_row(*row)]


@MANY
@given(late_cases())
def test_late_rows_in_plain_mode(case: Case) -> None:
    assert by_stream(native(case, jit=False)) == by_stream(meant(case))


@pytest.mark.campaign
@pytest.mark.slow
@FEW
@given(late_cases())
def test_late_rows_in_machine_code(case: Case) -> None:
    assert by_stream(native(case, jit=True)) == by_stream(meant(case))
