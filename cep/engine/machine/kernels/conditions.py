"""Windows with a condition: `expression` and `expressionBatch`.

A condition is judged on a row made of three: the one that comes or goes, the first and the last one
of the window; behind them are the aggregates of the condition, kept as those of a group.
"""

from __future__ import annotations

from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.evaluate import is_true
from cep.engine.machine.kernels.groups import (
    group_at,
    group_cleared,
    group_moved,
    group_read,
    group_room,
)
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
    TIME,
    WIDER,
    WORK_TOP,
    Floats,
    Ints,
)
from cep.engine.machine.kernels.work import copied, hand_on, made, row_at, work_room

# A node, behind what all windows have: the condition, the node of its aggregates or 0; of batches
# whether the row that ends one is its last (an expression on it), and whether rows go on at once.
JUDGES, TOTALS, INCLUDES, JUDGE_STREAMS = ARGUMENTS + 2, ARGUMENTS + 3, ARGUMENTS + 4, ARGUMENTS + 5
JUDGED_WIDTH = ARGUMENTS + 6
"""The words of a row on which the condition is judged."""
JUDGE_CAME = ARGUMENTS + 7
"""The word with when a row came, if rows have one, else that of their time: both are set for rows
that have waited for the end of their batch, as they come then."""

# The state of batches: the batch sent last, the rows since, whether the row under way has failed
# and the condition has to start again with it.
SENT, WAITING, STARTS_AGAIN, CONDITION_STATE = 0, RING, 2 * RING, 2 * RING + 1


@inner
def judged_written(i: Ints, p: Ints, node: int, row: int, first: int, last: int) -> int:
    """Write what the condition is judged on above all rows, where there is room; its address."""
    at, words = row_at(i, i[0, WORK_TOP]), p[node + WINDOW_WORDS]
    copied(i, row, at, words)
    copied(i, first, at + words, words)
    copied(i, last, at + 2 * words, words)
    return at


@inline
def totals_at(i: Ints, f: Floats, p: Ints, frame: int, judged: int) -> int:
    """The aggregates of the condition; 0 where there is no room."""
    node = p[i[0, frame + NODE] + TOTALS]
    return group_at(i, f, p, node, i[0, frame + PLACE] + p[node + STATE], judged)


@inner
def judge_room(i: Ints, f: Floats, p: Ints, frame: int, judged: int) -> bool:
    """Whether the aggregates have room for a row that comes."""
    totals = p[i[0, frame + NODE] + TOTALS]
    if totals == 0:
        return True
    group = totals_at(i, f, p, frame, judged)
    return group != 0 and group_room(i, f, p, totals, group, judged)


@inner
def holds(i: Ints, f: Floats, p: Ints, frame: int, judged: int, comes: bool) -> bool:
    """Whether the condition holds after a row has come, or gone."""
    node = i[0, frame + NODE]
    totals = p[node + TOTALS]
    if totals != 0:
        group = totals_at(i, f, p, frame, judged)
        group_moved(i, f, p, totals, group, judged, comes)
        group_read(i, f, p, totals, group, judged)
    return is_true(i, f, p, p[node + JUDGES], judged)


