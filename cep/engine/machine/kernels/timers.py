"""What is due: a binary heap by time, place in the file, number of the key, and turn. O(log n).

Most timers of a program are set in the order in which they are due, as they all wait for as long.
As long as that is so the heap stands in order: the next one goes to its end, and the first one
leaves by the heap beginning behind it. O(1).

A clock has such a heap: the header's, where there is one clock, else one of its own (`clocks`).
"""

from __future__ import annotations

from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.memory import release_shared, shared_block
from cep.engine.machine.kernels.words import (
    CLOCK,
    CLOCK_MOVES,
    CLOCK_TO,
    DUE_KEY,
    DUE_MS,
    DUE_NODE,
    DUE_PLACE,
    DUE_RANK,
    DUE_TURN,
    DUE_WORDS,
    HEAP_AT,
    HEAP_COUNT,
    HEAP_GONE,
    HEAP_IS_MIXED,
    HEAP_ROOM,
    KEY_NUMBER,
    TIMERS,
    TURN,
    Ints,
)
from cep.engine.machine.kernels.work import copied


@inline
def heap_block(i: Ints, heap: int) -> int:
    """Where the block of a heap begins."""
    return i[0, heap + HEAP_AT] - i[0, heap + HEAP_GONE] * DUE_WORDS


@inner
def heap_grew(i: Ints, heap: int, count: int) -> bool:
    """Make room for so many more: where others have gone, if that is half of the block, else in a
    longer one; false: there is no room.
    """
    used, room = i[0, heap + HEAP_COUNT] * DUE_WORDS, i[0, heap + HEAP_ROOM]
    first, block = i[0, heap + HEAP_AT], heap_block(i, heap)
    least, at = used + count * DUE_WORDS, block
    if 2 * least > room:
        wider = max(2 * room, least)
        at = shared_block(i, wider)
        if at == 0:
            return False
        i[0, heap + HEAP_ROOM] = wider
    copied(i, first, at, used)
    if at != block and room:
        release_shared(i, block, room)
    i[0, heap + HEAP_AT] = at
    i[0, heap + HEAP_GONE] = 0
    return True


@inline
def heap_room(i: Ints, heap: int, count: int) -> bool:
    """Whether there is room for so many more on a heap."""
    least = (i[0, heap + HEAP_GONE] + i[0, heap + HEAP_COUNT] + count) * DUE_WORDS
    return least <= i[0, heap + HEAP_ROOM] or heap_grew(i, heap, count)


@inline
def timer_room(i: Ints, count: int) -> bool:
    """Whether there is room for so many more of what is at work."""
    clock = i[0, CLOCK]
    return heap_room(i, clock, count) and (clock == TIMERS or heap_room(i, TIMERS, count))


@inline
def next_turn(i: Ints) -> int:
    """The turn of what is set now: of what is due together, what was set first comes first."""
    turn = i[0, TURN]
    i[0, TURN] = turn + 1
    return turn


@inline
def is_before(i: Ints, one: int, other: int) -> bool:
    """Whether one is due before another."""
    if i[0, one + DUE_MS] != i[0, other + DUE_MS]:
        return i[0, one + DUE_MS] < i[0, other + DUE_MS]
    for word in range(DUE_RANK, DUE_TURN + 1):
        if i[0, one + word] != i[0, other + word]:
            return i[0, one + word] < i[0, other + word]
    return False


@inner
def swap(i: Ints, one: int, other: int) -> None:
    for word in range(DUE_WORDS):
        held = i[0, one + word]
        i[0, one + word] = i[0, other + word]
        i[0, other + word] = held


@inner
def rises(i: Ints, heap: int, number: int) -> None:
    """One of a heap goes to its place, which is not below it."""
    first = i[0, heap + HEAP_AT]
    while number > 0:
        above = (number - 1) // 2
        if not is_before(i, first + number * DUE_WORDS, first + above * DUE_WORDS):
            return
        swap(i, first + number * DUE_WORDS, first + above * DUE_WORDS)
        number = above


