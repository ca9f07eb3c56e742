"""Rule 19: number, time and bind columns of every queued event are exposed."""

from __future__ import annotations

from hypothesis import assume, given

from cep.engine.native import Compiled
from cep.engine.queues import queue
from cep.plan.nodes import Plan
from tests.engine.test_against_reference import examples
from tests.reference.engine import NATIVE, Reference
from tests.reference.generate_rows import SourceRow, cases


@examples(200)
@given(cases())
def test_queues_are_those_of_the_reference(case: tuple[Plan, list[SourceRow]]) -> None:
    plan, rows = case
    assume(not any(found.bound for found in plan.complexes))  # which no module keeps
    run, expected = Compiled(plan, jit=False).start(mode="sorted"), Reference(plan, like=NATIVE)
    for row in rows:
        run.push_row(*row)
        expected.push(*row)
    for engine in plan.engines:
        binder = expected.binders[engine.name]
        keys = list(binder.queues)
        queued = sorted(q for key in keys for q in _reference_rows(expected, engine.name, key))
        found = [(q.seq, q.number, q.time_msc, q.binds) for q in queue(run, engine.name)]
        assert found == queued


def _reference_rows(
    reference: Reference, engine: str, key: str | None
) -> list[tuple[int, int, int, tuple[int, ...]]]:
    """The naive queue with complex events as numbers."""
    complexes = {found.name: found for found in reference.plan.complexes}
    return [
        (
            queued.seq,
            queued.event.number,
            queued.event.time_msc,
            tuple(reference._number(complexes[name], bound) for name, bound in queued.bound),
        )
        for queued in reference.binders[engine].queues[key].events
    ]
