"""Rows of a window found by their values, as those of a table are.

A window whose rows come behind all others and leave in front, a queue, knows nothing of who looks
into it. Who does keeps an index of what it has seen there: before it looks it takes out what has
left since and puts in what has come, so each row costs O(1) once.
"""

from __future__ import annotations

from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.memory import (
    allocate,
    index_add,
    index_find,
    index_remove,
    index_room,
    release,
    ring_cell,
    ring_room,
)
from cep.engine.machine.kernels.tables import column_word
from cep.engine.machine.kernels.words import (
    EVALUATION,
    INDEX,
    RING,
    RING_HEAD,
    RING_TAIL,
    VALUES,
    Floats,
    Ints,
)

# By what rows are found, as words of the program: how many values, then their columns (one of
# doubles as -1 - column).
K_COUNT, K_COLUMNS = 0, 1

# The state: an index of chains; a ring that has for each row of the queue that is known, at the
# same position, its chain and the position of the next one there; where the queue lies.
X_CHAINS, X_KNOWN, X_QUEUE, INDEXED = 0, INDEX, INDEX + RING, INDEX + RING + 1
OF_CHAIN, NEXT_THERE, LINK = 0, 1, 2
# The rows with the same values: how many, the positions of the first and the last, the values.
C_COUNT, C_FIRST, C_LAST, C_VALUES = 0, 1, 2, 3


@inner
def kept_up(
    i: Ints, f: Floats, p: Ints, keys: int, state: int, queue: int, width: int, offset: int
) -> bool:
    """Have the index know the rows of a queue as it is now; false: there is no room, call again.

    A row has so many words there and stands from `offset` on. O(rows that have come or left).
    """
    if i[0, state + X_QUEUE] != queue:  # a change of rules has put another one in its place
        while i[0, state + X_KNOWN + RING_HEAD] < i[0, state + X_KNOWN + RING_TAIL]:
            first_left(i, p, keys, state)
        i[0, state + X_QUEUE] = queue
        i[0, state + X_KNOWN + RING_HEAD] = i[0, state + X_KNOWN + RING_TAIL] = 0
    known, head = state + X_KNOWN, i[0, queue + RING_HEAD]
    while i[0, known + RING_HEAD] < min(head, i[0, known + RING_TAIL]):
        first_left(i, p, keys, state)
    if i[0, known + RING_TAIL] < head:
        i[0, known + RING_HEAD] = i[0, known + RING_TAIL] = head
    while i[0, known + RING_TAIL] < i[0, queue + RING_TAIL]:
        row = ring_cell(i, queue, i[0, known + RING_TAIL], width) + offset
        if not next_came(i, f, p, keys, state, row):
            return False
    return True


@inner
def first_left(i: Ints, p: Ints, keys: int, state: int) -> None:
    """The first row that is known has left; a chain without rows is given back."""
    known, count = state + X_KNOWN, p[keys + K_COUNT]
    link = ring_cell(i, known, i[0, known + RING_HEAD], LINK)
    chain = i[0, link + OF_CHAIN]
    i[0, known + RING_HEAD] += 1
    i[0, chain + C_COUNT] -= 1
    if i[0, chain + C_COUNT] == 0:
        index_remove(i, state + X_CHAINS, chain, count, C_VALUES)
        release(i, chain, C_VALUES + count)
    else:
        i[0, chain + C_FIRST] = i[0, link + NEXT_THERE]


@inner
def next_came(i: Ints, f: Floats, p: Ints, keys: int, state: int, row: int) -> bool:
    """A row has come behind those that are known; false: there is no room."""
    known, count = state + X_KNOWN, p[keys + K_COUNT]
    if not ring_room(i, known, LINK) or not index_room(i, state + X_CHAINS, count, C_VALUES):
        return False
    for number in range(count):
        column = p[keys + K_COLUMNS + number]
        i[0, EVALUATION + number] = column_word(i, f, row + VALUES, column)
    chain, position = chain_of(i, p, keys, state), i[0, known + RING_TAIL]
    if chain == 0:
        chain = allocate(i, C_VALUES + count)
        if chain == 0:
            return False
        for number in range(count):
            i[0, chain + C_VALUES + number] = i[0, EVALUATION + number]
        index_add(i, state + X_CHAINS, chain, count, C_VALUES)
        i[0, chain + C_COUNT] = 0
        i[0, chain + C_FIRST] = position
    else:
        last = ring_cell(i, known, i[0, chain + C_LAST], LINK)
        i[0, last + NEXT_THERE] = position
    i[0, chain + C_COUNT] += 1
    i[0, chain + C_LAST] = position
    i[0, ring_cell(i, known, position, LINK) + OF_CHAIN] = chain
    i[0, known + RING_TAIL] = position + 1
    return True


@inline
def chain_of(i: Ints, p: Ints, keys: int, state: int) -> int:
    """The rows with the values where expressions are evaluated; 0 where there are none. O(1)."""
    return index_find(i, state + X_CHAINS, EVALUATION, p[keys + K_COUNT], C_VALUES)


@inner
def chain_put(
    i: Ints, state: int, chain: int, queue: int, width: int, offset: int, target: int
) -> None:
    """Write the addresses of the rows of a chain to where there is room, the first one first."""
    position = i[0, chain + C_FIRST]
    for number in range(i[0, chain + C_COUNT]):
        i[0, target + number] = ring_cell(i, queue, position, width) + offset
        position = i[0, ring_cell(i, state + X_KNOWN, position, LINK) + NEXT_THERE]
