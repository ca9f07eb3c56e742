"""Keys: each has a block, in the order in which they came first; timers of one time stand by it."""

from __future__ import annotations

from cep.engine.kernels.scalar import NULL
from cep.engine.machine.jit import inner
from cep.engine.machine.kernels.memory import allocate, index_add, index_find, index_room
from cep.engine.machine.kernels.words import (
    EVALUATION,
    FIRST_KEY,
    FIRSTS,
    KEY,
    KEY_BEFORE,
    KEY_CLOCKS,
    KEY_COMPLETE,
    KEY_NUMBER,
    KEY_PASSED,
    KEY_TAG,
    KEY_VALUE,
    KEYS_COUNTED,
    Ints,
)

# What a key is: of records without one, a text, or the value of an expression of another type.
NO_KEY, TEXT_KEY, WHOLE_KEY, REAL_KEY, TRUTH_KEY = 0, 1, 2, 3, 4


@inner
def key_found(i: Ints, tag: int, value: int) -> int:
    """The block of a key, 0 where it has none. O(1)."""
    i[0, EVALUATION] = tag
    i[0, EVALUATION + 1] = value
    return index_find(i, FIRSTS, EVALUATION, 2, KEY_TAG)


@inner
def key_made(i: Ints, tag: int, value: int) -> int:
    """A block for a key that has none, without a number; 0 where there is no room."""
    if not index_room(i, FIRSTS, 2, KEY_TAG):
        return 0
    key = allocate(i, KEY)
    if key == 0:
        return 0
    i[0, key + KEY_TAG] = tag
    i[0, key + KEY_VALUE] = value
    i[0, key + KEY_NUMBER] = i[0, key + KEY_COMPLETE] = i[0, key + KEY_PASSED] = NULL
    i[0, key + KEY_CLOCKS] = 0
    i[0, key + KEY_BEFORE] = i[0, FIRST_KEY]
    i[0, FIRST_KEY] = key
    index_add(i, FIRSTS, key, 2, KEY_TAG)
    return key


@inner
def counted(i: Ints, key: int) -> None:
    """A key has come: it has the next number, unless it has one."""
    if i[0, key + KEY_NUMBER] == NULL:
        i[0, key + KEY_NUMBER] = i[0, KEYS_COUNTED]
        i[0, KEYS_COUNTED] += 1
