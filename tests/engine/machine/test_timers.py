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
    HEAP_AT,
    HEAP_COUNT,
    HEAP_ROOM,
    TIMERS,
)

set_timer: Any = plain(timers.set_timer)
timer_taken: Any = plain(timers.timer_taken)
ROOM, FIRST = 4_000, 1_000


@given(st.lists(st.one_of(st.none(), st.tuples(st.integers(0, 9), st.integers(0, 2))), max_size=80))
def test_what_is_due_comes_in_order(steps: list[tuple[int, int] | None]) -> None:
    """None takes the first; a pair sets one, due at a time and of a rank."""
    i = np.zeros((1, FIRST + ROOM), np.int64)
    i[0, CLOCK], i[0, TIMERS + HEAP_AT], i[0, TIMERS + HEAP_ROOM] = TIMERS, FIRST, ROOM
    waiting: list[tuple[int, int, int, int]] = []
    for turn, step in enumerate([*steps, *[None] * len(steps)]):
        if step is not None:
            due_ms, rank = step
            set_timer(i, due_ms, rank, 0, turn, 7, 8)
            waiting.append((due_ms, rank, 0, turn))
        elif waiting:
            first = FIRST + DUE_MS
            assert tuple(i[0, first : first + DUE_TURN + 1]) == min(waiting)
            waiting.remove(min(waiting))
            timer_taken(i, TIMERS)
        assert i[0, TIMERS + HEAP_COUNT] == len(waiting)
