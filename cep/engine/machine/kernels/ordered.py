"""`sort(n, attribute, order, ..)`: the n smallest rows by attributes."""

from __future__ import annotations

from cep.engine.machine.jit import inner
from cep.engine.machine.kernels.chunks import comes_before
from cep.engine.machine.kernels.memory import ring_cell, ring_length, ring_parted, ring_room
from cep.engine.machine.kernels.rows import WINDOW_WORDS, appended, as_left, row_of
from cep.engine.machine.kernels.words import (
    ARGUMENTS,
    COUNT,
    CURSOR,
    NEXT,
    NODE,
    NOW,
    PLACE,
    RING,
    RING_HEAD,
    RING_TAIL,
    STATE,
    WIDER,
    Floats,
    Ints,
)
from cep.engine.machine.kernels.work import copied, hand_on, made, work_room

# A node, behind what all windows have: the cell of the number of rows, how many keys, where they
# stand.
SIZE, KEYS, FIRST_KEY = ARGUMENTS + 2, ARGUMENTS + 3, ARGUMENTS + 4
# The state: the rows, whether they are in order, as they are once there were too many.
IS_SORTED, SORT_STATE = RING, RING + 1


@inner
def step_sort_window(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """The worst row leaves behind the newcomer, and may be the newcomer itself."""
    node = i[0, frame + NODE]
    ring, words = i[0, frame + PLACE] + p[node + STATE], p[node + WINDOW_WORDS]
    while i[0, frame + CURSOR] < i[0, frame + COUNT]:
        if not work_room(i, 2 * p[node + WIDER]) or not ring_room(i, ring, words):
            return False
        row = row_of(i, p, frame, i[0, frame + CURSOR])
        copied(i, row, made(i, frame, p[node + WIDER]), words)
        if ring_length(i, ring) < i[0, p[node + SIZE]]:
            appended(i, ring, row, words)
        else:
            if not i[0, ring + IS_SORTED]:
                sort_all(i, f, p, node, ring)
            put_in_order(i, f, p, node, ring, row)
            i[0, ring + RING_TAIL] -= 1
            worst = ring_cell(i, ring, i[0, ring + RING_TAIL], words)
            as_left(i, p, frame, worst, i[0, NOW])
        i[0, frame + CURSOR] += 1
    hand_on(i, frame, p[node + NEXT])
    return True


@inner
def put_in_order(i: Ints, f: Floats, p: Ints, node: int, ring: int, row: int) -> None:
    """Put a row, for which there is room, behind all that are not worse. O(rows)."""
    words = p[node + WINDOW_WORDS]
    low, high = i[0, ring + RING_HEAD], i[0, ring + RING_TAIL]
    while low < high:
        middle = (low + high) // 2
        if is_worse(i, f, p, node, ring_cell(i, ring, middle, words), row):
            high = middle
        else:
            low = middle + 1
    copied(i, row, ring_parted(i, ring, low, words), words)


@inner
def is_worse(i: Ints, f: Floats, p: Ints, node: int, one: int, other: int) -> bool:
    """Whether the second row stands in front of the first one."""
    return comes_before(i, f, p, p[node + KEYS], p[node + FIRST_KEY], other, one)


@inner
def sort_all(i: Ints, f: Floats, p: Ints, node: int, ring: int) -> None:
    """Put the rows, for one more of which there is room, in order, once. O(rows squared)."""
    words = p[node + WINDOW_WORDS]
    count, i[0, ring + IS_SORTED] = ring_length(i, ring), 1
    i[0, ring + RING_TAIL] = i[0, ring + RING_HEAD]
    for _ in range(count):
        place = i[0, ring + RING_TAIL]
        spare = ring_cell(i, ring, i[0, ring + RING_HEAD] + count, words)
        copied(i, ring_cell(i, ring, place, words), spare, words)  # its place is overwritten
        put_in_order(i, f, p, node, ring, spare)
