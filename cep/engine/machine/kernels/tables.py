"""Tables: rows that stay until they are deleted, by key, by index, or all in their order.

A row is a block of its own and never moves. All rows are linked in the order in which they came,
which a row whose key changes does anew. Their order as the language has it, which with a primary
key is another one, is written down when it is asked for; see `cep.interpreter.tables.keys`.
"""

from __future__ import annotations

import math

from cep.engine.kernels.groups import float_bits
from cep.engine.kernels.scalar import NULL
from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.memory import (
    index_add,
    index_find,
    index_remove,
    index_room,
    release_shared,
    shared_block,
)
from cep.engine.machine.kernels.places import comes_after, in_order
from cep.engine.machine.kernels.words import (
    EVALUATION,
    HASHES,
    HOME,
    INDEX,
    INDEX_COUNT,
    INDEX_ROOM,
    NEED,
    OWNER,
    TOP,
    Floats,
    Ints,
)
from cep.engine.machine.kernels.work import copied

# What a table is, as words of the program: where its state lies in the home of what is in no
# partition, how many values a row has, the words of its block; how many columns make the key (a
# column of doubles as -1 - column), where the key and the row stand in the block, its order, the
# types of the key; how many indexes, and their columns; the cell that counts what is dropped.
(S_STATE, S_VALUES, S_WORDS, S_KEYS, S_COLUMNS, S_KEY, S_DATA, S_ORDER, S_TYPES, S_INDEXES, S_INDEX,
 S_DROPPED) = range(12)  # fmt: skip
BY_ARRIVAL, BY_WHOLE, BY_REAL, BY_HASH = 0, 1, 2, 3
OF_WHOLE, OF_TRUTH, OF_TEXT = 0, 1, 2

# The state: the first and the last row, how many, how many came; the size of Siddhi's hash table;
# the rows in order, whether they are so now; the index of the key, then the others.
(T_FIRST, T_LAST, T_COUNT, T_CAME, T_SLOTS, T_LIST, T_LIST_ROOM, T_IS_LISTED, T_KEY) = range(9)
T_INDEXES = T_KEY + INDEX

# A row: those next to it, its number of arrival, what it is ordered by; then for each index the
# bucket and those next to it there; then its key; then its time and its values.
R_NEXT, R_BEFORE, R_CAME, R_ORDER, R_LINKS = 0, 1, 2, 3, 4
LINKS = 3
"""Words of each index in a row: its bucket, the next row there, the one before."""

# The rows with one value of an index.
B_VALUE, B_FIRST, B_LAST, BUCKET = 0, 1, 2, 4

SLOTS_MIN = 16
LAST_PLACE = 0x7FFFFFFFFFFFFFFF
LOW_32 = 0xFFFFFFFF
COLON, DASH, DIGIT = 58, 45, 48
WORDS_NULL, WORDS_TRUE, WORDS_FALSE = 3392903, 3569038, 97196323
"""The hashes, as Java has them, of `null`, `true` and `false`."""


@inline
def table_at(i: Ints, p: Ints, shape: int) -> int:
    """Where the state of a table lies."""
    return i[0, HOME] + p[shape + S_STATE]


@inline
def has_room(i: Ints, words: int) -> bool:
    """Whether so many words can be handed out."""
    if i[0, TOP] + words <= i.shape[1]:
        return True
    i[0, NEED] = words
    return False


@inner
def table_room(i: Ints, p: Ints, shape: int, table: int, rows: int) -> bool:
    """Whether there is room for so many more rows, or for others of so many rows."""
    words = rows * 2 * p[shape + S_WORDS]
    if p[shape + S_KEYS] and not rooms(i, table + T_KEY, p[shape + S_KEYS], p[shape + S_KEY], rows):
        return False
    for number in range(p[shape + S_INDEXES]):
        words += rows * BUCKET
        if not rooms(i, table + T_INDEXES + number * INDEX, 1, B_VALUE, rows):
            return False
    return has_room(i, words)


@inner
def rooms(i: Ints, index: int, words: int, offset: int, more: int) -> bool:
    """Whether an index has room for so many more blocks."""
    owner, i[0, OWNER] = i[0, OWNER], 0  # tables are nobody's who writes into them
    found = True
    i[0, index + INDEX_COUNT] += more - 1
    while found and 2 * (i[0, index + INDEX_COUNT] + 1) > i[0, index + INDEX_ROOM]:
        found = index_room(i, index, words, offset)
    i[0, index + INDEX_COUNT] -= more - 1
    i[0, OWNER] = owner
    return found


@inline
def column_word(i: Ints, f: Floats, values: int, column: int) -> int:
    """A value by which rows are found, as one word."""
    if column < 0:
        return float_bits(f[0, values - 1 - column])
    return i[0, values + column]


