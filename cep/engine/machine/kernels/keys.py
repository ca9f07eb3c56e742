"""Numbers of keys: in which order they came first, of all keys; timers of one time stand by it."""

from __future__ import annotations

from cep.engine.machine.jit import inner
from cep.engine.machine.kernels.memory import cleared, index_add, index_find, index_room
from cep.engine.machine.kernels.words import EVALUATION, FIRSTS, INDEX_COUNT, Ints

# What a key is: of records without one, a text, or the value of an expression of another type.
NO_KEY, TEXT_KEY, WHOLE_KEY, REAL_KEY, TRUTH_KEY = 0, 1, 2, 3, 4
# A key that came: what it is, its word, its number.
KEY_TAG, KEY_VALUE, KEY_NUMBER, KEY_WORDS = 0, 1, 2, 3


@inner
def key_number(i: Ints, tag: int, value: int) -> int:
    """The number of a key, the next one if it has none; -1 where there is no room. O(1)."""
    i[0, EVALUATION] = tag
    i[0, EVALUATION + 1] = value
    found = index_find(i, FIRSTS, EVALUATION, 2, KEY_TAG)
    if found != 0:
        return i[0, found + KEY_NUMBER]
    if not index_room(i, FIRSTS, 2, KEY_TAG):
        return -1
    found = cleared(i, KEY_WORDS)
    if found == 0:
        return -1
    i[0, found + KEY_TAG] = tag
    i[0, found + KEY_VALUE] = value
    i[0, found + KEY_NUMBER] = i[0, FIRSTS + INDEX_COUNT]
    index_add(i, FIRSTS, found, 2, KEY_TAG)
    return i[0, found + KEY_NUMBER]
