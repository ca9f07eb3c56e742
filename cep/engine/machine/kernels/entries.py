"""What is kept for each group of rows, in the order in which groups came: blocks behind an index.

The node that has them says in its first arguments what makes a group, as `groups` does.
"""

from __future__ import annotations

from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.groups import GROUP_KEYS, key_written
from cep.engine.machine.kernels.memory import (
    allocate,
    index_add,
    index_find,
    index_remove,
    index_room,
    release,
)
from cep.engine.machine.kernels.words import (
    EVALUATION,
    INDEX,
    INDEX_AT,
    INDEX_COUNT,
    INDEX_ROOM,
    Floats,
    Ints,
)

# An entry: the one that came before it and after it (0: none), a number, the values of its key,
# then what is kept.
BEFORE, AFTER, NUMBER, ENTRY_KEY = 0, 1, 2, 3

# The entries: an index by key, the first and the last.
FIRST_ENTRY, LAST_ENTRY, ENTRIES = INDEX, INDEX + 1, INDEX + 2


@inner
def entry_found(i: Ints, f: Floats, p: Ints, entries: int, node: int, row: int) -> int:
    """The entry of the group of a row; 0 where there is none. O(1)."""
    key_written(i, f, p, node, row)
    return index_find(i, entries, EVALUATION, p[node + GROUP_KEYS], ENTRY_KEY)


@inner
def entry_room(i: Ints, p: Ints, entries: int, node: int, words: int) -> bool:
    """Whether there is room for one more entry of so many words, made where there is not."""
    if not index_room(i, entries, p[node + GROUP_KEYS], ENTRY_KEY):
        return False
    block = allocate(i, words)
    if block == 0:
        return False
    release(i, block, words)  # the next one that asks gets it
    return True


@inner
def entry_of(i: Ints, f: Floats, p: Ints, entries: int, node: int, row: int, words: int) -> int:
    """The entry of the group of a row, made of so many words with the number 0 where there is none;
    0 where there is no room. O(1).
    """
    keys = p[node + GROUP_KEYS]
    found = entry_found(i, f, p, entries, node, row)
    if found != 0 or not index_room(i, entries, keys, ENTRY_KEY):
        return found
    found = allocate(i, words)
    if found == 0:
        return 0
    for column in range(keys):
        i[0, found + ENTRY_KEY + column] = i[0, EVALUATION + column]
    i[0, found + NUMBER] = i[0, found + AFTER] = 0
    i[0, found + BEFORE] = i[0, entries + LAST_ENTRY]
    if i[0, entries + LAST_ENTRY] == 0:
        i[0, entries + FIRST_ENTRY] = found
    else:
        i[0, i[0, entries + LAST_ENTRY] + AFTER] = found
    i[0, entries + LAST_ENTRY] = found
    index_add(i, entries, found, keys, ENTRY_KEY)
    return found


@inner
def entry_dropped(i: Ints, p: Ints, entries: int, node: int, entry: int, words: int) -> None:
    """Forget an entry."""
    before, after = i[0, entry + BEFORE], i[0, entry + AFTER]
    if before == 0:
        i[0, entries + FIRST_ENTRY] = after
    else:
        i[0, before + AFTER] = after
    if after == 0:
        i[0, entries + LAST_ENTRY] = before
    else:
        i[0, after + BEFORE] = before
    index_remove(i, entries, entry, p[node + GROUP_KEYS], ENTRY_KEY)
    release(i, entry, words)


@inner
def entries_dropped(i: Ints, entries: int, words: int) -> None:
    """Forget all entries. O(room)."""
    entry = i[0, entries + FIRST_ENTRY]
    while entry != 0:
        after = i[0, entry + AFTER]
        release(i, entry, words)
        entry = after
    for bucket in range(i[0, entries + INDEX_ROOM]):
        i[0, i[0, entries + INDEX_AT] + bucket] = 0
    i[0, entries + INDEX_COUNT] = 0
    i[0, entries + FIRST_ENTRY] = i[0, entries + LAST_ENTRY] = 0


@inline
def entries_count(i: Ints, entries: int) -> int:
    return i[0, entries + INDEX_COUNT]