@inner
def step_expression(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Where a new row makes the condition false, the oldest leave until it holds again."""
    node = i[0, frame + NODE]
    ring, words = i[0, frame + PLACE] + p[node + STATE], p[node + WINDOW_WORDS]
    while i[0, frame + CURSOR] < i[0, frame + COUNT]:
        most = (ring_length(i, ring) + 2) * p[node + WIDER] + p[node + JUDGED_WIDTH]
        if not ring_room(i, ring, words) or not work_room(i, most):
            return False
        row = row_of(i, p, frame, i[0, frame + CURSOR])
        first = row
        if ring_length(i, ring) > 0:
            first = ring_cell(i, ring, i[0, ring + RING_HEAD], words)
        judged = judged_written(i, p, node, row, first, row)
        if not judge_room(i, f, p, frame, judged):
            return False
        appended(i, ring, row, words)
        shrunk(i, f, p, frame, ring, row, holds(i, f, p, frame, judged, True))
        copied(i, row, made(i, frame, p[node + WIDER]), words)
        i[0, frame + CURSOR] += 1
    hand_on(i, frame, p[node + NEXT])
    return True


@inner
def shrunk(i: Ints, f: Floats, p: Ints, frame: int, ring: int, row: int, is_true_: bool) -> None:
    """Let the oldest rows go, for which there is room, until the condition holds."""
    node = i[0, frame + NODE]
    words = p[node + WINDOW_WORDS]
    while ring_length(i, ring) > 0 and not is_true_:
        as_left(i, p, frame, ring_cell(i, ring, i[0, ring + RING_HEAD], words), i[0, NOW])
        i[0, ring + RING_HEAD] += 1
        gone = row_at(i, i[0, WORK_TOP] - p[node + WIDER])
        first = gone
        if ring_length(i, ring) > 0:
            first = ring_cell(i, ring, i[0, ring + RING_HEAD], words)
        judged = judged_written(i, p, node, gone, first, row)
        is_true_ = holds(i, f, p, frame, judged, False)


@inner
def step_expression_batch(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """The row that makes the condition false ends the batch; the batch before leaves."""
    node = i[0, frame + NODE]
    state, words = i[0, frame + PLACE] + p[node + STATE], p[node + WINDOW_WORDS]
    streams = p[node + JUDGE_STREAMS]
    batch = state + (SENT if streams else WAITING)
    while i[0, frame + CURSOR] < i[0, frame + COUNT]:
        rows = ring_length(i, state + SENT) + ring_length(i, state + WAITING) + 3
        if not (
            ring_room(i, state + SENT, words)
            and ring_room_for(i, state + WAITING, words, 2)
            and work_room(i, rows * p[node + WIDER] + p[node + JUDGED_WIDTH])
        ):
            return False
        row = row_of(i, p, frame, i[0, frame + CURSOR])
        belongs = belongs_to(i, f, p, frame, state, batch, row)
        if belongs < 0:
            return False
        began = i[0, WORK_TOP]
        if streams:
            went_on(i, f, p, frame, batch, row, belongs)
        else:
            collected(i, f, p, frame, state, row, belongs)
        chunk_begun(i, began)
        i[0, frame + CURSOR] += 1
    hand_on(i, frame, p[node + NEXT])
    return True


@inner
def belongs_to(i: Ints, f: Floats, p: Ints, frame: int, state: int, batch: int, row: int) -> int:
    """1 where a row belongs to the batch, else 0, and the condition starts again with it; -1 where
    there is no room.
    """
    node = i[0, frame + NODE]
    first, totals = row, p[node + TOTALS]
    if ring_length(i, batch) > 0:
        first = ring_cell(i, batch, i[0, batch + RING_HEAD], p[node + WINDOW_WORDS])
    judged = judged_written(i, p, node, row, first, row)
    if not judge_room(i, f, p, frame, judged):
        return -1
    if not i[0, state + STARTS_AGAIN]:
        if holds(i, f, p, frame, judged, True):
            return 1
        if totals != 0:
            group_cleared(i, p, totals, totals_at(i, f, p, frame, judged))
        i[0, state + STARTS_AGAIN] = 1
        if not judge_room(i, f, p, frame, judged):
            return -1
    i[0, state + STARTS_AGAIN] = 0
    holds(i, f, p, frame, judged, True)
    return 0


@inner
def alone(i: Ints, p: Ints, frame: int, row: int) -> None:
    """A row for which the condition never holds leaves before it comes."""
    node = i[0, frame + NODE]
    as_left(i, p, frame, row, i[0, NOW])
    out = made(i, frame, p[node + WIDER])
    copied(i, row, out, p[node + WINDOW_WORDS])
    i[0, out + TIME] = i[0, out + p[node + JUDGE_CAME]] = i[0, NOW]


@inner
def collected(i: Ints, f: Floats, p: Ints, frame: int, state: int, row: int, belongs: int) -> None:
    """A row waits with its batch, or ends it, which goes out."""
    node = i[0, frame + NODE]
    words = p[node + WINDOW_WORDS]
    if belongs:
        appended(i, state + WAITING, row, words)
        return
    had = ring_length(i, state + WAITING)
    all_left(i, p, frame, state + SENT, i[0, NOW])
    emptied(i, state + SENT)
    swapped(i, state + SENT, state + WAITING)
    sent = state + SENT
    for position in range(i[0, sent + RING_HEAD], i[0, sent + RING_TAIL]):
        cell = ring_cell(i, sent, position, words)
        i[0, cell + TIME] = i[0, cell + p[node + JUDGE_CAME]] = i[0, NOW]
    if had == 0:
        alone(i, p, frame, row)
    elif is_true(i, f, p, p[node + INCLUDES], row):
        appended(i, sent, row, words)
    else:
        appended(i, state + WAITING, row, words)
    all_put(i, p, frame, sent)


@inner
def went_on(i: Ints, f: Floats, p: Ints, frame: int, batch: int, row: int, belongs: int) -> None:
    """A row goes on at once; one that ends its batch lets that leave."""
    node = i[0, frame + NODE]
    words, has_rows = p[node + WINDOW_WORDS], ring_length(i, batch) > 0
    if not belongs and not has_rows:
        alone(i, p, frame, row)
        return
    includes = not belongs and is_true(i, f, p, p[node + INCLUDES], row)
    if includes:
        copied(i, row, made(i, frame, p[node + WIDER]), words)
        all_left(i, p, frame, batch, i[0, NOW])
        as_left(i, p, frame, row, i[0, NOW])
        emptied(i, batch)
        return
    if not belongs:
        all_left(i, p, frame, batch, i[0, NOW])
        emptied(i, batch)
    appended(i, batch, row, words)
    copied(i, row, made(i, frame, p[node + WIDER]), words)
