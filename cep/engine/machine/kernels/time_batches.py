"""Windows that send rows by the clock: the rows of each time t, and every hop those of a time."""

from __future__ import annotations

from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.batches import SENT, WAITING, reset_put
from cep.engine.machine.kernels.memory import ring_cell, ring_length, ring_room_for
from cep.engine.machine.kernels.rows import (
    WINDOW_WORDS,
    all_left,
    all_put,
    appended,
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
    DUE,
    KIND,
    LATE,
    NEXT,
    NODE,
    NOW,
    PLACE,
    RANK,
    RESET,
    RING,
    RING_HEAD,
    RING_TAIL,
    STATE,
    TIME,
    WIDER,
    Floats,
    Ints,
)
from cep.engine.machine.kernels.work import copied, hand_on, made, work_room

# A node, behind what all windows have: the cell of the length; that of where batches begin (0:
# with the first row), whether rows go on at once. Of hops: the cells of size and hop, the counter
# of late rows.
BATCH_SPAN, BATCH_ORIGIN, BATCH_STREAMS = ARGUMENTS + 2, ARGUMENTS + 3, ARGUMENTS + 4
HOP_SIZE, HOP_EVERY, HOP_LATE = ARGUMENTS + 2, ARGUMENTS + 3, ARGUMENTS + 4

# The state, behind the batch sent last and the rows since: whether it has an end, when that is,
# whether a timer waits for it, whether there is a row that resets, and that row.
HAS_END, END, AWAKE, HAS_RESET, RESET_ROW = (
    2 * RING, 2 * RING + 1, 2 * RING + 2, 2 * RING + 3, 2 * RING + 4,
)  # fmt: skip


