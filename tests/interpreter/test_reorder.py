"""The reorder stage against sorting by time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cep.interpreter.context import Context, Shared
from cep.interpreter.reorder import ReorderStage
from cep.interpreter.rows import Chunk, Row
from cep.plan.nodes import Reorder

DELAY_MS = 50


def stage() -> ReorderStage:
    return ReorderStage(Reorder(DELAY_MS, "late"), Context(Shared(compat=False), "/stream"))


def pushed(stage: ReorderStage, times: list[int]) -> tuple[Chunk, Chunk]:
    """(rows that went on, rows that were late); values are the positions of the rows."""
    passed: Chunk = []
    late: Chunk = []
    for position, time_ms in enumerate(times):
        on_time, too_late = stage.push([Row(time_ms, [position])])
        passed += on_time
        late += too_late
    return passed, late


@given(st.lists(st.integers(0, 300)))
def test_rows_leave_in_order_of_time_and_none_is_lost(times: list[int]) -> None:
    whole = stage()
    passed, late = pushed(whole, times)
    passed += whole.flush()
    newest, expected_late = -(10**9), []
    for position, time_ms in enumerate(times):
        if time_ms < newest - DELAY_MS:
            expected_late.append(position)
        newest = max(newest, time_ms)
    assert [row.values[0] for row in late] == expected_late
    on_time = [position for position in range(len(times)) if position not in expected_late]
    assert [row.values[0] for row in passed] == sorted(on_time, key=times.__getitem__)


@given(st.lists(st.integers(0, 300)), st.data())
def test_a_restored_stage_goes_on_as_the_first(times: list[int], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(times)))
    first, second = stage(), stage()
    pushed(first, times[:cut])
    second.restore(first.state())
    for name in ("passed", "late"):
        index = 0 if name == "passed" else 1
        one, two = stage(), stage()
        one.restore(first.state())
        two.restore(second.state())
        ours = pushed(one, times[cut:])[index] + one.flush()
        theirs = pushed(two, times[cut:])[index] + two.flush()
        assert [row.time for row in ours] == [row.time for row in theirs]


def test_time_that_passes_lets_rows_go() -> None:
    waiting = stage()
    assert pushed(waiting, [100, 90]) == ([], [])
    assert waiting.advance(139) == []
    assert [row.time for row in waiting.advance(150)] == [90, 100]
