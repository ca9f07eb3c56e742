"""Steps that see together what was selected together: the last row, of groups; order; limits."""

from __future__ import annotations

import math

from cep.engine.kernels.groups import float_bits
from cep.engine.kernels.scalar import NULL
from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.memory import hash_of
from cep.engine.machine.kernels.words import (
    ARGUMENTS,
    CHUNK,
    COUNT,
    EVALUATION,
    EXPIRED,
    KIND,
    NEXT,
    NODE,
    RANKS,
    RESET,
    WIDTH,
    WORK_TOP,
    Floats,
    Ints,
)
from cep.engine.machine.kernels.work import (
    copied,
    hand_on,
    hand_on_same,
    made,
    put,
    row_at,
    work_room,
)

# The last row: whether of each group, how many columns make a group, and their words in the row
# (those of doubles negated).
LAST_BY_GROUP, LAST_KEYS, LAST_COLUMNS, LAST_CHUNK = range(ARGUMENTS, ARGUMENTS + 4)
# Order: how many keys, and where they stand: the word, how it is compared, whether downward.
SORT_KEYS, SORT_FIRST, SORT_CHUNK = ARGUMENTS, ARGUMENTS + 1, ARGUMENTS + 2
KEY_WORD, KEY_TYPE, KEY_DOWN, SORT_KEY = 0, 1, 2, 3
AS_WHOLE, AS_REAL, AS_TEXT = 0, 1, 2
# Limits: cells of how many rows (or 0) after how many, and whether expired ones pass.
SLICE_LIMIT, SLICE_OFFSET, SLICE_PASSES, SLICE_CHUNK = range(ARGUMENTS, ARGUMENTS + 4)
# Each ends with the word that says by which chunk a row was selected, where several come together
# that are treated one by one; 0 where they are one.


