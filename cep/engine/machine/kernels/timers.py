"""What is due: a binary heap by time, place in the file, number of the key, and turn. O(log n)."""

from __future__ import annotations

from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.words import (
    DUE_KEY,
    DUE_MS,
    DUE_NODE,
    DUE_PLACE,
    DUE_RANK,
    DUE_TURN,
    DUE_WORDS,
    TIMERS,
    TIMERS_COUNT,
    TIMERS_ROOM,
    TURN,
    Ints,
)
from cep.engine.machine.kernels.work import moved


@inline
def timer_room(i: Ints, count: int) -> bool:
    """Whether there is room for so many more."""
    used = i[0, TIMERS_COUNT] * DUE_WORDS
    least = used + count * DUE_WORDS
    return least <= i[0, TIMERS_ROOM] or moved(i, TIMERS, used, least)


@inline
def next_turn(i: Ints) -> int:
    """The turn of what is set now: of what is due together, what was set first comes first."""
    turn = i[0, TURN]
    i[0, TURN] = turn + 1
    return turn


@inner
def is_before(i: Ints, one: int, other: int) -> bool:
    for word in range(DUE_MS, DUE_TURN + 1):
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
def set_timer(i: Ints, due_ms: int, rank: int, key: int, turn: int, node: int, place: int) -> None:
    """Have a node told at a time, for which there is room; a time that has passed comes next."""
    number = i[0, TIMERS_COUNT]
    i[0, TIMERS_COUNT] = number + 1
    first = i[0, TIMERS]
    at = first + number * DUE_WORDS
    i[0, at + DUE_MS] = due_ms
    i[0, at + DUE_RANK] = rank
    i[0, at + DUE_KEY] = key
    i[0, at + DUE_TURN] = turn
    i[0, at + DUE_NODE] = node
    i[0, at + DUE_PLACE] = place
    while number > 0:
        above = (number - 1) // 2
        if not is_before(i, first + number * DUE_WORDS, first + above * DUE_WORDS):
            return
        swap(i, first + number * DUE_WORDS, first + above * DUE_WORDS)
        number = above


@inner
def timer_taken(i: Ints) -> None:
    """Take out the first."""
    first = i[0, TIMERS]
    count = i[0, TIMERS_COUNT] - 1
    i[0, TIMERS_COUNT] = count
    swap(i, first, first + count * DUE_WORDS)
    number = 0
    while True:
        least = number
        for below in range(2 * number + 1, min(2 * number + 3, count)):
            if is_before(i, first + below * DUE_WORDS, first + least * DUE_WORDS):
                least = below
        if least == number:
            return
        swap(i, first + number * DUE_WORDS, first + least * DUE_WORDS)
        number = least
