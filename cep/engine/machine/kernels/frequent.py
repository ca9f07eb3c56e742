"""`frequent(n, ..)` and `lossyFrequent(support, error, ..)`; see `cep.interpreter.windows`.

Sources: Misra and Gries, "Finding repeated elements" (1982); Manku and Motwani, "Approximate
frequency counts over data streams" (2002).
"""

from __future__ import annotations

from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.entries import (
    AFTER,
    ENTRIES,
    ENTRY_KEY,
    FIRST_ENTRY,
    NUMBER,
    entries_count,
    entry_dropped,
    entry_found,
    entry_of,
    entry_room,
)
from cep.engine.machine.kernels.evaluate import evaluate
from cep.engine.machine.kernels.groups import GROUP_KEYS as VALUES_COUNTED
from cep.engine.machine.kernels.rows import is_current, row_of
from cep.engine.machine.kernels.tables import SLOTS_MIN, slots_for
from cep.engine.machine.kernels.words import (
    ARGUMENTS,
    COUNT,
    CURSOR,
    EVALUATION,
    EXPIRED,
    NEXT,
    NODE,
    NOW,
    PLACE,
    STATE,
    WIDER,
    WORK_TOP,
    Floats,
    Ints,
)
from cep.engine.machine.kernels.work import as_kind, copied, hand_on, made, row_at, work_room

# A node: what makes a value (as `groups` has it), the words of a row, the expression of the hash of
# the value's texts; then the cell of the number of values and 0, or the cells of the share and of
# the rows after which rare values are forgotten.
COUNTED_WORDS, COUNTED_HASH, COUNTED_MOST, COUNTED_SHARE, COUNTED_WIDTH = (
    ARGUMENTS + 2, ARGUMENTS + 3, ARGUMENTS + 4, ARGUMENTS + 4, ARGUMENTS + 5,
)  # fmt: skip
# The state: entries of values, each with how often it came, how often at most it came before that
# unseen, its hash, its newest row; how many rows came.
TOTAL, COUNTED_STATE = ENTRIES, ENTRIES + 1
MISSED, HASH, ROW = 0, 1, 2