@inline
def put_last(i: Ints, heap: int) -> int:
    """The address of one more on a heap, for which there is room; `is_put` then."""
    count = i[0, heap + HEAP_COUNT]
    i[0, heap + HEAP_COUNT] = count + 1
    return i[0, heap + HEAP_AT] + count * DUE_WORDS


@inline
def is_put(i: Ints, heap: int, at: int) -> None:
    """The last one goes to its place, which is the end while all stand in order."""
    if not i[0, heap + HEAP_IS_MIXED]:
        if i[0, heap + HEAP_COUNT] == 1 or not is_before(i, at, at - DUE_WORDS):
            return
        i[0, heap + HEAP_IS_MIXED] = 1
    rises(i, heap, i[0, heap + HEAP_COUNT] - 1)


@inner
def looked_at(i: Ints, clock: int) -> None:
    """What is due first on a clock on its way is put where the first of all is found; there is
    room. What was put there for it before may be out of date: see `clocks`.
    """
    if i[0, clock + HEAP_COUNT] == 0:
        return
    first = i[0, clock + HEAP_AT]
    if i[0, first + DUE_MS] > i[0, clock + CLOCK_TO]:
        return
    at = put_last(i, TIMERS)
    for word in range(DUE_TURN + 1):
        i[0, at + word] = i[0, first + word]
    i[0, at + DUE_NODE] = clock
    i[0, at + DUE_PLACE] = 0
    is_put(i, TIMERS, at)


@inner
def set_timer(i: Ints, due_ms: int, rank: int, key: int, turn: int, node: int, place: int) -> None:
    """Have a node told at a time, for which there is room; a time that has passed comes next. `key`
    is the block of the key that the place is of; 0: of none.
    """
    clock = i[0, CLOCK]
    at = put_last(i, clock)
    i[0, at + DUE_MS] = due_ms
    i[0, at + DUE_RANK] = rank
    i[0, at + DUE_KEY] = i[0, key + KEY_NUMBER] if key else 0
    i[0, at + DUE_TURN] = turn
    i[0, at + DUE_NODE] = node
    i[0, at + DUE_PLACE] = place
    is_put(i, clock, at)
    if clock != TIMERS and i[0, clock + CLOCK_MOVES]:
        looked_at(i, clock)


@inline
def timer_taken(i: Ints, heap: int) -> None:
    """Take out the first of a heap."""
    if i[0, heap + HEAP_IS_MIXED]:
        sank(i, heap)
    else:
        i[0, heap + HEAP_AT] += DUE_WORDS
        i[0, heap + HEAP_GONE] += 1
        i[0, heap + HEAP_COUNT] -= 1
    if i[0, heap + HEAP_COUNT] == 0:
        emptied(i, heap)


@inline
def emptied(i: Ints, heap: int) -> None:
    """A heap on which nothing is left stands in order, from the beginning of its block."""
    i[0, heap + HEAP_AT] = heap_block(i, heap)
    i[0, heap + HEAP_GONE] = i[0, heap + HEAP_IS_MIXED] = 0


@inner
def sank(i: Ints, heap: int) -> None:
    """Take out the first of a heap that does not stand in order.

    The gap that it leaves goes down to the end, whichever of the two below it is due first, and the
    last one rises from there: it is mostly due late, so that looking for its place on the way down
    would cost a comparison more at each step (Wegener, "Bottom-up heapsort", 1993).
    """
    first = i[0, heap + HEAP_AT]
    count = i[0, heap + HEAP_COUNT] - 1
    i[0, heap + HEAP_COUNT] = count
    gap, below = 0, 1
    while below < count:
        at = first + below * DUE_WORDS
        if below + 1 < count and is_before(i, at + DUE_WORDS, at):
            at += DUE_WORDS
            below += 1
        copied(i, at, first + gap * DUE_WORDS, DUE_WORDS)
        gap, below = below, 2 * below + 1
    if gap < count:
        copied(i, first + count * DUE_WORDS, first + gap * DUE_WORDS, DUE_WORDS)
        rises(i, heap, gap)
