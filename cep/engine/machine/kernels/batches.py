"""Windows that send rows a batch at a time: by number, as they come together, by a calendar.

The batch sent last is kept, and leaves when the next one goes out; joins find it.
"""

from __future__ import annotations

from cep.engine.machine.jit import inner
from cep.engine.machine.kernels.calendars import time_after
from cep.engine.machine.kernels.memory import ring_cell, ring_length, ring_room, ring_room_for
from cep.engine.machine.kernels.rows import (
    WINDOW_WORDS,
    all_left,
    all_put,
    appended,
    as_left,
    chunk_begun,
    emptied,
    row_of,
    swapped,
)
from cep.engine.machine.kernels.timers import next_turn, set_timer, timer_room
from cep.engine.machine.kernels.words import (
    ARGUMENTS,
    COUNT,
    CURSOR,
    DUE,
    KIND,
    NEXT,
    NODE,
    NOW,
    PLACE,
    RANK,
    RESET,
    RING,
    RING_HEAD,
    STATE,
    WIDER,
    WORK_TOP,
    Floats,
    Ints,
)
from cep.engine.machine.kernels.work import as_kind, copied, hand_on, made, work_room

# A node, behind what all windows have: the cell of the number of rows, whether rows go on at once;
# of a calendar its schedule.
BATCH_LENGTH, BATCH_STREAMS, BATCH_CALENDAR = ARGUMENTS + 2, ARGUMENTS + 3, ARGUMENTS + 2

# The state: the batch sent last, the rows since. Of rows that come together: the batch sent last,
# whether there is a row that resets, and that row.
SENT, WAITING, BATCH_STATE = 0, RING, 2 * RING
HAS_RESET, RESET_ROW = RING, RING + 1


