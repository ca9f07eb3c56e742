"""Rows of a table or of a window on which a condition is true, seen from a row that asks.

The row that asks has room for the one that is looked at: its time, then its values. Where rows are
found by a value it takes O(1) and those that have it, else O(rows), always in the order of the
language.
"""

from __future__ import annotations

import math

from cep.engine.kernels.groups import float_bits
from cep.engine.kernels.scalar import NULL
from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.evaluate import evaluate, is_true, leave_value
from cep.engine.machine.kernels.memory import allocate, index_find, release, ring_cell, ring_length
from cep.engine.machine.kernels.places import in_order
from cep.engine.machine.kernels.queues_by_value import (
    C_COUNT,
    K_COUNT,
    chain_of,
    chain_put,
    kept_up,
)
from cep.engine.machine.kernels.rows import IS_MIXED
from cep.engine.machine.kernels.tables import (
    B_FIRST,
    B_VALUE,
    LINKS,
    R_CAME,
    R_LINKS,
    R_ORDER,
    S_DATA,
    S_KEY,
    S_KEYS,
    T_COUNT,
    T_INDEXES,
    T_KEY,
    T_LIST,
    listed,
    mask_of,
    table_at,
)
from cep.engine.machine.kernels.words import (
    ASKING,
    EVALUATION,
    FAILED,
    INDEX,
    RING_HEAD,
    RING_TAIL,
    TIME,
    VALUES,
    Floats,
    Ints,
)
from cep.engine.machine.kernels.work import copied

# What a search is, as words of the program: the table or 0; where its own state lies in the home of
# the node; by what rows are found, the expressions of that and whether they are doubles; the word
# of the asking row for what is looked at, how many values that has, the condition; then of a window
# where its ring lies, the words of a row there, where the row stands in these, whether its turn
# stands in front and they may lie in another order; the expression that fills the ring for the row
# that asks, or 0; the columns by which rows are found, and where the index of these lies.
(Q_SHAPE, Q_FOUND, Q_BY, Q_CODES, Q_REALS, Q_AT, Q_COUNT, Q_ON, Q_RING, Q_WIDTH, Q_OFFSET,
 Q_BY_TURN, Q_VIEW, Q_KEYS, Q_INDEXED, SEARCH) = range(16)  # fmt: skip
BY_NOTHING, BY_KEY, BY_INDEX = -1, 0, 1
"""All rows; the primary key, or the columns of a queue; then the indexes."""

# The state: a block for addresses, its words, where those that were found lie; another block, for
# those that fit, and its words; how many were found, and of those how many have been looked at.
F_BLOCK, F_ROOM, F_AT, F_FITTING, F_COUNT, F_SEEN, FOUND = 0, 1, 2, 3, 5, 6, 7
NO_ROOM = -1


@inner
def found_room(i: Ints, state: int, words: int) -> bool:
    """Whether there is room for so many addresses."""
    if words <= i[0, state + F_ROOM]:
        return True
    wider = max(8, 2 * words)
    at = allocate(i, wider)
    if at == 0:
        return False
    if i[0, state + F_ROOM]:
        release(i, i[0, state + F_BLOCK], i[0, state + F_ROOM])
    i[0, state + F_BLOCK] = at
    i[0, state + F_ROOM] = wider
    return True


@inner
def candidates(i: Ints, f: Floats, p: Ints, search: int, place: int, row: int) -> int:
    """How many rows there are to look at; their addresses are at `F_AT`. NO_ROOM: call again."""
    state, by = place + p[search + Q_FOUND], p[search + Q_BY]
    if p[search + Q_SHAPE] == 0:
        ring = place + p[search + Q_RING]
        is_queue = p[search + Q_BY_TURN] == 0 or i[0, ring + IS_MIXED] == 0
        if by == BY_KEY and is_queue:
            return held_in_queue(i, f, p, search, place, row)
        return held_in_window(i, p, search, place, state)
    shape = p[search + Q_SHAPE]
    table = table_at(i, p, shape)
    if by == BY_NOTHING:
        if not listed(i, p, shape, table):
            return NO_ROOM
        i[0, state + F_AT] = i[0, table + T_LIST]
        return i[0, table + T_COUNT]
    keys = p[shape + S_KEYS] if by == BY_KEY else 1
    if not are_given(i, f, p, search, keys, row):
        return 0
    if by == BY_KEY:
        found = index_find(i, table + T_KEY, EVALUATION, keys, p[shape + S_KEY])
        if found == 0:
            return 0
        if not found_room(i, state, 1):
            return NO_ROOM
        i[0, state + F_AT] = i[0, state + F_BLOCK]
        i[0, i[0, state + F_BLOCK]] = found
        return 1
    return of_bucket(i, p, shape, table, state, by - BY_INDEX)