@inline
def key_taken(i: Ints, f: Floats, p: Ints, shape: int, values: int, target: int) -> None:
    """Write the key of a row with these values."""
    for place in range(p[shape + S_KEYS]):
        column = p[p[shape + S_COLUMNS] + place]
        i[0, target + place] = column_word(i, f, values, column)


@inner
def table_add(i: Ints, f: Floats, p: Ints, shape: int, time: int, values: int) -> None:
    """Add a row, for which there is room; one whose key is there is dropped. O(1)."""
    table, keys = table_at(i, p, shape), p[shape + S_KEYS]
    if keys:
        key_taken(i, f, p, shape, values, EVALUATION)
        if index_find(i, table + T_KEY, EVALUATION, keys, p[shape + S_KEY]) != 0:
            i[0, p[shape + S_DROPPED]] += 1
            return
    row = shared_block(i, p[shape + S_WORDS])
    i[0, row + p[shape + S_DATA]] = time
    copied(i, values, row + p[shape + S_DATA] + 1, p[shape + S_VALUES])
    i[0, table + T_COUNT] += 1
    key_set(i, f, p, shape, table, row)
    for number in range(p[shape + S_INDEXES]):
        chained(i, f, p, shape, table, row, number)


@inner
def table_remove(i: Ints, p: Ints, shape: int, row: int) -> None:
    """Delete a row. O(1)."""
    table = table_at(i, p, shape)
    for number in range(p[shape + S_INDEXES]):
        unchained(i, table, row, number)
    key_unset(i, p, shape, table, row)
    i[0, table + T_COUNT] -= 1
    release_shared(i, row, p[shape + S_WORDS])


@inner
def key_set(i: Ints, f: Floats, p: Ints, shape: int, table: int, row: int) -> None:
    """A row with its values comes, last of all, and is found by its key."""
    keys, key = p[shape + S_KEYS], row + p[shape + S_KEY]
    if keys:
        key_taken(i, f, p, shape, row + p[shape + S_DATA] + 1, key)
        index_add(i, table + T_KEY, row, keys, p[shape + S_KEY])
    last = i[0, table + T_LAST]
    i[0, row + R_NEXT] = 0
    i[0, row + R_BEFORE] = last
    if last == 0:
        i[0, table + T_FIRST] = row
    else:
        i[0, last + R_NEXT] = row
    i[0, table + T_LAST] = row
    i[0, row + R_CAME] = i[0, table + T_CAME]
    i[0, table + T_CAME] += 1
    i[0, row + R_ORDER] = order_of(i, f, p, shape, row)
    slots = slots_for(i[0, table + T_COUNT], max(i[0, table + T_SLOTS], SLOTS_MIN))
    if slots != i[0, table + T_SLOTS] and p[shape + S_ORDER] == BY_HASH:
        i[0, table + T_IS_LISTED] = 0
    i[0, table + T_SLOTS] = slots
    listed_last(i, p, shape, table, row)


@inner
def listed_last(i: Ints, p: Ints, shape: int, table: int, row: int) -> None:
    """Where all rows are in order and a new one comes behind them, they stay so."""
    count, at = i[0, table + T_COUNT] - 1, i[0, table + T_LIST]
    if not i[0, table + T_IS_LISTED]:
        return
    mask, fits = mask_of(i, p, shape, table), 2 * (count + 1) <= i[0, table + T_LIST_ROOM]
    if not fits or (
        count > 0 and not comes_after(i, row, i[0, at + count - 1], R_ORDER, mask, R_CAME)
    ):
        i[0, table + T_IS_LISTED] = 0
        return
    i[0, at + count] = row


@inner
def key_unset(i: Ints, p: Ints, shape: int, table: int, row: int) -> None:
    """A row is no longer found by its key, nor in the order."""
    if p[shape + S_KEYS]:
        index_remove(i, table + T_KEY, row, p[shape + S_KEYS], p[shape + S_KEY])
    before, following = i[0, row + R_BEFORE], i[0, row + R_NEXT]
    if before == 0:
        i[0, table + T_FIRST] = following
    else:
        i[0, before + R_NEXT] = following
    if following == 0:
        i[0, table + T_LAST] = before
    else:
        i[0, following + R_BEFORE] = before
    i[0, table + T_IS_LISTED] = 0


@inner
def chained(i: Ints, f: Floats, p: Ints, shape: int, table: int, row: int, number: int) -> None:
    """A row is found by an index; there is room for it."""
    index, links = table + T_INDEXES + number * INDEX, row + R_LINKS + number * LINKS
    column = p[p[shape + S_INDEX] + number]
    i[0, EVALUATION] = column_word(i, f, row + p[shape + S_DATA] + 1, column)
    bucket = index_find(i, index, EVALUATION, 1, B_VALUE)
    if bucket == 0:
        bucket = shared_block(i, BUCKET)
        i[0, bucket + B_VALUE] = i[0, EVALUATION]
        i[0, bucket + B_FIRST] = i[0, bucket + B_LAST] = 0
        index_add(i, index, bucket, 1, B_VALUE)
    last = i[0, bucket + B_LAST]
    i[0, links] = bucket
    i[0, links + 1] = 0
    i[0, links + 2] = last
    if last == 0:
        i[0, bucket + B_FIRST] = row
    else:
        i[0, last + R_LINKS + number * LINKS + 1] = row
    i[0, bucket + B_LAST] = row


