"""Which keys have come before, where a key only has to be known: a bit for each, by its code.

It saves two look-ups for each record. What is forgotten here is only looked up again.
"""

from __future__ import annotations

from cep.engine.kernels.scalar import NULL
from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.memory import cleared, release
from cep.engine.machine.kernels.words import KNOWN, KNOWN_SIZE, Ints

BITS = 62
LEAST_WORDS = 4


@inline
def place_of(code: int) -> int:
    """The number of the bit of a key; that of no key is the first."""
    return 0 if code == NULL else code + 1


@inline
def is_known(i: Ints, code: int) -> bool:
    """Whether a key is. O(1)."""
    place = place_of(code)
    word = place // BITS
    return word < i[0, KNOWN_SIZE] and (i[0, i[0, KNOWN] + word] >> (place % BITS)) & 1 != 0


@inner
def know(i: Ints, code: int) -> bool:
    """Know a key from now on; false: there is no room. O(1) amortised."""
    place = place_of(code)
    word, room = place // BITS, i[0, KNOWN_SIZE]
    if word >= room:
        wider = max(2 * room, word + 1, LEAST_WORDS)
        at = cleared(i, wider)
        if at == 0:
            return False
        for known in range(room):
            i[0, at + known] = i[0, i[0, KNOWN] + known]
        if room:
            release(i, i[0, KNOWN], room)
        i[0, KNOWN] = at
        i[0, KNOWN_SIZE] = wider
    i[0, i[0, KNOWN] + word] |= 1 << (place % BITS)
    return True
