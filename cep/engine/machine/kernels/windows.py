"""Windows whose rows come and leave one by one: by number, by time, by both; and delays."""

from __future__ import annotations

from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.groups import step_group
from cep.engine.machine.kernels.joins import step_join
from cep.engine.machine.kernels.memory import (
    ring_cell,
    ring_length,
    ring_parted,
    ring_room,
    ring_taken_out,
)
from cep.engine.machine.kernels.rows import (
    IS_MIXED,
    WINDOW_LEAVERS,
    WINDOW_WORDS,
    appended,
    as_left,
)
from cep.engine.machine.kernels.timers import next_turn, set_timer, timer_room
from cep.engine.machine.kernels.words import (
    ARGUMENTS,
    CHUNK,
    COUNT,
    CURRENT,
    CURSOR,
    DUE,
    EXPIRED,
    KIND,
    MADE_COUNT,
    NEXT,
    NODE,
    NOW,
    PLACE,
    RANK,
    RESET,
    RING_HEAD,
    RING_TAIL,
    STATE,
    TIME,
    WIDER,
    WIDTH,
    Floats,
    Ints,
)
from cep.engine.machine.kernels.work import (
    as_kind,
    copied,
    hand_on,
    hand_on_same,
    made,
    row_at,
    work_room,
)

# A node, behind what all windows have: the cells of its size in time and in rows; by time also
# whether rows come when others would leave, and the cell of the jump at whose ends they leave; what
# comes next, if it need not go over `drain`.
WINDOW_SPAN, WINDOW_LENGTH, WINDOW_IS_DELAY, WINDOW_JUMP, WINDOW_NEXT = range(
    ARGUMENTS + 2, ARGUMENTS + 7
)
ANY_NEXT, GROUP_NEXT, JOIN_NEXT = 0, 1, 2

# A row in a window by time: when it leaves, its turn, then the row.
END, TURN_OF, HELD = 0, 1, 2
# The state of a window by time, behind its ring and `IS_MIXED`: the time of the timer that is set,
# 0 without one. One is enough: a row that is displaced mostly leaves the next one with a later
# time, which is set when the timer fires.
AWAITED, TIME_STATE = IS_MIXED + 1, IS_MIXED + 2


