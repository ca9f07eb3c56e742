"""Whom a row concerns, of many readers that ask whether one attribute is beyond a constant.

Of a thousand alerts, each at its own price, few concern a tick: of queries those whose limit it is
beyond, of events those that it has crossed since the last tick of their key, as what was true and
is true again changes nothing. The limits stand in order, so a search finds how many of them are
passed. The table is made with the program (`cep.engine.machine.limits`), and never changes; how far
each key was is state.
"""

from __future__ import annotations

import math

from cep.engine.kernels.scalar import NULL
from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.memory import cleared, index_add, index_find, index_room
from cep.engine.machine.kernels.words import (
    CHUNK,
    EVALUATION,
    HOME,
    MADE,
    MADE_COUNT,
    WORK_TOP,
    Floats,
    Ints,
)
from cep.engine.machine.kernels.work import row_at, work_room

LIMITED = -1
"""In the place of how many readers a list has: it is a table of limits."""
# The table: all its readers as a list, the word of the row that is compared, whether that is a
# double, how many words a set of readers takes and the set of those who are always asked, how many
# sides it has and these. Where events are among them: the place of an index of keys (0: none are),
# of the stream's age, the word of the key (0: it has none), how many words are kept of a key.
(LIMITS_READERS, LIMITS_WORD, LIMITS_IS_REAL, LIMITS_SET_WORDS, LIMITS_ALWAYS, LIMITS_SIDES,
 LIMITS_SIDE_LIST, LIMITS_KEYS, LIMITS_AGE, LIMITS_KEY, LIMITS_KEPT) = range(1, 12)  # fmt: skip
# A side: whether a value is negated first, as it must be below the limits; how many limits, where
# they are, in order, and at the same places the numbers of the readers; whether these are asked
# whenever the limit is passed; the word of a key that says how many limits it had passed (0: that
# is not remembered).
(SIDE_IS_NEGATED, SIDE_COUNT, SIDE_LIMITS, SIDE_NUMBERS, SIDE_IS_ASKED, SIDE_PASSED,
 SIDE) = range(7)  # fmt: skip
# A key: its code, the age of the stream at which what follows was so, how many limits were passed.
KEPT_CODE, KEPT_AGE, KEPT_PASSED = 0, 1, 2
NOT_KNOWN = -1
"""How many limits a key had passed: all readers have to be asked."""
SET_BITS = 5
"""The readers of 32 numbers are the bits of a word."""
LARGEST = 0x7FFFFFFFFFFFFFFF


@inline
def in_order(i: Ints, f: Floats, word: int, is_real: int) -> int:
    """A whole number that stands among others as the value of a word does; NULL for none."""
    value = i[0, word]
    if is_real == 0:
        return value
    if math.isnan(f[0, word]):
        return NULL
    if f[0, word] == 0:  # also below 0
        return 0
    return value ^ ((value >> 63) & LARGEST)


@inline
def passed(p: Ints, limits: int, count: int, value: int) -> int:
    """How many limits are below a value. O(log limits)."""
    low, high = 0, count
    while low < high:
        middle = (low + high) >> 1
        if p[limits + middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def key_kept(i: Ints, p: Ints, table: int, row: int) -> int:
    """What is kept of the key of a row; 0: it has none, so that it is no event's; -1: there is no
    room.
    """
    code, keys = NULL, i[0, HOME] + p[table + LIMITS_KEYS]
    if p[table + LIMITS_KEY]:
        code = i[0, row + p[table + LIMITS_KEY]]
        if code == NULL:
            return 0
    i[0, EVALUATION] = code
    found = index_find(i, keys, EVALUATION, 1, KEPT_CODE)
    age = i[0, i[0, HOME] + p[table + LIMITS_AGE]]
    if found == 0:
        if not index_room(i, keys, 1, KEPT_CODE):
            return -1
        found = cleared(i, p[table + LIMITS_KEPT])
        if found == 0:
            return -1
        i[0, found + KEPT_CODE] = code
        i[0, found + KEPT_AGE] = age - 1
        index_add(i, keys, found, 1, KEPT_CODE)
    if i[0, found + KEPT_AGE] != age:
        i[0, found + KEPT_AGE] = age
        for word in range(KEPT_PASSED, p[table + LIMITS_KEPT]):
            i[0, found + word] = NOT_KNOWN
    return found


@inner
def looked_at(i: Ints, p: Ints, side: int, value: int, key: int, concerned: int) -> None:
    """Add to a set the readers of a side that a value concerns, or that it has done until now."""
    count, kept, now = p[side + SIDE_COUNT], p[side + SIDE_PASSED], 0
    if value != NULL:
        value = -value if p[side + SIDE_IS_NEGATED] else value
        now = passed(p, p[side + SIDE_LIMITS], count, value)
    before = now
    if kept:
        if key == 0:
            return
        before = i[0, key + kept]
        i[0, key + kept] = now
    first, last = min(before, now), max(before, now)
    if before == NOT_KNOWN:
        last = count
    if before == NOT_KNOWN or p[side + SIDE_IS_ASKED]:
        first = 0
    for place in range(first, last):
        number = p[p[side + SIDE_NUMBERS] + place]
        i[0, concerned + (number >> SET_BITS)] |= 1 << (number & 31)


@inner
def chosen(i: Ints, f: Floats, p: Ints, frame: int, table: int) -> bool:
    """Have the frame of a stream say which readers its only row concerns, in their order, as what
    it has made; false: there is no room, and nothing has happened. O(log limits + readers / 32 +
    those whom it concerns).
    """
    readers, words = p[table + LIMITS_READERS], p[table + LIMITS_SET_WORDS]
    if not work_room(i, p[readers] + words):
        return False
    row, key = row_at(i, i[0, frame + CHUNK]), 0
    if p[table + LIMITS_KEYS]:
        key = key_kept(i, p, table, row)
        if key < 0:
            return False
    first = row_at(i, i[0, WORK_TOP])
    concerned = first + p[readers]
    for word in range(words):
        i[0, concerned + word] = p[p[table + LIMITS_ALWAYS] + word]
    value = in_order(i, f, row + p[table + LIMITS_WORD], p[table + LIMITS_IS_REAL])
    for side in range(p[table + LIMITS_SIDES]):
        looked_at(i, p, p[table + LIMITS_SIDE_LIST] + side * SIDE, value, key, concerned)
    i[0, frame + MADE] = i[0, WORK_TOP]
    i[0, frame + MADE_COUNT] = listed(i, p, readers, words, concerned, first)
    i[0, WORK_TOP] += i[0, frame + MADE_COUNT]
    return True


@inline
def listed(i: Ints, p: Ints, readers: int, words: int, concerned: int, target: int) -> int:
    """Write the readers of a set, in their order; how many there are."""
    count = 0
    for word in range(words):
        bits, reader = i[0, concerned + word], readers + 1 + (word << SET_BITS)
        while bits:
            if bits & 255 == 0:
                bits, reader = bits >> 8, reader + 8
                continue
            if bits & 1:
                i[0, target + count] = p[reader]
                count += 1
            bits, reader = bits >> 1, reader + 1
    return count