@inner
def unchained(i: Ints, table: int, row: int, number: int) -> None:
    """A row is no longer found by an index."""
    index, offset = table + T_INDEXES + number * INDEX, R_LINKS + number * LINKS
    bucket = i[0, row + offset]
    following, before = i[0, row + offset + 1], i[0, row + offset + 2]
    if before == 0:
        i[0, bucket + B_FIRST] = following
    else:
        i[0, before + offset + 1] = following
    if following == 0:
        i[0, bucket + B_LAST] = before
    else:
        i[0, following + offset + 2] = before
    if i[0, bucket + B_FIRST] == 0:
        index_remove(i, index, bucket, 1, B_VALUE)
        release_shared(i, bucket, BUCKET)


@inner
def listed(i: Ints, p: Ints, shape: int, table: int) -> bool:
    """Write down all rows in order, where they are not; false: there is no room. O(n log n)."""
    if i[0, table + T_IS_LISTED]:
        return True
    count = i[0, table + T_COUNT]
    if 2 * count > i[0, table + T_LIST_ROOM] or i[0, table + T_LIST_ROOM] == 0:
        room = max(8, 4 * count)
        at = shared_block(i, room)
        if at == 0:
            return False
        if i[0, table + T_LIST_ROOM]:
            release_shared(i, i[0, table + T_LIST], i[0, table + T_LIST_ROOM])
        i[0, table + T_LIST] = at
        i[0, table + T_LIST_ROOM] = room
    at, row = i[0, table + T_LIST], i[0, table + T_FIRST]
    place = at
    while row != 0:
        i[0, place] = row
        place += 1
        row = i[0, row + R_NEXT]
    in_order(i, at, at + count, count, R_ORDER, mask_of(i, p, shape, table), R_CAME)
    i[0, table + T_IS_LISTED] = 1
    return True


@inline
def mask_of(i: Ints, p: Ints, shape: int, table: int) -> int:
    """Which bits of what rows are ordered by count: of a hash those of the slots."""
    if p[shape + S_ORDER] == BY_HASH:
        return i[0, table + T_SLOTS] - 1
    return -1


@inner
def order_of(i: Ints, f: Floats, p: Ints, shape: int, row: int) -> int:
    """What a row is ordered by; null is last."""
    by, key = p[shape + S_ORDER], row + p[shape + S_KEY]
    if by == BY_ARRIVAL:
        return 0
    if by == BY_WHOLE:
        return LAST_PLACE if i[0, key] == NULL else i[0, key]
    if by == BY_REAL:
        if math.isnan(f[0, key]):
            return LAST_PLACE
        return i[0, key] if i[0, key] >= 0 else i[0, key] ^ LAST_PLACE
    found = 0
    keys = p[shape + S_KEYS]
    for place in range(keys):
        found = text_added(i, p[p[shape + S_TYPES] + place], i[0, key + place], found)
        if keys > 1:
            for unit in (COLON, DASH, COLON):
                found = (31 * found + unit) & LOW_32
    return found ^ (found >> 16)


@inline
def slots_for(count: int, slots: int) -> int:
    """The slots of a hash table of Java that had so many, once it has held so many keys."""
    while count > slots * 3 // 4:
        slots *= 2
    return slots


@inline
def hash_place(i: Ints, code: int) -> int:
    """Where a text stands among the keys of a hash table of Java."""
    found = i[0, i[0, HASHES] + 2 * code]
    return found ^ (found >> 16)


@inner
def text_added(i: Ints, type_: int, value: int, before: int) -> int:
    """The hash of a text with that of a value behind it."""
    if value == NULL:
        return (before * 31**4 + WORDS_NULL) & LOW_32
    if type_ == OF_TRUTH:
        if value:
            return (before * 31**4 + WORDS_TRUE) & LOW_32
        return (before * 31**5 + WORDS_FALSE) & LOW_32
    if type_ == OF_TEXT:
        at = i[0, HASHES] + 2 * value
        power = i[0, at + 1]
        high = (((before * (power >> 16)) & LOW_32) << 16) & LOW_32
        return (high + before * (power & 0xFFFF) + i[0, at]) & LOW_32
    if value < 0:
        before = (31 * before + DASH) & LOW_32
        value = -value
    size = 1
    while value // size >= 10:
        size *= 10
    while size > 0:
        before = (31 * before + DIGIT + value // size % 10) & LOW_32
        size //= 10
    return before
