"""The heap of timers: what is due comes in order, whatever was set and taken before."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cep.engine.jit import plain
from cep.engine.machine.kernels import timers
from cep.engine.machine.kernels.words import (
    CLOCK,
    DUE_MS,
    DUE_TURN,
    DUE_WORDS,
    HEAP_AT,
    HEAP_COUNT,
    HEAP_IS_MIXED,
    HEAP_ROOM,
    TIMERS,
    TOP,
)

set_timer: Any = plain(timers.set_timer)
timer_taken: Any = plain(timers.timer_taken)
heap_room: Any = plain(timers.heap_room)
FIRST, WORDS = 1_000, 100_000
FEW = 3 * DUE_WORDS
"""A heap that has to be moved often."""
TIMES = st.one_of(st.none(), st.tuples(st.integers(0, 9), st.integers(0, 2)))


def run(steps: list[tuple[int, int] | None], *, in_order: bool) -> None:
    """None takes the first; a pair sets one, due at a time, `in_order` the later the later it is
    set, and of a rank.
    """
    i = np.zeros((1, WORDS), np.int64)
    i[0, CLOCK], i[0, TIMERS + HEAP_AT], i[0, TIMERS + HEAP_ROOM] = TIMERS, FIRST, FEW
    i[0, TOP] = FIRST + FEW
    waiting: list[tuple[int, int, int, int]] = []
    for turn, step in enumerate([*steps, *[None] * len(steps)]):
        if step is not None:
            due_ms, rank = step
            due_ms += turn * 10 * in_order
            assert heap_room(i, TIMERS, 1)
            set_timer(i, due_ms, rank, 0, turn, 7, 8)
            waiting.append((due_ms, rank, 0, turn))
            assert not (in_order and i[0, TIMERS + HEAP_IS_MIXED])
        elif waiting:
            first = i[0, TIMERS + HEAP_AT] + DUE_MS
            assert tuple(i[0, first : first + DUE_TURN + 1]) == min(waiting)
            waiting.remove(min(waiting))
            timer_taken(i, TIMERS)
        assert i[0, TIMERS + HEAP_COUNT] == len(waiting)


@given(st.lists(TIMES, max_size=80))
def test_what_is_due_comes_in_order(steps: list[tuple[int, int] | None]) -> None:
    run(steps, in_order=False)


@given(st.lists(TIMES, max_size=80))
def test_what_is_set_in_order_stays_in_order(steps: list[tuple[int, int] | None]) -> None:
    run(steps, in_order=True)