@inner
def step_last(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Of the rows only the last, or that of each group, which stands where its first row did."""
    node = i[0, frame + NODE]
    count, width = i[0, frame + COUNT], p[node + WIDTH]
    by_group = p[node + LAST_BY_GROUP]
    buckets = 4
    while buckets < 2 * count:
        buckets *= 2
    if by_group and count > 1 and not work_room(i, buckets):
        return False
    first = row_at(i, i[0, frame + CHUNK])
    table, kept, chunk = 0, 0, p[node + LAST_CHUNK]
    if by_group and count > 1:
        table = row_at(i, i[0, WORK_TOP])  # above all rows: nobody uses it meanwhile
        for bucket in range(buckets):
            i[0, table + bucket] = 0
    for place in range(count):
        row = first + place * width
        if i[0, row + KIND] == RESET:
            continue
        target = kept
        if not by_group and kept and is_chunk_of(i, chunk, row, first + (kept - 1) * width):
            target = kept - 1
        if table != 0:
            target = place_of_group(i, f, p, node, first, row, table, buckets, kept)
        if first + target * width != row:
            copied(i, row, first + target * width, width)
        kept = max(kept, target + 1)
    hand_on_same(i, frame, p[node + NEXT], kept)
    return True


@inline
def is_chunk_of(i: Ints, chunk: int, row: int, other: int) -> bool:
    """Whether two rows were selected by one chunk: its number stands in a word, if there are."""
    return chunk == 0 or i[0, row + chunk] == i[0, other + chunk]


@inner
def place_of_group(
    i: Ints,
    f: Floats,
    p: Ints,
    node: int,
    first: int,
    row: int,
    table: int,
    buckets: int,
    kept: int,
) -> int:
    """Where the group of a row stands among those kept so far: behind them if it is new. O(1)."""
    keys = p[node + LAST_KEYS]
    for column in range(keys):
        i[0, EVALUATION + column] = key_word(i, f, p, node, row, column)
    chunk = p[node + LAST_CHUNK]
    bucket = hash_of(i, EVALUATION, keys) & (buckets - 1)
    while i[0, table + bucket] != 0:
        place = i[0, table + bucket] - 1
        other = first + place * p[node + WIDTH]
        same = is_chunk_of(i, chunk, row, other)
        for column in range(keys):
            if key_word(i, f, p, node, other, column) != i[0, EVALUATION + column]:
                same = False
        if same:
            return place
        bucket = (bucket + 1) & (buckets - 1)
    i[0, table + bucket] = kept + 1
    return kept


@inline
def key_word(i: Ints, f: Floats, p: Ints, node: int, row: int, column: int) -> int:
    """A value of the key of a row's group."""
    word = p[p[node + LAST_COLUMNS] + column]
    return float_bits(f[0, row - word]) if word < 0 else i[0, row + word]


@inner
def step_sort(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Each run of rows of one kind in order, equal ones as they stand: a merge sort of places."""
    node = i[0, frame + NODE]
    count, width = i[0, frame + COUNT], p[node + WIDTH]
    if not work_room(i, 2 * count + count * width):
        return False
    chunk = i[0, frame + CHUNK]
    one, other = row_at(i, put(i, count)), row_at(i, put(i, count))
    for place in range(count):
        i[0, one + place] = place
    first, begin = row_at(i, chunk), 0
    while begin < count:
        end = end_of_run(i, p, node, first, begin, count)
        sort_run(i, f, p, node, first, one, other, begin, end)
        begin = end
    for place in range(count):
        copied(i, first + i[0, one + place] * width, made(i, frame, width), width)
    hand_on(i, frame, p[node + NEXT])
    return True


@inner
def end_of_run(i: Ints, p: Ints, node: int, first: int, begin: int, count: int) -> int:
    """Behind the rows of one kind, and of one chunk, that begin at a place."""
    width, chunk = p[node + WIDTH], p[node + SORT_CHUNK]
    row, end = first + begin * width, begin + 1
    while end < count:
        other = first + end * width
        if i[0, row + KIND] != i[0, other + KIND] or not is_chunk_of(i, chunk, row, other):
            break
        end += 1
    return end


@inner
def sort_run(
    i: Ints, f: Floats, p: Ints, node: int, first: int, one: int, other: int, begin: int, end: int
) -> None:
    """Put the places of a run in order."""
    length, source, target = 1, one, other
    while length < end - begin:
        for low in range(begin, end, 2 * length):
            merge(i, f, p, node, first, source, target, low, min(low + length, end),
                  min(low + 2 * length, end))  # fmt: skip
        source, target = target, source
        length *= 2
    if source != one:
        for place in range(begin, end):
            i[0, one + place] = i[0, source + place]


@inner
def merge(
    i: Ints, f: Floats, p: Ints, node: int, first: int, one: int, other: int,
    low: int, middle: int, high: int,
) -> None:  # fmt: skip
    """Merge two neighbouring runs of places, each of which is in order."""
    left, right, width = low, middle, p[node + WIDTH]
    for place in range(low, high):
        takes_left = right >= high
        if left < middle and right < high:
            a, b = first + i[0, one + left] * width, first + i[0, one + right] * width
            keys, key = p[node + SORT_KEYS], p[node + SORT_FIRST]
            takes_left = not comes_before(i, f, p, keys, key, b, a)
        if takes_left:
            i[0, other + place] = i[0, one + left]
            left += 1
        else:
            i[0, other + place] = i[0, one + right]
            right += 1


@inner
def comes_before(i: Ints, f: Floats, p: Ints, keys: int, first: int, a: int, b: int) -> bool:
    """Whether a row stands in front of one that came before it; null is last either way."""
    if i[0, a + KIND] == RESET:
        return False
    for number in range(keys):
        key = first + number * SORT_KEY
        word, type_, down = p[key + KEY_WORD], p[key + KEY_TYPE], p[key + KEY_DOWN]
        no_a, no_b = is_missing(i, f, type_, a + word), is_missing(i, f, type_, b + word)
        if no_a or no_b:
            if no_a != no_b:
                return no_b
            continue
        if type_ == AS_REAL:
            x, y = f[0, a + word], f[0, b + word]
            if x != y:
                return x > y if down else x < y
            continue
        m, n = i[0, a + word], i[0, b + word]
        if type_ == AS_TEXT:
            m, n = i[0, i[0, RANKS] + m], i[0, i[0, RANKS] + n]
        if m != n:
            return m > n if down else m < n
    return False


@inline
def is_missing(i: Ints, f: Floats, type_: int, at: int) -> bool:
    return math.isnan(f[0, at]) if type_ == AS_REAL else i[0, at] == NULL


@inner
def step_slice(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Leave out the first rows, then those beyond the limit; see `cep.plan.steps.Slice`."""
    node = i[0, frame + NODE]
    width, first = p[node + WIDTH], row_at(i, i[0, frame + CHUNK])
    limit = -1 if p[node + SLICE_LIMIT] == 0 else i[0, p[node + SLICE_LIMIT]]
    count, kept, previous = -i[0, p[node + SLICE_OFFSET]], 0, 0
    passes, chunk = p[node + SLICE_PASSES], p[node + SLICE_CHUNK]
    for place in range(i[0, frame + COUNT]):
        row = first + place * width
        if chunk and place and i[0, row + chunk] != previous:
            count = -i[0, p[node + SLICE_OFFSET]]  # the next one begins
        if chunk:
            previous = i[0, row + chunk]
        kind = i[0, row + KIND]
        is_counted = not (passes and kind == RESET)
        is_within = limit < 0 or count < limit or (passes and kind == EXPIRED)
        if not is_counted or (count >= 0 and is_within):
            if kept != place:
                copied(i, row, first + kept * width, width)
            kept += 1
        if is_counted and (count < 0 or is_within):
            count += 1
    hand_on_same(i, frame, p[node + NEXT], kept)
    return True
