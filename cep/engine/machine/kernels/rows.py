"""What windows share: rows that they hold in rings, and chunks that they make of them."""

from __future__ import annotations

from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.memory import ring_cell
from cep.engine.machine.kernels.words import (
    ARGUMENTS,
    BREAK,
    CHUNK,
    COUNT,
    CURRENT,
    CURSOR,
    EXPIRED,
    KIND,
    NEXT,
    NODE,
    PLACE,
    RING,
    RING_HEAD,
    RING_TAIL,
    WIDER,
    WIDTH,
    WORK_TOP,
    Floats,
    Ints,
)
from cep.engine.machine.kernels.work import (
    as_kind,
    copied,
    frame_room,
    hand_on_same,
    made,
    push,
    row_at,
    top_frame,
)

# The first arguments of windows: the words of a row that they hold; whether what follows has a use
# for rows that leave, which are not made otherwise.
WINDOW_WORDS, WINDOW_LEAVERS = ARGUMENTS, ARGUMENTS + 1
IS_MIXED = RING
"""Behind the ring of a window by time, in the order in which rows leave: whether that is not the
order in which they came."""


@inline
def row_of(i: Ints, p: Ints, frame: int, place: int) -> int:
    """The address of a row of the chunk that a frame gets."""
    return row_at(i, i[0, frame + CHUNK] + place * p[i[0, frame + NODE] + WIDTH])


@inline
def appended(i: Ints, ring: int, row: int, words: int) -> int:
    """Put a row behind those of a ring, which has room for it; its address there."""
    cell = ring_cell(i, ring, i[0, ring + RING_TAIL], words)
    copied(i, row, cell, words)
    i[0, ring + RING_TAIL] += 1
    return cell


@inline
def emptied(i: Ints, ring: int) -> None:
    """Let go all rows of a ring; its memory stays, as as many will come."""
    i[0, ring + RING_HEAD] = i[0, ring + RING_TAIL]


@inner
def swapped(i: Ints, one: int, other: int) -> None:
    """Two rings change places."""
    for word in range(4):
        held = i[0, one + word]
        i[0, one + word] = i[0, other + word]
        i[0, other + word] = held


@inner
def all_put(i: Ints, p: Ints, frame: int, ring: int) -> None:
    """The rows of a ring as they are, for which there is room."""
    node = i[0, frame + NODE]
    words = p[node + WINDOW_WORDS]
    for position in range(i[0, ring + RING_HEAD], i[0, ring + RING_TAIL]):
        copied(i, ring_cell(i, ring, position, words), made(i, frame, p[node + WIDER]), words)


@inner
def all_left(i: Ints, p: Ints, frame: int, ring: int, time_ms: int) -> None:
    """The rows of a ring, for which there is room, as they leave at a time; they stay in it."""
    words = p[i[0, frame + NODE] + WINDOW_WORDS]
    if p[i[0, frame + NODE] + WINDOW_LEAVERS]:
        for position in range(i[0, ring + RING_HEAD], i[0, ring + RING_TAIL]):
            as_left(i, p, frame, ring_cell(i, ring, position, words), time_ms)


@inline
def as_left(i: Ints, p: Ints, frame: int, row: int, time_ms: int) -> None:
    """One row, for which there is room, as it leaves at a time, if anybody has a use for it."""
    node = i[0, frame + NODE]
    if p[node + WINDOW_LEAVERS]:
        out = made(i, frame, p[node + WIDER])
        copied(i, row, out, p[node + WINDOW_WORDS])
        as_kind(i, out, time_ms, EXPIRED)


@inline
def chunk_begun(i: Ints, first: int) -> None:
    """Rows made from a distance on, if any, are a chunk of their own."""
    if i[0, WORK_TOP] > first:
        i[0, row_at(i, first) + KIND] |= BREAK


@inline
def is_current(i: Ints, row: int) -> bool:
    return i[0, row + KIND] == CURRENT


@inner
def step_split(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Hand on chunk by chunk what a node has made, each done before the next."""
    node = i[0, frame + NODE]
    first, count, width = i[0, frame + CURSOR], i[0, frame + COUNT], p[node + WIDTH]
    past = first + 1
    while past < count and not i[0, row_of(i, p, frame, past) + KIND] & BREAK:
        past += 1
    if past < count and not frame_room(i, 1):
        return False
    frame = top_frame(i)  # the stack may have moved
    chunk = i[0, frame + CHUNK] + first * width
    i[0, row_at(i, chunk) + KIND] &= BREAK - 1
    if past == count:  # the last one takes the frame's place
        i[0, frame + CHUNK] = chunk
        hand_on_same(i, frame, p[node + NEXT], count - first)
        return True
    i[0, frame + CURSOR] = past
    push(i, p[node + NEXT], i[0, frame + PLACE], chunk, past - first, i[0, WORK_TOP])
    return True