@inner
def step_time_batch(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Every t one chunk: the last batch leaves, a reset, the rows; see `timeBatch`."""
    node, count = i[0, frame + NODE], i[0, frame + COUNT]
    state = i[0, frame + PLACE] + p[node + STATE]
    rows = ring_length(i, state + SENT) + ring_length(i, state + WAITING) + 1
    if not timer_room(i, 2):
        return False
    if count == DUE:
        if is_over(i, state):
            if not work_room(i, rows * p[node + WIDER]):
                return False
            batch_ended(i, p, frame, state)
    else:
        ring = state + (SENT if p[node + BATCH_STREAMS] else WAITING)
        if not ring_room_for(i, ring, p[node + WINDOW_WORDS], count) or not work_room(
            i, (rows + 2 * count) * p[node + WIDER]
        ):
            return False
        batch_fed(i, p, frame, state, ring)
    hand_on(i, frame, p[node + NEXT])
    return True


@inline
def is_over(i: Ints, state: int) -> bool:
    return i[0, state + HAS_END] != 0 and i[0, NOW] >= i[0, state + END]


@inner
def batch_fed(i: Ints, p: Ints, frame: int, state: int, ring: int) -> None:
    """Take a chunk, for which there is room."""
    node = i[0, frame + NODE]
    words = p[node + WINDOW_WORDS]
    wake(i, p, frame, state)
    ends = is_over(i, state)
    for place in range(i[0, frame + COUNT]):
        row = row_of(i, p, frame, place)
        if not is_current(i, row):
            continue
        if not i[0, state + HAS_RESET]:
            i[0, state + HAS_RESET] = 1
            copied(i, row, state + RESET_ROW, words)
            i[0, state + RESET_ROW + KIND] = RESET
        appended(i, ring, row, words)
        if p[node + BATCH_STREAMS]:
            copied(i, row, made(i, frame, p[node + WIDER]), words)
    if ends:
        batch_ended(i, p, frame, state)


@inner
def wake(i: Ints, p: Ints, frame: int, state: int) -> None:
    """Set the timer for the end of the batch that runs now."""
    if i[0, state + AWAKE]:
        return
    node, now = i[0, frame + NODE], i[0, NOW]
    span, end = i[0, p[node + BATCH_SPAN]], i[0, state + END]
    if not i[0, state + HAS_END]:
        origin = p[node + BATCH_ORIGIN]
        start = now if origin == 0 else i[0, origin]
        end = now + span - (now - start) % span
    elif end <= now:
        end += ((now - end) // span + 1) * span
    await_end(i, p, frame, state, end)


@inner
def await_end(i: Ints, p: Ints, frame: int, state: int, end: int) -> None:
    """Set the timer for an end, for which there is room."""
    i[0, state + AWAKE] = i[0, state + HAS_END] = 1
    i[0, state + END] = end
    node, place = i[0, frame + NODE], i[0, frame + PLACE]
    set_timer(i, end, p[node + RANK], i[0, place], next_turn(i), node, place)


@inner
def batch_ended(i: Ints, p: Ints, frame: int, state: int) -> None:
    """The batch goes out; the next one begins, unless there is nothing left to leave."""
    node = i[0, frame + NODE]
    all_left(i, p, frame, state + SENT, i[0, NOW])
    emptied(i, state + SENT)
    if i[0, state + HAS_RESET]:
        i[0, state + HAS_RESET] = 0
        copied(i, state + RESET_ROW, made(i, frame, p[node + WIDER]), p[node + WINDOW_WORDS])
    all_put(i, p, frame, state + WAITING)
    swapped(i, state + SENT, state + WAITING)
    i[0, state + END] += i[0, p[node + BATCH_SPAN]]
    i[0, state + AWAKE] = 0
    if ring_length(i, state + SENT) > 0:
        await_end(i, p, frame, state, i[0, state + END])


@inner
def step_hopping(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Every hop one chunk: the rows shown last leave, a reset, those of the time before."""
    node, count = i[0, frame + NODE], i[0, frame + COUNT]
    state, words = i[0, frame + PLACE] + p[node + STATE], p[node + WINDOW_WORDS]
    if not timer_room(i, 1):
        return False
    if count == DUE:
        waiting = ring_length(i, state + WAITING)
        rows = ring_length(i, state + SENT) + 1 + waiting
        if not ring_room_for(i, state + SENT, words, waiting) or not work_room(
            i, rows * p[node + WIDER]
        ):
            return False
        hopped(i, p, frame, state)
    else:
        if not ring_room_for(i, state + WAITING, words, count):
            return False
        hop_fed(i, p, frame, state)
    hand_on(i, frame, p[node + NEXT])
    return True


@inner
def hop_fed(i: Ints, p: Ints, frame: int, state: int) -> None:
    """Take a chunk, for which there is room."""
    node, now = i[0, frame + NODE], i[0, NOW]
    if not i[0, state + AWAKE]:
        hop, end = i[0, p[node + HOP_EVERY]], i[0, state + END]
        if not i[0, state + HAS_END]:
            end = now
        await_end(i, p, frame, state, end + max((now - end) // hop + 1, 0) * hop)
    first = i[0, state + END] - i[0, p[node + HOP_SIZE]]
    for place in range(i[0, frame + COUNT]):
        row = row_of(i, p, frame, place)
        if is_current(i, row):
            if i[0, LATE] and i[0, row + TIME] < first:
                i[0, p[node + HOP_LATE]] += 1
            appended(i, state + WAITING, row, p[node + WINDOW_WORDS])


@inner
def hopped(i: Ints, p: Ints, frame: int, state: int) -> None:
    """A hop: rows that no later one shows are forgotten."""
    node, due, ring = i[0, frame + NODE], i[0, frame + CHUNK], state + WAITING
    words, size, hop = p[node + WINDOW_WORDS], i[0, p[node + HOP_SIZE]], i[0, p[node + HOP_EVERY]]
    all_left(i, p, frame, state + SENT, i[0, NOW])
    emptied(i, state + SENT)
    for position in range(i[0, ring + RING_HEAD], i[0, ring + RING_TAIL]):
        row = ring_cell(i, ring, position, words)
        if i[0, row + TIME] < due - size:
            continue
        if ring_length(i, state + SENT) == 0:
            reset_put(i, p, frame, row, due)
        appended(i, state + SENT, row, words)
    all_put(i, p, frame, state + SENT)
    while ring_length(i, ring) > 0 and (
        i[0, ring_cell(i, ring, i[0, ring + RING_HEAD], words) + TIME] < due + hop - size
    ):
        i[0, ring + RING_HEAD] += 1
    i[0, state + END] = due + hop
    i[0, state + AWAKE] = 0
    if ring_length(i, ring) > 0 or ring_length(i, state + SENT) > 0:
        await_end(i, p, frame, state, due + hop)
