"""Joins and correlations: a row of one side meets what the others hold.

A row of a join has its time, its kind and the number of its chunk, then for each side the time of
its row (NULL where there is none) and its values. Several others are looked through in nested
loops, in the order of the sides; each has the part of the condition that names no later one.
"""

from __future__ import annotations

import math

from cep.engine.kernels.scalar import NULL
from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.evaluate import is_true
from cep.engine.machine.kernels.memory import allocate, release
from cep.engine.machine.kernels.searches import (
    F_COUNT,
    F_SEEN,
    NO_ROOM,
    Q_AT,
    Q_COUNT,
    Q_FOUND,
    Q_ON,
    candidate,
    candidates,
    fits,
    looked_at,
    viewed,
)
from cep.engine.machine.kernels.streams import ENTER_CONDITION, ENTER_WORDS, step_project
from cep.engine.machine.kernels.words import (
    ARGUMENTS,
    BREAK,
    CHUNK,
    COUNT,
    CURRENT,
    CURSOR,
    EXPIRED,
    FAILED,
    KIND,
    MADE,
    MADE_COUNT,
    NEXT,
    NODE,
    NOW,
    PLACE,
    RESET,
    STATE,
    TIME,
    TIMER,
    VALUES,
    WIDER,
    WIDTH,
    WORK_TOP,
    Floats,
    Ints,
)
from cep.engine.machine.kernels.work import (
    copied,
    frame_room,
    hand_on,
    hand_on_same,
    made,
    pop,
    push,
    put,
    row_at,
    top_frame,
    work_room,
)

CHUNK_OF, SIDES = 2, 3
"""Words of a row of a join: the number of its chunk; then come the sides."""

# One side: how many others there are, the searches in what each of these holds; the word for its
# row, how many values; a condition on it alone. Where there is one other: whether it comes without
# a match; whether rows leave as soon as they have come (bits: so they do at all, and reset what
# they began); the words of the other side that are doubles when it is missing; where rows wait in a
# self join, or 0. Then whether each row goes on alone; the word with when the pair came, or 0: then
# each row has when it came behind its values, which stands in the place of its time in the pair;
# the node that a row goes to which was made alone, and whether what is selected comes there.
(JOIN_OTHERS, JOIN_SEARCHES, JOIN_AT, JOIN_COUNT, JOIN_CONDITION, JOIN_OUTER, JOIN_THROUGH,
 JOIN_REALS, JOIN_WAITING, JOIN_SINGLY, JOIN_CAME, JOIN_ALONE, JOIN_PROJECTS) = range(
    ARGUMENTS, ARGUMENTS + 13
)  # fmt: skip
LEAVES, RESETS = 1, 2

# Both sides of a self join: their ways in.
BOTH_LEFT, BOTH_RIGHT = ARGUMENTS, ARGUMENTS + 1
IS_RIGHTS = 2
"""Where it has come, in thirds of a row: the right side, which takes the row, is next."""
# What waits: whether rows do, where they lie, for how many words there is room, how many are used.
W_IS_ON, W_AT, W_ROOM, W_USED, WAITING = 0, 1, 2, 3, 4