@inner
def step_length(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """A new row displaces the oldest, which goes before it, at the time of the clock."""
    node = i[0, frame + NODE]
    ring, words = i[0, frame + PLACE] + p[node + STATE], p[node + WINDOW_WORDS]
    length, wider = i[0, p[node + WINDOW_LENGTH]], p[node + WIDER]
    if length > 0 and not p[node + WINDOW_LEAVERS]:
        return only_came(i, f, p, frame, ring, length)
    while i[0, frame + CURSOR] < i[0, frame + COUNT]:
        if not work_room(i, 3 * wider):
            return False
        row = row_at(i, i[0, frame + CHUNK] + i[0, frame + CURSOR] * p[node + WIDTH])
        if length == 0:
            passed_through(i, frame, row, words, wider)
        else:
            if ring_length(i, ring) < length and not ring_room(i, ring, words):
                return False
            if ring_length(i, ring) == length:
                as_left(i, p, frame, ring_cell(i, ring, i[0, ring + RING_HEAD], words), i[0, NOW])
                i[0, ring + RING_HEAD] += 1
            appended(i, ring, row, words)
            copied(i, row, made(i, frame, wider), words)
        i[0, frame + CURSOR] += 1
    return went_on(i, f, p, frame)


@inline
def went_on(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """What was made goes on, if there is any."""
    node = i[0, frame + NODE]
    makes = i[0, frame + MADE_COUNT] != 0
    hand_on(i, frame, p[node + NEXT])
    return not makes or at_once(i, f, p, frame, p[node + WINDOW_NEXT])


@inline
def at_once(i: Ints, f: Floats, p: Ints, frame: int, following: int) -> bool:
    """What mostly comes next works without a way over `drain`."""
    if following == GROUP_NEXT:
        return step_group(i, f, p, frame)
    if following == JOIN_NEXT:
        return step_join(i, f, p, frame)
    return True


@inner
def only_came(i: Ints, f: Floats, p: Ints, frame: int, ring: int, length: int) -> bool:
    """The same where nobody wants to know of rows that leave: those that came go on as they are."""
    node, words = i[0, frame + NODE], p[i[0, frame + NODE] + WINDOW_WORDS]
    while i[0, frame + CURSOR] < i[0, frame + COUNT]:
        if ring_length(i, ring) == length:
            i[0, ring + RING_HEAD] += 1
        elif not ring_room(i, ring, words):
            return False
        row = row_at(i, i[0, frame + CHUNK] + i[0, frame + CURSOR] * p[node + WIDTH])
        appended(i, ring, row, words)
        i[0, frame + CURSOR] += 1
    hand_on_same(i, frame, p[node + NEXT], i[0, frame + COUNT])
    return at_once(i, f, p, frame, p[node + WINDOW_NEXT])


@inline
def passed_through(i: Ints, frame: int, row: int, words: int, wider: int) -> None:
    """A row in a window without room leaves as it comes, and takes the aggregates with it."""
    for kind in range(3):
        out = made(i, frame, wider)
        copied(i, row, out, words)
        if kind > 0:
            i[0, out + KIND] = EXPIRED if kind == 1 else RESET


@inner
def step_time(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Rows leave when they are so old, each by itself; of a delay they come then.

    With a number of rows as well the one that came first leaves when there are more.
    """
    node = i[0, frame + NODE]
    state = i[0, frame + PLACE] + p[node + STATE]
    if i[0, frame + COUNT] == DUE:
        if not left(i, p, frame, state) or not timer_room(i, 1):
            return False
        if i[0, state + AWAITED] <= i[0, NOW]:
            i[0, state + AWAITED] = 0
        await_first(i, p, frame, state)
    else:
        while i[0, frame + CURSOR] < i[0, frame + COUNT]:
            if is_ever(i, p, frame) and not (
                left(i, p, frame, state) and entered(i, p, frame, state)
            ):
                return False
            i[0, frame + CURSOR] += 1
    return went_on(i, f, p, frame)


@inline
def end_of(i: Ints, p: Ints, node: int, row: int) -> int:
    """When a row leaves."""
    end = i[0, row + TIME] + i[0, p[node + WINDOW_SPAN]]
    if p[node + WINDOW_JUMP]:
        jump = i[0, p[node + WINDOW_JUMP]]
        end = end // jump * jump
    return end


@inner
def is_ever(i: Ints, p: Ints, frame: int) -> bool:
    """Whether the row under way is ever in the window: not if it would leave in its own jump."""
    node = i[0, frame + NODE]
    row = row_at(i, i[0, frame + CHUNK] + i[0, frame + CURSOR] * p[node + WIDTH])
    if p[node + WINDOW_JUMP] == 0 or i[0, row + KIND] != CURRENT:
        return True
    jump = i[0, p[node + WINDOW_JUMP]]
    return end_of(i, p, node, row) > i[0, row + TIME] // jump * jump


@inner
def left(i: Ints, p: Ints, frame: int, ring: int) -> bool:
    """Let go the rows that are due; false: there is no room."""
    node = i[0, frame + NODE]
    words, wider = p[node + WINDOW_WORDS], p[node + WIDER]
    while ring_length(i, ring) > 0:
        row = ring_cell(i, ring, i[0, ring + RING_HEAD], words + HELD)
        if i[0, row + END] > i[0, NOW]:
            return True
        if not work_room(i, wider):
            return False
        if p[node + WINDOW_LEAVERS]:
            out = made(i, frame, wider)
            copied(i, row + HELD, out, words)
            if not p[node + WINDOW_IS_DELAY]:
                as_kind(i, out, i[0, row + END], EXPIRED)
        i[0, ring + RING_HEAD] += 1
    return True


@inline
def await_first(i: Ints, p: Ints, frame: int, ring: int) -> None:
    """Set the timer of the row that leaves next, for which there is room, if none fires before."""
    if ring_length(i, ring) == 0:
        return
    node, place, awaited = i[0, frame + NODE], i[0, frame + PLACE], i[0, ring + AWAITED]
    row = ring_cell(i, ring, i[0, ring + RING_HEAD], p[node + WINDOW_WORDS] + HELD)
    end, turn = i[0, row + END], i[0, row + TURN_OF]
    if awaited == 0 or end < awaited:
        i[0, ring + AWAITED] = end
        set_timer(i, end, p[node + RANK], key_of(i, place), turn, node, place)


@inline
def key_of(i: Ints, place: int) -> int:
    """The number of the key that a home is of; 0 of what is in no partition."""
    return i[0, place]


@inner
def entered(i: Ints, p: Ints, frame: int, ring: int) -> bool:
    """The row under way enters; false: there is no room."""
    node = i[0, frame + NODE]
    words, wider = p[node + WINDOW_WORDS], p[node + WIDER]
    width, is_delay = words + HELD, p[node + WINDOW_IS_DELAY]
    if not work_room(i, 2 * wider) or not timer_room(i, 1) or not ring_room(i, ring, width):
        return False
    row = row_at(i, i[0, frame + CHUNK] + i[0, frame + CURSOR] * p[node + WIDTH])
    if i[0, row + KIND] != CURRENT:
        return True
    length = -1 if p[node + WINDOW_LENGTH] == 0 else i[0, p[node + WINDOW_LENGTH]]
    if length != 0:
        hold(i, p, frame, ring, row)
        if length > 0 and ring_length(i, ring) > length:
            displace(i, p, frame, ring)
    if not is_delay:
        copied(i, row, made(i, frame, wider), words)
    return True


@inline
def hold(i: Ints, p: Ints, frame: int, ring: int, row: int) -> None:
    """Put a row among those that are held, behind all that do not leave after it."""
    node = i[0, frame + NODE]
    words = p[node + WINDOW_WORDS]
    end = end_of(i, p, node, row)
    place = i[0, ring + RING_TAIL]
    while place > i[0, ring + RING_HEAD]:
        if i[0, ring_cell(i, ring, place - 1, words + HELD) + END] <= end:
            break
        place -= 1
        i[0, ring + IS_MIXED] = 1
    held = ring_parted(i, ring, place, words + HELD)
    i[0, held + END] = end
    i[0, held + TURN_OF] = next_turn(i)
    copied(i, row, held + HELD, words)
    if place == i[0, ring + RING_HEAD]:
        await_first(i, p, frame, ring)


@inner
def displace(i: Ints, p: Ints, frame: int, ring: int) -> None:
    """The row that came first leaves, at the time of the clock."""
    node = i[0, frame + NODE]
    words = p[node + WINDOW_WORDS]
    first = i[0, ring + RING_HEAD]
    if i[0, ring + IS_MIXED]:
        for place in range(first + 1, i[0, ring + RING_TAIL]):
            one = ring_cell(i, ring, place, words + HELD)
            if i[0, one + TURN_OF] < i[0, ring_cell(i, ring, first, words + HELD) + TURN_OF]:
                first = place
    as_left(i, p, frame, ring_cell(i, ring, first, words + HELD) + HELD, i[0, NOW])
    ring_taken_out(i, ring, first, words + HELD)
