"""Kernels write where there is room: watched where programs run uncompiled.

All blocks of a run lie in one array, so that whoever writes past the end of one changes another,
and nothing else tells.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cep.engine.jit import Around
from cep.engine.machine.kernels.streams import STREAM_OUT
from cep.engine.machine.kernels.words import (
    DEPTH,
    DUE_WORDS,
    FRAME,
    HEAP_COUNT,
    HEAP_GONE,
    HEAP_ROOM,
    OUT_ROWS,
    OUT_SIZE,
    RING_HEAD,
    RING_ROOM,
    STACK_SIZE,
    WORK_SIZE,
    WORK_TOP,
    Ints,
)


def _of_timer(i: Ints, heap: int) -> bool:
    used = i[0, heap + HEAP_GONE] + i[0, heap + HEAP_COUNT]
    return bool((used + 1) * DUE_WORDS <= i[0, heap + HEAP_ROOM])


def _of_frame(i: Ints, *_: int) -> bool:
    return bool((i[0, DEPTH] + 1) * FRAME <= i[0, STACK_SIZE])


def _of_row(i: Ints, words: int) -> bool:
    return bool(i[0, WORK_TOP] + words <= i[0, WORK_SIZE])


def _of_row_out(i: Ints, p: Ints, node: int, _: int) -> bool:
    return bool((i[0, OUT_ROWS] + 1) * p[node + STREAM_OUT] <= i[0, OUT_SIZE])


def _in_ring(i: Ints, ring: int, position: int, _: int) -> bool:
    """A ring that is full would give the place of its first row once more."""
    return bool(position - i[0, ring + RING_HEAD] < i[0, ring + RING_ROOM])


def _only_if(is_there: Callable[..., bool]) -> Around:
    def around(kernel: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*arguments: Any) -> Any:
            assert is_there(*arguments), f"{kernel.__name__} writes past the end of its block"
            return kernel(*arguments)

        return watched

    return around


WATCHED: dict[str, Around] = {
    "put_last": _only_if(_of_timer),
    "push": _only_if(_of_frame),
    "put": _only_if(_of_row),
    "row_put_out": _only_if(_of_row_out),
    "ring_cell": _only_if(_in_ring),
}
"""By the name of the kernel that writes, or that says where."""
