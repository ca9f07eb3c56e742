"""The slots of keys, from which the numbers of events follow: in the order in which keys appear."""

from __future__ import annotations

from cep.engine.machine.jit import inner
from cep.engine.machine.kernels.memory import (
    cleared,
    index_add,
    index_find,
    index_room,
    ring_cell,
    ring_room,
)
from cep.engine.machine.kernels.words import (
    EVALUATION,
    HOME,
    INDEX,
    INDEX_COUNT,
    RING,
    RING_TAIL,
    Ints,
)

PROGRAM_SLOTS = 3
"""The word of a program that says where its keys are described; 0 where no number is needed."""
# What a program says of keys: where their state lies, how far numbers of neighbouring slots are
# apart, how many keys the rules name, and these.
SLOTS_STATE, SLOTS_STRIDE, SLOTS_GIVEN, SLOTS_FIRST = 0, 1, 2, 3
# The state: slots by the codes of keys, codes by slot.
BY_CODE, BY_SLOT, SLOTS = 0, INDEX, INDEX + RING
SLOT_CODE, SLOT_NUMBER, SLOT = 0, 1, 2


@inner
def slot_opened(i: Ints, state: int, code: int) -> int:
    """The slot of a key, the next one if it has none; -1 where there is no room. O(1)."""
    i[0, EVALUATION] = code
    found = index_find(i, state + BY_CODE, EVALUATION, 1, SLOT_CODE)
    if found != 0:
        return i[0, found + SLOT_NUMBER]
    if not index_room(i, state + BY_CODE, 1, SLOT_CODE) or not ring_room(i, state + BY_SLOT, 1):
        return -1
    found = cleared(i, SLOT)
    if found == 0:
        return -1
    number = i[0, state + BY_CODE + INDEX_COUNT]
    i[0, found + SLOT_CODE] = code
    i[0, found + SLOT_NUMBER] = number
    index_add(i, state + BY_CODE, found, 1, SLOT_CODE)
    i[0, ring_cell(i, state + BY_SLOT, number, 1)] = code
    i[0, state + BY_SLOT + RING_TAIL] += 1
    return number


@inner
def slot_of(i: Ints, p: Ints, code: int) -> int:
    """The same, behind the keys that the rules name."""
    slots = p[PROGRAM_SLOTS]
    state = i[0, HOME] + p[slots + SLOTS_STATE]
    given = p[slots + SLOTS_GIVEN]
    for place in range(i[0, state + BY_CODE + INDEX_COUNT], given):
        if slot_opened(i, state, p[slots + SLOTS_FIRST + place]) < 0:
            return -1
    return slot_opened(i, state, code)


@inner
def slots_known(i: Ints, p: Ints) -> int:
    """How many keys have a slot."""
    return i[0, i[0, HOME] + p[p[PROGRAM_SLOTS] + SLOTS_STATE] + BY_CODE + INDEX_COUNT]


@inner
def key_of_slot(i: Ints, p: Ints, slot: int) -> int:
    """The code of the key that has a slot."""
    state = i[0, HOME] + p[p[PROGRAM_SLOTS] + SLOTS_STATE]
    return i[0, ring_cell(i, state + BY_SLOT, slot, 1)]
