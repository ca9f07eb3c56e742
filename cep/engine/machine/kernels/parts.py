"""What a match has made is handed on: what is complete, and what ran out of time."""

from __future__ import annotations

from cep.engine.machine.jit import inner
from cep.engine.machine.kernels.match_words import REPORTED
from cep.engine.machine.kernels.words import (
    ARGUMENTS,
    BREAK,
    CHUNK,
    COUNT,
    CURRENT,
    CURSOR,
    KIND,
    NEXT,
    NODE,
    PLACE,
    WIDTH,
    WORK_TOP,
    Floats,
    Ints,
)
from cep.engine.machine.kernels.work import frame_room, pop, push, row_at, top_frame

PARTS_REPORTS = ARGUMENTS
"""The node of rows that ran out of time."""


@inner
def kind_at(i: Ints, p: Ints, frame: int, place: int) -> int:
    """The kind of a row of a frame."""
    return i[0, row_at(i, i[0, frame + CHUNK] + place * p[i[0, frame + NODE] + WIDTH]) + KIND]


@inner
def next_of(i: Ints, p: Ints, frame: int, place: int, reported: bool) -> int:
    """The place of the next row that is to be reported, or that is not; the number of rows if there
    is none."""
    while place < i[0, frame + COUNT]:
        if (kind_at(i, p, frame, place) & REPORTED != 0) == reported:
            return place
        place += 1
    return place


@inner
def step_parts(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Hand on chunk by chunk what a match has made, each done before the next: first what ran out
    of time, to where that is wanted, then what is complete.
    """
    if not frame_room(i, 1):
        return False
    frame = top_frame(i)
    node, count, cursor = i[0, frame + NODE], i[0, frame + COUNT], i[0, frame + CURSOR]
    width, place = p[node + WIDTH], i[0, frame + PLACE]
    following, first, last = p[node + PARTS_REPORTS], count, count
    if 0 < cursor <= count:  # the latest report has been taken
        i[0, row_at(i, i[0, frame + CHUNK] + (cursor - 1) * width) + KIND] = REPORTED | BREAK
    if cursor < count:
        first = next_of(i, p, frame, cursor, True)
        last = min(first + 1, count)
        i[0, frame + CURSOR] = last if first < count else count
    if first == count:
        following, first = p[node + NEXT], next_of(i, p, frame, max(cursor - count, 0), False)
        if first == count:
            pop(i, frame)
            return True
        last = first + 1
        while last < count and not kind_at(i, p, frame, last) & BREAK:
            last += 1
        i[0, frame + CURSOR] = count + last
    chunk = i[0, frame + CHUNK] + first * width
    i[0, row_at(i, chunk) + KIND] = CURRENT
    push(i, following, place, chunk, last - first, i[0, WORK_TOP])
    return True