@inner
def are_given(i: Ints, f: Floats, p: Ints, search: int, keys: int, row: int) -> bool:
    """Write the values by which rows are found, so many, to where expressions are evaluated; false:
    one is null, which equals nothing.
    """
    for number in range(keys):
        at = EVALUATION + number
        leave_value(i, f, p, p[p[search + Q_CODES] + number], row, at)
        if p[p[search + Q_REALS] + number]:
            if math.isnan(f[0, at]):
                return False
            i[0, at] = float_bits(f[0, at])
        elif i[0, at] == NULL:
            return False
    return True


@inner
def viewed(i: Ints, f: Floats, p: Ints, search: int, place: int, row: int) -> bool:
    """Have Python put what a row asks for into the ring; false: there is no room for it."""
    if p[search + Q_VIEW] == 0:
        return True
    ring = place + p[search + Q_RING]
    i[0, ring + RING_HEAD] = i[0, ring + RING_TAIL]
    i[0, ASKING] = place
    evaluate(i, f, p, p[search + Q_VIEW], row, EVALUATION)
    return i[0, FAILED] != 0 or i[0, EVALUATION] != 0


@inner
def of_bucket(i: Ints, p: Ints, shape: int, table: int, state: int, number: int) -> int:
    """The rows whose value by an index was written to where expressions are evaluated."""
    bucket = index_find(i, table + T_INDEXES + number * INDEX, EVALUATION, 1, B_VALUE)
    if bucket == 0:
        return 0
    count, row, link = 0, i[0, bucket + B_FIRST], R_LINKS + number * LINKS + 1
    while row != 0:
        count += 1
        row = i[0, row + link]
    if not found_room(i, state, 2 * count):
        return NO_ROOM
    at, row = i[0, state + F_BLOCK], i[0, bucket + B_FIRST]
    for place in range(count):
        i[0, at + place] = row
        row = i[0, row + link]
    in_order(i, at, at + count, count, R_ORDER, mask_of(i, p, shape, table), R_CAME)
    i[0, state + F_AT] = at
    return count


@inner
def held_in_queue(i: Ints, f: Floats, p: Ints, search: int, place: int, row: int) -> int:
    """The rows of a queue that have the values which a row asks for, in the order in which they
    came.
    """
    state, indexed = place + p[search + Q_FOUND], place + p[search + Q_INDEXED]
    queue, width, offset = place + p[search + Q_RING], p[search + Q_WIDTH], p[search + Q_OFFSET]
    keys = p[search + Q_KEYS]
    if not kept_up(i, f, p, keys, indexed, queue, width, offset):
        return NO_ROOM
    if not are_given(i, f, p, search, p[keys + K_COUNT], row):
        return 0
    chain = chain_of(i, p, keys, indexed)
    if chain == 0:
        return 0
    if not found_room(i, state, i[0, chain + C_COUNT]):
        return NO_ROOM
    i[0, state + F_AT] = i[0, state + F_BLOCK]
    chain_put(i, indexed, chain, queue, width, offset, i[0, state + F_AT])
    return i[0, chain + C_COUNT]


@inner
def held_in_window(i: Ints, p: Ints, search: int, place: int, state: int) -> int:
    """The rows of a window, in the order in which they came."""
    ring, width, offset = place + p[search + Q_RING], p[search + Q_WIDTH], p[search + Q_OFFSET]
    count = ring_length(i, ring)
    if not found_room(i, state, max(1, 2 * count)):
        return NO_ROOM
    at, head = i[0, state + F_BLOCK], i[0, ring + RING_HEAD]
    for number in range(count):
        i[0, at + number] = ring_cell(i, ring, head + number, width) + offset
    if p[search + Q_BY_TURN]:
        in_order(i, at, at + count, count, -1, -1, -1)
    i[0, state + F_AT] = at
    return count


@inline
def candidate(i: Ints, p: Ints, search: int, place: int, number: int) -> int:
    """The address of one of the rows to look at."""
    return i[0, i[0, place + p[search + Q_FOUND] + F_AT] + number]


@inline
def looked_at(i: Ints, p: Ints, search: int, held: int, row: int) -> None:
    """Write a row that is looked at into the one that asks."""
    at, count = row + p[search + Q_AT], p[search + Q_COUNT]
    if p[search + Q_SHAPE]:
        copied(i, held + p[p[search + Q_SHAPE] + S_DATA], at, 1 + count)
    else:
        i[0, at] = i[0, held + TIME]
        copied(i, held + VALUES, at + 1, count)


@inline
def fits(i: Ints, f: Floats, p: Ints, search: int, place: int, number: int, row: int) -> bool:
    """Whether the condition is true on one of the rows, which is written into the one that asks."""
    looked_at(i, p, search, candidate(i, p, search, place, number), row)
    return is_true(i, f, p, p[search + Q_ON], row)
