"""Windows of which each key has one, by its own clock: the way to that of a key, and out again.

What the rows of a chunk bring about goes on as one chunk, so that of several keys is gathered.
"""

from __future__ import annotations

from cep.engine.kernels.scalar import NULL
from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.clocks import key_of
from cep.engine.machine.kernels.keys import NO_KEY, TEXT_KEY
from cep.engine.machine.kernels.memory import (
    cleared,
    index_add,
    index_find,
    index_room,
    ring_cell,
    ring_length,
    ring_room_for,
)
from cep.engine.machine.kernels.rows import appended, emptied, row_of
from cep.engine.machine.kernels.words import (
    ARGUMENTS,
    CHUNK,
    COUNT,
    CURSOR,
    EVALUATION,
    HOME,
    INDEX,
    NEXT,
    NODE,
    PLACE,
    RING,
    RING_HEAD,
    STATE,
    WIDER,
    WIDTH,
    WORK_TOP,
    Floats,
    Ints,
)
from cep.engine.machine.kernels.work import (
    copied,
    frame_room,
    hand_on,
    made,
    pop,
    push,
    row_at,
    top_frame,
    work_room,
)

# The way to a key: the word of rows that has it (0: none has one), how many words a home has, the
# node behind the windows. The way out has the same state. Windows are outside of partitions.
TO_WORD, TO_HOME, TO_BEHIND = ARGUMENTS, ARGUMENTS + 1, ARGUMENTS + 2
# The state: homes by the blocks of keys, rows that are gathered, whether they are.
HOMES, GATHERED, GATHERS, BY_KEY_STATE = 0, INDEX, INDEX + RING, INDEX + RING + 1


@inline
def code_at(i: Ints, p: Ints, node: int, row: int) -> int:
    """The code of a row's key; NULL where it has none."""
    return i[0, row + p[node + TO_WORD]] if p[node + TO_WORD] else NULL


@inner
def home_of(i: Ints, p: Ints, node: int, state: int, code: int) -> int:
    """The home of a key, opened on first sight; 0 where there is no room. O(1)."""
    key = key_of(i, p, NO_KEY if code == NULL else TEXT_KEY, code)
    if key == 0:
        return 0
    i[0, EVALUATION] = key
    home = index_find(i, state + HOMES, EVALUATION, 1, 0)
    if home != 0 or not index_room(i, state + HOMES, 1, 0):
        return home
    home = cleared(i, p[node + TO_HOME])
    if home != 0:
        i[0, home] = key
        index_add(i, state + HOMES, home, 1, 0)
    return home


@inner
def step_to_key(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Neighbouring rows of one key go to its window together."""
    node, first, count = i[0, frame + NODE], i[0, frame + CURSOR], i[0, frame + COUNT]
    state = i[0, HOME] + p[node + STATE]
    if first == count:
        return gathered(i, p, frame, state)
    code = code_at(i, p, node, row_of(i, p, frame, first))
    home = home_of(i, p, node, state, code)
    if home == 0:
        return False
    if count == 1:
        i[0, frame + NODE] = p[node + NEXT]
        i[0, frame + PLACE] = home
        return True
    if not frame_room(i, 1):
        return False
    frame = top_frame(i)
    last = first + 1
    while last < count and code_at(i, p, node, row_of(i, p, frame, last)) == code:
        last += 1
    i[0, frame + CURSOR] = last
    i[0, state + GATHERS] = 1
    chunk = i[0, frame + CHUNK] + first * p[node + WIDTH]
    push(i, p[node + NEXT], home, chunk, last - first, i[0, WORK_TOP])
    return True


@inner
def gathered(i: Ints, p: Ints, frame: int, state: int) -> bool:
    """What the rows of all keys have brought about goes on; false: there is no room."""
    node, ring = i[0, frame + NODE], state + GATHERED
    width = p[node + WIDER]
    if not work_room(i, ring_length(i, ring) * width):
        return False
    for place in range(ring_length(i, ring)):
        row = ring_cell(i, ring, i[0, ring + RING_HEAD] + place, width)
        copied(i, row, made(i, frame, width), width)
    emptied(i, ring)
    i[0, state + GATHERS] = 0
    hand_on(i, frame, p[node + TO_BEHIND])
    return True


@inner
def step_from_key(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """What leaves the window of a key goes on, or waits for that of other keys."""
    node, count = i[0, frame + NODE], i[0, frame + COUNT]
    state, width = i[0, HOME] + p[node + STATE], p[node + WIDTH]
    if i[0, state + GATHERS]:
        if not ring_room_for(i, state + GATHERED, width, count):
            return False
        for place in range(count):
            appended(i, state + GATHERED, row_at(i, i[0, frame + CHUNK] + place * width), width)
        pop(i, frame)
        return True
    i[0, frame + NODE] = p[node + NEXT]
    i[0, frame + PLACE] = i[0, HOME]
    return True