@inner
def step_frequent(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Rows of values that are counted; what is counted no longer leaves."""
    node = i[0, frame + NODE]
    state = i[0, frame + PLACE] + p[node + STATE]
    while i[0, frame + CURSOR] < i[0, frame + COUNT]:
        row = row_of(i, p, frame, i[0, frame + CURSOR])
        if is_current(i, row):
            if not room_for(i, p, node, state):
                return False
            row = row_of(i, p, frame, i[0, frame + CURSOR])  # it may have moved
            if p[node + COUNTED_WIDTH]:
                lossy(i, f, p, frame, state, row)
            else:
                frequent(i, f, p, frame, state, row)
        i[0, frame + CURSOR] += 1
    hand_on(i, frame, p[node + NEXT])
    return True


@inline
def kept_of(p: Ints, node: int, entry: int) -> int:
    """What is kept of a value."""
    return entry + ENTRY_KEY + p[node + VALUES_COUNTED]


@inline
def entry_words(p: Ints, node: int) -> int:
    return ENTRY_KEY + p[node + VALUES_COUNTED] + ROW + p[node + COUNTED_WORDS]


@inner
def room_for(i: Ints, p: Ints, node: int, state: int) -> bool:
    """Whether there is room for one more value, and to let all others go, in order."""
    words = (entries_count(i, state) + 2) * (p[node + WIDER] + 2)
    return work_room(i, words) and entry_room(i, p, state, node, entry_words(p, node))


@inner
def counted(i: Ints, f: Floats, p: Ints, node: int, state: int, row: int) -> int:
    """The entry of a row's value, which has one more row now, the newest; there is room."""
    had = entries_count(i, state)
    entry = entry_of(i, f, p, state, node, row, entry_words(p, node))
    kept = kept_of(p, node, entry)
    if entries_count(i, state) > had:
        evaluate(i, f, p, p[node + COUNTED_HASH], row, EVALUATION)
        i[0, kept + HASH] = i[0, EVALUATION]
        i[0, kept + MISSED] = 0
    i[0, entry + NUMBER] += 1
    copied(i, row, kept + ROW, p[node + COUNTED_WORDS])
    return entry


@inner
def frequent(i: Ints, f: Floats, p: Ints, frame: int, state: int, row: int) -> None:
    """Of n values; a new one takes one from the count of each, and a place that falls free."""
    node = i[0, frame + NODE]
    most = i[0, p[node + COUNTED_MOST]]
    if entry_found(i, f, p, state, node, row) == 0 and entries_count(i, state) >= most:
        entry = i[0, state + FIRST_ENTRY]
        while entry != 0:
            i[0, entry + NUMBER] -= 1
            entry = i[0, entry + AFTER]
        gone(i, p, frame, state, 0)
        if entries_count(i, state) >= most:
            return
    counted(i, f, p, node, state, row)
    copied(i, row, made(i, frame, p[node + WIDER]), p[node + COUNTED_WORDS])


@inner
def lossy(i: Ints, f: Floats, p: Ints, frame: int, state: int, row: int) -> None:
    """Of values with a share of all rows so far; at times too rare ones are forgotten."""
    node = i[0, frame + NODE]
    width = i[0, p[node + COUNTED_WIDTH]]
    i[0, state + TOTAL] += 1
    total = i[0, state + TOTAL]
    bucket = (total + width - 1) // width
    entry = counted(i, f, p, node, state, row)
    if i[0, entry + NUMBER] == 1:
        i[0, kept_of(p, node, entry) + MISSED] = bucket - 1
    if i[0, entry + NUMBER] >= f[0, p[node + COUNTED_SHARE]] * total:
        copied(i, row, made(i, frame, p[node + WIDER]), p[node + COUNTED_WORDS])
    if total % width == 0:
        gone(i, p, frame, state, bucket)


@inner
def gone(i: Ints, p: Ints, frame: int, state: int, most: int) -> None:
    """Let go the values that came no more often, in the order of Java's hash table of their texts.

    There is room: behind the rows that are made the values are put in order. O(values log values).
    """
    node = i[0, frame + NODE]
    count = entries_count(i, state)
    slots = slots_for(count + 1, SLOTS_MIN)
    heap = row_at(i, i[0, WORK_TOP] + (count + 1) * p[node + WIDER])
    size, number = 0, 0
    entry = i[0, state + FIRST_ENTRY]
    while entry != 0:
        kept = kept_of(p, node, entry)
        if i[0, entry + NUMBER] + i[0, kept + MISSED] <= most:
            slot = i[0, kept + HASH] & (slots - 1)
            put_on(i, heap, size, slot << 32 | number, entry)
            size += 1
        number += 1
        entry = i[0, entry + AFTER]
    while size > 0:
        entry = i[0, heap + 1]
        size -= 1
        taken_from(i, heap, size)
        out = made(i, frame, p[node + WIDER])
        copied(i, kept_of(p, node, entry) + ROW, out, p[node + COUNTED_WORDS])
        as_kind(i, out, i[0, NOW], EXPIRED)
        entry_dropped(i, p, state, node, entry, entry_words(p, node))


@inner
def put_on(i: Ints, heap: int, size: int, key: int, entry: int) -> None:
    """Put a pair on a heap, the smallest key on top."""
    place = size
    while place > 0 and i[0, heap + 2 * ((place - 1) // 2)] > key:
        copied(i, heap + 2 * ((place - 1) // 2), heap + 2 * place, 2)
        place = (place - 1) // 2
    i[0, heap + 2 * place] = key
    i[0, heap + 2 * place + 1] = entry


@inner
def taken_from(i: Ints, heap: int, size: int) -> None:
    """Take the first pair from a heap that had one more: the last one sinks to its place."""
    last, place = heap + 2 * size, 0
    while 2 * place + 1 < size:
        below = 2 * place + 1
        if below + 1 < size and i[0, heap + 2 * below + 2] < i[0, heap + 2 * below]:
            below += 1
        if i[0, heap + 2 * below] >= i[0, last]:
            break
        copied(i, heap + 2 * below, heap + 2 * place, 2)
        place = below
    copied(i, last, heap + 2 * place, 2)