@inner
def step_length_batch(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """So many rows go out together, or a row ends the batch before it and goes on at once."""
    node = i[0, frame + NODE]
    length, streams = i[0, p[node + BATCH_LENGTH]], p[node + BATCH_STREAMS]
    while i[0, frame + CURSOR] < i[0, frame + COUNT]:
        if length == 0:
            done = went_through(i, p, frame)
        elif streams:
            done = went_on(i, p, frame, length)
        else:
            done = collected(i, p, frame, length)
        if not done:
            return False
        i[0, frame + CURSOR] += 1
    hand_on(i, frame, p[node + NEXT])
    return True


@inner
def went_through(i: Ints, p: Ints, frame: int) -> bool:
    """A batch without rows: the row comes, leaves, and takes the aggregates with it."""
    if not work_room(i, 3 * p[i[0, frame + NODE] + WIDER]):
        return False
    row, began = row_of(i, p, frame, i[0, frame + CURSOR]), i[0, WORK_TOP]
    copied(
        i, row, made(i, frame, p[i[0, frame + NODE] + WIDER]), p[i[0, frame + NODE] + WINDOW_WORDS]
    )
    as_left(i, p, frame, row, i[0, NOW])
    reset_put(i, p, frame, row, i[0, NOW])
    chunk_begun(i, began)
    return True


@inner
def reset_put(i: Ints, p: Ints, frame: int, row: int, time_ms: int) -> None:
    """A row, for which there is room, that resets aggregates."""
    node = i[0, frame + NODE]
    out = made(i, frame, p[node + WIDER])
    copied(i, row, out, p[node + WINDOW_WORDS])
    as_kind(i, out, time_ms, RESET)


@inner
def collected(i: Ints, p: Ints, frame: int, length: int) -> bool:
    """The row under way waits; the last of a batch sends all."""
    node = i[0, frame + NODE]
    state, words = i[0, frame + PLACE] + p[node + STATE], p[node + WINDOW_WORDS]
    is_full = ring_length(i, state + WAITING) + 1 >= length
    if not ring_room(i, state + WAITING, words):
        return False
    rows = ring_length(i, state + SENT) + ring_length(i, state + WAITING) + 2
    if is_full and not work_room(i, rows * p[node + WIDER]):
        return False
    appended(i, state + WAITING, row_of(i, p, frame, i[0, frame + CURSOR]), words)
    if is_full:
        began = i[0, WORK_TOP]
        all_left(i, p, frame, state + SENT, i[0, NOW])
        first = ring_cell(i, state + WAITING, i[0, state + WAITING + RING_HEAD], words)
        reset_put(i, p, frame, first, i[0, NOW])
        all_put(i, p, frame, state + WAITING)
        chunk_begun(i, began)
        emptied(i, state + SENT)
        swapped(i, state + SENT, state + WAITING)
    return True


@inner
def went_on(i: Ints, p: Ints, frame: int, length: int) -> bool:
    """The row under way goes on at once; the first of a batch lets the one before it leave."""
    node = i[0, frame + NODE]
    sent, words = i[0, frame + PLACE] + p[node + STATE] + SENT, p[node + WINDOW_WORDS]
    if not ring_room(i, sent, words) or not work_room(
        i, (ring_length(i, sent) + 2) * p[node + WIDER]
    ):
        return False
    began = i[0, WORK_TOP]
    if ring_length(i, sent) == length:
        all_left(i, p, frame, sent, i[0, NOW])
        reset_put(i, p, frame, ring_cell(i, sent, i[0, sent + RING_HEAD], words), i[0, NOW])
        emptied(i, sent)
    row = row_of(i, p, frame, i[0, frame + CURSOR])
    appended(i, sent, row, words)
    copied(i, row, made(i, frame, p[node + WIDER]), words)
    chunk_begun(i, began)
    return True


@inner
def step_batch(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """The rows that come together let those of the chunk before leave; so many of them at most."""
    node = i[0, frame + NODE]
    state, words = i[0, frame + PLACE] + p[node + STATE], p[node + WINDOW_WORDS]
    count, length = i[0, frame + COUNT], i[0, p[node + BATCH_LENGTH]]
    size = count if length == 0 else length
    rows = ring_length(i, state) + count + (count + size - 1) // size
    if not ring_room_for(i, state, words, count) or not work_room(i, rows * p[node + WIDER]):
        return False
    began, reset = i[0, WORK_TOP], state + RESET_ROW
    all_left(i, p, frame, state, i[0, NOW])
    emptied(i, state)
    for place in range(count):
        row = row_of(i, p, frame, place)
        if place % size == 0:
            if place > 0:
                chunk_begun(i, began)
                began = i[0, WORK_TOP]
            if i[0, state + HAS_RESET]:
                copied(i, reset, made(i, frame, p[node + WIDER]), words)
            copied(i, row, reset, words)
            i[0, reset + KIND] = RESET
            i[0, state + HAS_RESET] = 1
        appended(i, state, row, words)
        copied(i, row, made(i, frame, p[node + WIDER]), words)
    chunk_begun(i, began)
    hand_on(i, frame, p[node + NEXT])
    return True


@inner
def step_calendar(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """At each time of a calendar the rows sent last leave, and those since then go out."""
    node, count = i[0, frame + NODE], i[0, frame + COUNT]
    state, words = i[0, frame + PLACE] + p[node + STATE], p[node + WINDOW_WORDS]
    if count == DUE:
        rows = ring_length(i, state + SENT) + ring_length(i, state + WAITING)
        if not work_room(i, rows * p[node + WIDER]):
            return False
        all_left(i, p, frame, state + SENT, i[0, NOW])
        all_put(i, p, frame, state + WAITING)
        emptied(i, state + SENT)
        swapped(i, state + SENT, state + WAITING)
    else:
        if not timer_room(i, 1) or not ring_room_for(i, state + WAITING, words, count):
            return False
        if ring_length(i, state + WAITING) == 0:
            due = time_after(p, p[node + BATCH_CALENDAR], i[0, NOW])
            place = i[0, frame + PLACE]
            if due >= 0:
                set_timer(i, due, p[node + RANK], i[0, place], next_turn(i), node, place)
        for number in range(count):
            appended(i, state + WAITING, row_of(i, p, frame, number), words)
    hand_on(i, frame, p[node + NEXT])
    return True
