"""The interpreter against the naive binder, and against the native engine on sorted input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from cep.clocks import Mode
from cep.dropped import Dropped, Reason
from cep.engine.native import Compiled
from cep.interpreter.run import InterpretedRun
from cep.plan.change import PartId
from cep.plan.nodes import Plan
from tests.campaign import examples
from tests.reference.engine import Reference
from tests.reference.generate_rows import SourceRow, cases

Case = tuple[Plan, list[SourceRow]]
REASONS = {
    "rejected": Reason.REPEAT,
    "late": Reason.LATE,
    "evicted": Reason.OPPOSITE,
    "overflowed": Reason.BOUND,
}


def few(count: int) -> settings:
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
    return settings(max_examples=examples(count), deadline=None, suppress_health_check=slow)


def interpreted(
    plan: Plan, rows: Sequence[SourceRow], mode: Mode = "sorted"
) -> tuple[list[dict[str, Any]], InterpretedRun]:
    run = InterpretedRun(plan, mode=mode)
    return [found for row in rows for found in run.push_row(*row)], run


def queued(run: InterpretedRun, engine: str) -> list[Any]:
    return [(q.seq, (q.name, q.key), q.at_ms, q.bound) for q in run.interpreter.queue(engine)]


def expected_in(reference: Reference, engine: str) -> list[Any]:
    """What the naive queues hold, which may be one for each key."""
    queues = reference.binders[engine].queues.values()
    events = sorted((q for queue in queues for q in queue.events), key=lambda q: q.seq)
    return [(q.seq, q.event.identity, q.event.time_msc, q.bound) for q in events]


def expected_drops(plan: Plan, reference: Reference) -> Iterator[tuple[PartId, Reason, int]]:
    """What the naive binders have dropped."""
    events = {event.name for event in plan.events}
    for engine, binder in reference.binders.items():
        for (name, why), count in binder.dropped.items():
            if why in REASONS:
                part = ("event", name) if name in events else ("chained", f"{name}@{engine}")
                yield part, REASONS[why], count


@pytest.mark.parametrize("mode", ["sorted", "lived"])
def test_the_naive_binder_finds_the_same(mode: Mode) -> None:
    """Rows, their order and what the engines counted, late rows and several keys included."""

    @few(600)
    @given(cases())
    def compare(case: Case) -> None:
        plan, rows = case
        engine = Reference(plan, lived=mode == "lived")
        expected = [found for row in rows for found in engine.push(*row)]
        found, run = interpreted(plan, rows, mode)
        assert found == expected
        assert run.dropped == Dropped(expected_drops(plan, engine))
        for found_engine in plan.engines:
            assert queued(run, found_engine.name) == expected_in(engine, found_engine.name)

    compare()


@few(400)
@given(cases())
def test_the_native_engine_finds_the_same_on_sorted_input(case: Case) -> None:
    """Where it has one stage: else it runs what crosses keys behind what does not."""
    plan, rows = case
    rows = sorted(rows, key=lambda row: row[1])
    rules = Compiled(plan, jit=False)
    run = rules.start()
    found = [made for row in rows for made in run.push_row(*row).dicts()]
    rows_, other = interpreted(plan, rows)
    assert rows_ == found
    assert other.dropped == run.dropped
