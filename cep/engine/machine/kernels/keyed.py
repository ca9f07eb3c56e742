"""Stream functions that remember rows by group: each group has a block, opened on first sight."""

from __future__ import annotations

from cep.engine.kernels.scalar import NULL
from cep.engine.machine.jit import inner
from cep.engine.machine.kernels.clocks import go_by, key_of
from cep.engine.machine.kernels.groups import key_written
from cep.engine.machine.kernels.keys import NO_KEY, TEXT_KEY
from cep.engine.machine.kernels.memory import cleared, index_add, index_find, index_room
from cep.engine.machine.kernels.words import ARGUMENTS, EVALUATION, INDEX, STATE, Floats, Ints

# A node: how many columns make a group, and their words in the row (those of doubles negated); the
# word of the key by which it has a clock (0: rows have none; negative: it is that of its home); the
# words of a group; the first word that it adds to rows. Then what each function says itself.
KEYED_KEYS, KEYED_COLUMNS, KEYED_CLOCK, KEYED_WORDS, KEYED_ADDED, KEYED = (
    ARGUMENTS, ARGUMENTS + 1, ARGUMENTS + 2, ARGUMENTS + 3, ARGUMENTS + 4, ARGUMENTS + 5,
)  # fmt: skip
# A group: the block of the key by which it has a clock, the home that it is in, its own key; then
# what the function remembers.
CLOCK_KEY, OF_HOME, OF_KEY = 0, 1, 2
KEYED_STATE = INDEX
"""Words in a home: the groups by key; without a key the first is the address of the only one."""


@inner
def clock_key(i: Ints, p: Ints, node: int, place: int, row: int) -> int:
    """The block of the key whose clock a group goes by; 0 where there is no room."""
    word = p[node + KEYED_CLOCK]
    if word == 0 or i[0, row + word] == NULL:
        return key_of(i, p, NO_KEY, NULL)
    return key_of(i, p, TEXT_KEY, i[0, row + word])


@inner
def keyed_at(i: Ints, f: Floats, p: Ints, node: int, place: int, row: int) -> int:
    """The block of a row's group, opened on first sight, by whose clock what is at work goes then;
    0 where there is no room. O(1).
    """
    group = group_at(i, f, p, node, place, row)
    if group != 0:
        go_by(i, p, node, i[0, group + CLOCK_KEY])
    return group


@inner
def group_known(i: Ints, f: Floats, p: Ints, node: int, place: int, row: int) -> int:
    """The block of a row's group; 0 where none is open. O(1)."""
    state, keys = place + p[node + STATE], p[node + KEYED_KEYS]
    if keys == 0:
        return i[0, state]
    key_written(i, f, p, node, row)
    return index_find(i, state, EVALUATION, keys, OF_KEY)


@inner
def group_at(i: Ints, f: Floats, p: Ints, node: int, place: int, row: int) -> int:
    """The same, whatever clock is gone by."""
    state, keys = place + p[node + STATE], p[node + KEYED_KEYS]
    found = group_known(i, f, p, node, place, row)
    if found != 0:
        return found
    if keys != 0 and not index_room(i, state, keys, OF_KEY):
        return 0
    key = i[0, place]
    if p[node + KEYED_CLOCK] >= 0:
        key = clock_key(i, p, node, place, row)
        if key == 0:
            return 0
    found = cleared(i, p[node + KEYED_WORDS])
    if found == 0:
        return 0
    i[0, found + CLOCK_KEY] = key
    i[0, found + OF_HOME] = place
    if keys == 0:
        i[0, state] = found
        return found
    key_written(i, f, p, node, row)
    for column in range(keys):
        i[0, found + OF_KEY + column] = i[0, EVALUATION + column]
    index_add(i, state, found, keys, OF_KEY)
    return found