@inner
def step_join(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Each row with every row of the other side on which the condition is true."""
    node = i[0, frame + NODE]
    while i[0, frame + CURSOR] < i[0, frame + COUNT]:
        if not met(i, f, p, frame):
            return False
        if i[0, FAILED]:
            return True  # all of it is lost
        i[0, frame + CURSOR] += 1
    waiting = i[0, frame + PLACE] + p[node + JOIN_WAITING]
    if p[node + JOIN_WAITING] and i[0, waiting + W_IS_ON]:
        return left_waiting(i, p, frame, waiting)
    following, alone = p[node + NEXT], p[node + JOIN_ALONE]
    if i[0, frame + MADE_COUNT] == 1:
        i[0, row_at(i, i[0, frame + MADE]) + KIND] &= BREAK - 1
        following = alone
    makes = i[0, frame + MADE_COUNT] != 0
    hand_on(i, frame, following)
    if makes and following == alone and p[node + JOIN_PROJECTS]:
        return step_project(i, f, p, frame)  # which saves the way over `drain`
    return True


@inner
def met(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """The row under way meets the other side; false: there is no room."""
    node = i[0, frame + NODE]
    wider = p[node + WIDER]
    if not work_room(i, wider):
        return False
    row = row_at(i, i[0, frame + CHUNK] + i[0, frame + CURSOR] * p[node + WIDTH])
    kind, time = i[0, row + KIND], i[0, row + TIME]
    if kind == TIMER:
        return True
    if kind == RESET:
        alone(i, f, p, frame, row, time, kind)
        return True
    asks(i, p, frame, row, time, kind)
    if not is_true(i, f, p, p[node + JOIN_CONDITION], row_at(i, i[0, WORK_TOP])):
        return True
    if not found_all(i, f, p, frame):
        return False
    if i[0, FAILED]:
        return True
    top, before, through = i[0, WORK_TOP], i[0, frame + MADE_COUNT], p[node + JOIN_THROUGH]
    has_room = matched(i, f, p, frame, time, kind)
    if has_room and through & LEAVES:
        has_room = matched(i, f, p, frame, i[0, NOW], EXPIRED)
    if not has_room:  # how many rows come of it nobody knows beforehand
        i[0, WORK_TOP], i[0, frame + MADE_COUNT] = top, before
        if before == 0:
            i[0, frame + MADE] = -1
        return False
    if through & RESETS:
        alone(i, f, p, frame, asking(i, p, frame), i[0, NOW], RESET)
    return True


@inline
def asking(i: Ints, p: Ints, frame: int) -> int:
    """The address of the row under way."""
    width = p[i[0, frame + NODE] + WIDTH]
    return row_at(i, i[0, frame + CHUNK] + i[0, frame + CURSOR] * width)


@inner
def found_all(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Find what there is to look at for the row in the place of the next; false: no room."""
    node, place = i[0, frame + NODE], i[0, frame + PLACE]
    for number in range(p[node + JOIN_OTHERS]):
        search = p[p[node + JOIN_SEARCHES] + number]
        if not viewed(i, f, p, search, place, row_at(i, i[0, WORK_TOP])):
            return False
        if i[0, FAILED]:
            return True
        count = candidates(i, f, p, search, place, row_at(i, i[0, WORK_TOP]))
        if count == NO_ROOM:
            return False
        i[0, place + p[search + Q_FOUND] + F_COUNT] = count
    return True


@inner
def asks(i: Ints, p: Ints, frame: int, row: int, time: int, kind: int) -> None:
    """Write a row of one side into the place of the next row that is made."""
    node, target = i[0, frame + NODE], row_at(i, i[0, WORK_TOP])
    i[0, target + TIME] = time
    i[0, target + KIND] = kind
    side, came = target + p[node + JOIN_AT], time
    if p[node + JOIN_CAME]:
        if kind != CURRENT:
            came = i[0, row + VALUES + p[node + JOIN_COUNT]]
        i[0, target + p[node + JOIN_CAME]] = came
    i[0, side] = came
    copied(i, row + VALUES, side + 1, p[node + JOIN_COUNT])


@inline
def keep(i: Ints, p: Ints, frame: int, chunk: int) -> None:
    """What stands in the place of the next row is made; `chunk` is how many were before its own."""
    node = i[0, frame + NODE]
    singly, waiting = p[node + JOIN_SINGLY] != 0, p[node + JOIN_WAITING] != 0
    breaks = singly or (waiting and i[0, frame + MADE_COUNT] == 0)
    row = made(i, frame, p[node + WIDER])
    i[0, row + CHUNK_OF] = chunk
    if breaks:
        i[0, row + KIND] |= BREAK


@inner
def matched(i: Ints, f: Floats, p: Ints, frame: int, time: int, kind: int) -> bool:
    """Make the rows of one that asks; without a match perhaps it alone. False: there is no room.

    Nested loops without recursion: each level goes on from where its search has come.
    """
    node, place, chunk = i[0, frame + NODE], i[0, frame + PLACE], i[0, frame + MADE_COUNT]
    searches, last = p[node + JOIN_SEARCHES], p[node + JOIN_OTHERS] - 1
    level, is_written = 0, False
    if not entered(i, p, frame, 0, last):
        return False
    while level >= 0:
        search = p[searches + level]
        state = place + p[search + Q_FOUND]
        number = i[0, state + F_SEEN]
        if number == i[0, state + F_COUNT]:
            level -= 1
            continue
        i[0, state + F_SEEN] = number + 1
        if not is_written:
            written(i, p, frame, level, time, kind)
            is_written = True
        if not fits_here(i, f, p, frame, level, kind):
            continue
        if level < last:
            level += 1
            if not entered(i, p, frame, level, last):
                return False
        else:
            keep(i, p, frame, chunk)
        is_written = False  # another place is next, or rows have moved
    if i[0, frame + MADE_COUNT] == chunk and p[node + JOIN_OUTER]:
        alone(i, f, p, frame, asking(i, p, frame), time, kind)
    return True


@inline
def fits_here(i: Ints, f: Floats, p: Ints, frame: int, level: int, kind: int) -> bool:
    """Whether the condition is true on the row that a level looks at, which is written."""
    node, place, row = i[0, frame + NODE], i[0, frame + PLACE], row_at(i, i[0, WORK_TOP])
    search = p[p[node + JOIN_SEARCHES] + level]
    number = i[0, place + p[search + Q_FOUND] + F_SEEN] - 1
    if p[node + JOIN_CAME] == 0 or kind == CURRENT:
        return fits(i, f, p, search, place, number, row)
    looked_at(i, p, search, candidate(i, p, search, place, number), row)
    came = i[0, row + p[node + JOIN_AT]]
    for one in range(level + 1):  # a pair that leaves came with the last of its rows
        came = max(came, i[0, row + p[p[p[node + JOIN_SEARCHES] + one] + Q_AT]])
    i[0, row + p[node + JOIN_CAME]] = came
    return is_true(i, f, p, p[search + Q_ON], row)


@inner
def entered(i: Ints, p: Ints, frame: int, level: int, last: int) -> bool:
    """A level begins with its first row; the last one needs room for all rows that it may make, for
    one alone and for the next.
    """
    node = i[0, frame + NODE]
    search = p[p[node + JOIN_SEARCHES] + level]
    state = i[0, frame + PLACE] + p[search + Q_FOUND]
    i[0, state + F_SEEN] = 0
    return level < last or work_room(i, p[node + WIDER] * (i[0, state + F_COUNT] + 3))


@inner
def written(i: Ints, p: Ints, frame: int, level: int, time: int, kind: int) -> None:
    """Write the row that asks into the place of the next, and what the levels before have found."""
    place = i[0, frame + PLACE]
    asks(i, p, frame, asking(i, p, frame), time, kind)
    for before in range(level):
        search = p[p[i[0, frame + NODE] + JOIN_SEARCHES] + before]
        number = i[0, place + p[search + Q_FOUND] + F_SEEN] - 1
        held = candidate(i, p, search, place, number)
        looked_at(i, p, search, held, row_at(i, i[0, WORK_TOP]))


@inner
def alone(i: Ints, f: Floats, p: Ints, frame: int, row: int, time: int, kind: int) -> None:
    """Make a row of one side without one of the other."""
    node = i[0, frame + NODE]
    search = p[p[node + JOIN_SEARCHES]]
    asks(i, p, frame, row, time, kind)
    at = row_at(i, i[0, WORK_TOP]) + p[search + Q_AT]
    i[0, at] = NULL
    for value in range(p[search + Q_COUNT]):
        if p[p[node + JOIN_REALS] + value]:
            f[0, at + 1 + value] = math.nan
        else:
            i[0, at + 1 + value] = NULL
    keep(i, p, frame, i[0, frame + MADE_COUNT])


@inner
def left_waiting(i: Ints, p: Ints, frame: int, waiting: int) -> bool:
    """Put what was made aside until both sides have seen the row; false: there is no room."""
    words = i[0, frame + MADE_COUNT] * p[i[0, frame + NODE] + WIDER]
    used = i[0, waiting + W_USED]
    if used + words > i[0, waiting + W_ROOM]:
        wider = max(16, 2 * (used + words))
        at = allocate(i, wider)
        if at == 0:
            return False
        copied(i, i[0, waiting + W_AT], at, used)
        if i[0, waiting + W_ROOM]:
            release(i, i[0, waiting + W_AT], i[0, waiting + W_ROOM])
        i[0, waiting + W_AT] = at
        i[0, waiting + W_ROOM] = wider
    if words:
        copied(i, row_at(i, i[0, frame + MADE]), i[0, waiting + W_AT] + used, words)
    i[0, waiting + W_USED] = used + words
    pop(i, frame)
    return True


@inline
def takes(i: Ints, f: Floats, p: Ints, side: int, row: int) -> bool:
    """Whether the condition in front of a side is true, and has not failed."""
    is_taken = is_true(i, f, p, p[side + ENTER_CONDITION], row) and i[0, FAILED] == 0
    i[0, FAILED] = 0
    return is_taken


@inline
def widened(i: Ints, p: Ints, side: int, row: int) -> int:
    """Make a row of a side, for which there is room, as `step_enter` does it: its distance."""
    chunk = put(i, p[side + WIDER])
    copied(i, row, row_at(i, chunk), p[side + ENTER_WORDS])
    return chunk


@inner
def step_both(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Row by row to the left and to the right side; what is found goes on when all is done.

    What one side alone takes need not wait for the other one: mostly their conditions exclude each
    other.
    """
    node, place, cursor = i[0, frame + NODE], i[0, frame + PLACE], i[0, frame + CURSOR]
    left, right, number = p[node + BOTH_LEFT], p[node + BOTH_RIGHT], cursor // 3
    if number < i[0, frame + COUNT]:
        if not frame_room(i, 1) or not work_room(i, max(p[left + WIDER], p[right + WIDER])):
            return False
        frame = top_frame(i)  # the stack may have moved
        row, floor = row_at(i, i[0, frame + CHUNK] + number * p[node + WIDTH]), i[0, WORK_TOP]
        if cursor % 3 == IS_RIGHTS:
            i[0, frame + CURSOR] = cursor + 1
            push(i, p[right + NEXT], place, widened(i, p, right, row), 1, floor)
            return True
        is_lefts, is_rights = takes(i, f, p, left, row), takes(i, f, p, right, row)
        side = left if is_lefts else right
        if i[0, frame + COUNT] == 1 and is_lefts != is_rights:
            i[0, frame + NODE] = p[side + NEXT]
            i[0, frame + CHUNK] = widened(i, p, side, row)
            return True
        i[0, frame + CURSOR] += IS_RIGHTS if is_lefts and is_rights else 3
        if is_lefts or is_rights:
            i[0, place + p[node + STATE] + W_IS_ON] = 1
            push(i, p[side + NEXT], place, widened(i, p, side, row), 1, floor)
        return True
    return went_on(i, p, frame, place + p[node + STATE])


@inner
def went_on(i: Ints, p: Ints, frame: int, waiting: int) -> bool:
    """Hand on what both sides have found; false: there is no room."""
    node = i[0, frame + NODE]
    used, wider = i[0, waiting + W_USED], p[node + WIDER]
    if not work_room(i, used):
        return False
    for row in range(used // wider):
        copied(i, i[0, waiting + W_AT] + row * wider, made(i, frame, wider), wider)
    i[0, waiting + W_USED] = i[0, waiting + W_IS_ON] = 0
    hand_on(i, frame, p[node + NEXT])
    return True


@inner
def step_apart(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Hand on chunk by chunk what a node has made, each done before the next."""
    node = i[0, frame + NODE]
    first, count, width = i[0, frame + CURSOR], i[0, frame + COUNT], p[node + WIDTH]
    past, rows = first + 1, row_at(i, i[0, frame + CHUNK])
    while past < count and not i[0, rows + past * width + KIND] & BREAK:
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


@inner
def step_each(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Hand on row by row, each done before the next."""
    node = i[0, frame + NODE]
    number = i[0, frame + CURSOR]
    if not frame_room(i, 1):
        return False
    frame = top_frame(i)  # the stack may have moved
    chunk = i[0, frame + CHUNK] + number * p[node + WIDTH]
    if number + 1 == i[0, frame + COUNT]:  # the last one takes the frame's place
        i[0, frame + CHUNK] = chunk
        hand_on_same(i, frame, p[node + NEXT], 1)
        return True
    i[0, frame + CURSOR] = number + 1
    push(i, p[node + NEXT], i[0, frame + PLACE], chunk, 1, i[0, WORK_TOP])
    return True


@inner
def step_drop(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Nobody wants these rows."""
    pop(i, frame)
    return True
