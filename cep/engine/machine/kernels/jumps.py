"""`lengthJump(n, jump, key..)`: the last rows of each key, given up a jump at a time.

`timeJump` is a window by time; see `windows`.
"""

from __future__ import annotations

from cep.engine.machine.jit import inner
from cep.engine.machine.kernels.entries import ENTRIES, ENTRY_KEY, NUMBER, entries_count, entry_of
from cep.engine.machine.kernels.groups import GROUP_KEYS as JUMP_KEYS
from cep.engine.machine.kernels.memory import ring_cell, ring_length, ring_room
from cep.engine.machine.kernels.rows import is_current, row_of
from cep.engine.machine.kernels.words import (
    ARGUMENTS,
    COUNT,
    CURSOR,
    EXPIRED,
    NEXT,
    NODE,
    NOW,
    PLACE,
    RING,
    RING_HEAD,
    RING_TAIL,
    STATE,
    WIDER,
    Floats,
    Ints,
)
from cep.engine.machine.kernels.work import as_kind, copied, hand_on, made, work_room

# A node: what makes a key (as `groups` has it), the cells of the number of rows and of the jump,
# the words of a row.
JUMP_LENGTH, JUMP_STEP, JUMP_WORDS = ARGUMENTS + 2, ARGUMENTS + 3, ARGUMENTS + 4
JUMP_STATE = ENTRIES + 1
# The state, behind the entries of keys: how many rows came. A row of a key: the number of the row
# of the key with which it leaves, its own number among those of all keys, the row.
LEAVES_AT, ARRIVED, ROW = 0, 1, 2


@inner
def step_length_jump(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """A row is there until its key's rows number floor((its own number + n) / jump) * jump."""
    node = i[0, frame + NODE]
    while i[0, frame + CURSOR] < i[0, frame + COUNT]:
        row = row_of(i, p, frame, i[0, frame + CURSOR])
        if is_current(i, row) and not slid(i, f, p, frame, row):
            return False
        i[0, frame + CURSOR] += 1
    hand_on(i, frame, p[node + NEXT])
    return True


@inner
def rows_of_key(i: Ints, f: Floats, p: Ints, node: int, state: int, row: int) -> int:
    """The entry of the key of a row, with a ring of rows behind the key; 0: there is no room."""
    first = ENTRY_KEY + p[node + JUMP_KEYS]
    had = entries_count(i, state)
    entry = entry_of(i, f, p, state, node, row, first + RING)
    if entry != 0 and entries_count(i, state) > had:
        for word in range(RING):
            i[0, entry + first + word] = 0
    return entry


@inner
def slid(i: Ints, f: Floats, p: Ints, frame: int, row: int) -> bool:
    """Take a row; false: there is no room."""
    node = i[0, frame + NODE]
    state, words = i[0, frame + PLACE] + p[node + STATE], p[node + JUMP_WORDS]
    entry = rows_of_key(i, f, p, node, state, row)
    if entry == 0:
        return False
    ring, wider = entry + ENTRY_KEY + p[node + JUMP_KEYS], p[node + WIDER]
    if not ring_room(i, ring, words + ROW) or not work_room(i, (ring_length(i, ring) + 1) * wider):
        return False
    row = row_of(i, p, frame, i[0, frame + CURSOR])  # it may have moved
    length, jump = i[0, p[node + JUMP_LENGTH]], i[0, p[node + JUMP_STEP]]
    number = i[0, entry + NUMBER]
    i[0, entry + NUMBER] = number + 1
    i[0, state + ENTRIES] += 1
    while ring_length(i, ring) > 0:
        held = ring_cell(i, ring, i[0, ring + RING_HEAD], words + ROW)
        if i[0, held + LEAVES_AT] > number:
            break
        out = made(i, frame, wider)
        copied(i, held + ROW, out, words)
        as_kind(i, out, i[0, NOW], EXPIRED)
        i[0, ring + RING_HEAD] += 1
    end = (number + length) // jump * jump
    if end > number // jump * jump:
        held = ring_cell(i, ring, i[0, ring + RING_TAIL], words + ROW)
        i[0, held + LEAVES_AT] = end
        i[0, held + ARRIVED] = i[0, state + ENTRIES]
        copied(i, row, held + ROW, words)
        i[0, ring + RING_TAIL] += 1
        copied(i, row, made(i, frame, wider), words)
    return True
