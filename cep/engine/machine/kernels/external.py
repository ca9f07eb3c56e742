"""Windows whose clock is an attribute: `externalTime` and `externalTimeBatch`.

A row without a value for the clock cannot be placed: the chunk that it came with is lost, as it is
with any reader that fails.
"""

from __future__ import annotations

from cep.engine.kernels.scalar import NULL
from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.memory import ring_cell, ring_length, ring_room, ring_room_for
from cep.engine.machine.kernels.rows import (
    WINDOW_WORDS,
    all_left,
    all_put,
    appended,
    as_left,
    chunk_begun,
    emptied,
    is_current,
    row_of,
    swapped,
)
from cep.engine.machine.kernels.timers import next_turn, set_timer, timer_room
from cep.engine.machine.kernels.words import (
    ARGUMENTS,
    CHUNK,
    COUNT,
    CURRENT,
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
from cep.engine.machine.kernels.work import as_kind, copied, hand_on, made, pop, work_room

# A node, behind what all windows have: the word of the clock, the cell of the length; then where
# batches begin: the word of an attribute or 0, a cell or 0; the cell of the timeout; whether the
# clock is replaced by the end of the batch.
CLOCK_WORD, CLOCK_SPAN, START_WORD, START_CELL, TIMEOUT, REPLACES = (
    ARGUMENTS + 2, ARGUMENTS + 3, ARGUMENTS + 4, ARGUMENTS + 5, ARGUMENTS + 6, ARGUMENTS + 7,
)  # fmt: skip

# The state of batches: the batch sent last, the rows since; whether there is an end, where batches
# begin, the end, the newest value of the clock; whether a timeout is set, until when, whether it
# has sent the batch; whether there is a row that resets, and that row.
SENT, WAITING, HAS_END, BEGIN, END, NEWEST_MS, HAS_WANTED, WANTED, FLUSHED, HAS_RESET, RESET_ROW = (
    0, RING, 2 * RING, 2 * RING + 1, 2 * RING + 2, 2 * RING + 3, 2 * RING + 4, 2 * RING + 5,
    2 * RING + 6, 2 * RING + 7, 2 * RING + 8,
)  # fmt: skip


@inner
def step_external_time(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Each row first drives out those that are t older; they carry its clock as their time."""
    node = i[0, frame + NODE]
    ring, words = i[0, frame + PLACE] + p[node + STATE], p[node + WINDOW_WORDS]
    span, clock = i[0, p[node + CLOCK_SPAN]], p[node + CLOCK_WORD]
    while i[0, frame + CURSOR] < i[0, frame + COUNT]:
        now = i[0, row_of(i, p, frame, i[0, frame + CURSOR]) + clock]
        while ring_length(i, ring) > 0:
            held = ring_cell(i, ring, i[0, ring + RING_HEAD], words)
            if now == NULL or i[0, held + clock] == NULL:
                pop(i, frame)
                return True
            if i[0, held + clock] + span > now:
                break
            if not work_room(i, p[node + WIDER]):
                return False
            as_left(i, p, frame, held, now)
            i[0, ring + RING_HEAD] += 1
        if not work_room(i, p[node + WIDER]) or not ring_room(i, ring, words):
            return False
        row = row_of(i, p, frame, i[0, frame + CURSOR])
        copied(i, row, made(i, frame, p[node + WIDER]), words)
        if is_current(i, row):
            appended(i, ring, row, words)
        i[0, frame + CURSOR] += 1
    hand_on(i, frame, p[node + NEXT])
    return True


@inner
def step_external_batch(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """A row at or past the end of the batch sends it out; a timeout may do so before."""
    node = i[0, frame + NODE]
    state, words = i[0, frame + PLACE] + p[node + STATE], p[node + WINDOW_WORDS]
    is_due = i[0, frame + COUNT] == DUE
    while is_due or i[0, frame + CURSOR] < i[0, frame + COUNT]:
        waiting = ring_length(i, state + WAITING)
        rows = 2 * ring_length(i, state + SENT) + waiting + 1
        if not (
            timer_room(i, 2)
            and ring_room(i, state + WAITING, words)
            and ring_room_for(i, state + SENT, words, waiting + 1)  # it may be the next to wait
            and work_room(i, rows * p[node + WIDER])
        ):
            return False
        if is_due:
            timed_out(i, p, frame, state)
            break
        row = row_of(i, p, frame, i[0, frame + CURSOR])
        if is_current(i, row) and not batch_taken(i, p, frame, state, row):
            pop(i, frame)
            return True
        i[0, frame + CURSOR] += 1
    hand_on(i, frame, p[node + NEXT])
    return True


@inner
def batch_taken(i: Ints, p: Ints, frame: int, state: int, row: int) -> bool:
    """Take a row, for which there is room; false: it has no clock."""
    node = i[0, frame + NODE]
    time = i[0, row + p[node + CLOCK_WORD]]
    if not i[0, state + HAS_END] and not first_begun(i, p, frame, state, row, time):
        return False
    if time == NULL:
        return False
    i[0, state + NEWEST_MS] = max(i[0, state + NEWEST_MS], time)
    if time >= i[0, state + END]:
        began = i[0, WORK_TOP]
        sent(i, p, frame, state)
        chunk_begun(i, began)
        i[0, state + FLUSHED] = 0
        i[0, state + END] = end_after(i, p, node, state, i[0, state + NEWEST_MS])
        held(i, p, node, state, row)
        await_timeout(i, p, frame, state)
    else:
        held(i, p, node, state, row)
    return True


@inner
def first_begun(i: Ints, p: Ints, frame: int, state: int, row: int, time: int) -> bool:
    """Where the first batch ends; false: that cannot be said."""
    node = i[0, frame + NODE]
    column, cell = p[node + START_WORD], p[node + START_CELL]
    begin = time
    if column:
        begin = i[0, row + column]
    elif cell:
        begin = i[0, cell]
    i[0, state + BEGIN] = begin
    if begin == NULL or (cell and time == NULL):
        return False
    end = begin + i[0, p[node + CLOCK_SPAN]]
    if cell:
        end = end_after(i, p, node, state, time)
    i[0, state + END] = end
    i[0, state + HAS_END] = 1
    await_timeout(i, p, frame, state)
    return True


@inline
def end_after(i: Ints, p: Ints, node: int, state: int, time: int) -> int:
    """The end of the batch of a time; the remainder has the sign of what is divided."""
    span, passed = i[0, p[node + CLOCK_SPAN]], time - i[0, state + BEGIN]
    left = passed % span if passed >= 0 else -((-passed) % span)
    return time + span - left


@inner
def held(i: Ints, p: Ints, node: int, state: int, row: int) -> None:
    """A row becomes one of the batch, for which there is room."""
    words = p[node + WINDOW_WORDS]
    if not i[0, state + HAS_RESET]:
        i[0, state + HAS_RESET] = 1
        copied(i, row, state + RESET_ROW, words)
        i[0, state + RESET_ROW + KIND] = RESET
    kept = appended(i, state + WAITING, row, words)
    if p[node + REPLACES]:
        i[0, kept + p[node + CLOCK_WORD]] = i[0, state + END]
        i[0, kept + KIND] = CURRENT


@inner
def await_timeout(i: Ints, p: Ints, frame: int, state: int) -> None:
    """Set the timer of the timeout, if there is one; there is room for it."""
    node, place = i[0, frame + NODE], i[0, frame + PLACE]
    timeout = i[0, p[node + TIMEOUT]]
    if timeout > 0:
        wanted = i[0, NOW] + timeout
        i[0, state + HAS_WANTED] = 1
        i[0, state + WANTED] = wanted
        set_timer(i, wanted, p[node + RANK], i[0, place], next_turn(i), node, place)


@inner
def timed_out(i: Ints, p: Ints, frame: int, state: int) -> None:
    """The timeout; one that a newer batch has put off does nothing."""
    if not i[0, state + HAS_WANTED] or i[0, state + WANTED] > i[0, frame + CHUNK]:
        return
    began = i[0, WORK_TOP]
    sent(i, p, frame, state)
    chunk_begun(i, began)
    i[0, state + FLUSHED] = 1
    await_timeout(i, p, frame, state)


@inner
def sent(i: Ints, p: Ints, frame: int, state: int) -> None:
    """The batch before leaves, a reset, the rows; a batch that went out already comes again."""
    again = i[0, state + FLUSHED] != 0
    node, newest = i[0, frame + NODE], i[0, state + NEWEST_MS]
    words = p[node + WINDOW_WORDS]
    resets = ring_length(i, state + WAITING) > 0 and i[0, state + HAS_RESET] != 0
    if again and not resets:
        return
    all_left(i, p, frame, state + SENT, newest)
    if resets:
        out = made(i, frame, p[node + WIDER])
        copied(i, state + RESET_ROW, out, words)
        as_kind(i, out, newest, RESET)
    if not again:
        i[0, state + HAS_RESET] = 0 if resets else i[0, state + HAS_RESET]
        all_put(i, p, frame, state + WAITING)
        emptied(i, state + SENT)
        swapped(i, state + SENT, state + WAITING)
        return
    for place in range(ring_length(i, state + WAITING)):
        position = i[0, state + WAITING + RING_HEAD] + place
        appended(i, state + SENT, ring_cell(i, state + WAITING, position, words), words)
    emptied(i, state + WAITING)
    all_put(i, p, frame, state + SENT)
