"""Partitions that forget keys which have been idle: their homes, all that these hold, their timers.

What a home holds is known by who asked for it, not by what it is: see `memory`.
"""

from __future__ import annotations

from cep.engine.kernels.scalar import NULL
from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.clocks import (
    CLOCKS_COMMON,
    CLOCKS_OF_KEY,
    PROGRAM_CLOCKS,
    clock_of_key,
    common_clock,
)
from cep.engine.machine.kernels.keyed import OF_HOME
from cep.engine.machine.kernels.memory import (
    index_remove,
    owner_dropped,
    release,
    release_shared,
    ring_cell,
    ring_length,
)
from cep.engine.machine.kernels.partitions import (
    HOME_KEY,
    HOME_OWNER,
    HOME_SEEN,
    HOMES,
    OPENED,
)
from cep.engine.machine.kernels.timers import (
    emptied,
    heap_block,
    heap_room,
    looked_at,
    next_turn,
    rises,
    set_timer,
    timer_room,
)
from cep.engine.machine.kernels.words import (
    ARGUMENTS,
    CHUNK,
    CLOCK_MOVES,
    COUNT,
    DUE,
    DUE_NODE,
    DUE_PLACE,
    DUE_WORDS,
    HEAP_AT,
    HEAP_COUNT,
    HEAP_GONE,
    HEAP_ROOM,
    NODE,
    NOW,
    OWNER,
    PLACE,
    RANK,
    RING_HEAD,
    RING_TAIL,
    STATE,
    TIMERS,
    Floats,
    Ints,
)
from cep.engine.machine.kernels.work import copied, pop

PROGRAM_OWNED = 6
"""The word of a program that says where stands, by node, how homes that may be forgotten own what
it asks for: as one of these; 0 where no keys are forgotten."""
NOT_OWNED, OF_PLACE, OF_GROUP = 0, 1, 2
"""Nobody does; the home in which the node works; that, too, but what is due is of a group there."""
# A node: the cells of how long a key may be idle and how often that is looked at, the words of a
# home. Its state is that of the partition.
PURGE_IDLE, PURGE_EVERY, PURGE_HOME = ARGUMENTS, ARGUMENTS + 1, ARGUMENTS + 2
GONE = NULL
"""In the place of the time at which a home was last seen: it is being forgotten."""


@inner
def home_at(i: Ints, p: Ints, node: int, place: int, is_due: bool) -> int:
    """The home that may be forgotten of a node that works at a place; 0: there is none."""
    owned = p[p[PROGRAM_OWNED] + node]
    if owned == NOT_OWNED:
        return 0
    return i[0, place + OF_HOME] if owned == OF_GROUP and is_due else place


@inline
def owned_by_home(i: Ints, p: Ints, frame: int) -> None:
    """What the node at work asks for belongs to its home, if that may be forgotten."""
    if p[PROGRAM_OWNED]:
        is_due = i[0, frame + COUNT] == DUE
        home = home_at(i, p, i[0, frame + NODE], i[0, frame + PLACE], is_due)
        i[0, OWNER] = i[0, home + HOME_OWNER] if home else 0


@inner
def timers_forgotten(i: Ints, p: Ints, heap: int) -> bool:
    """Forget what is due on a heap of homes that go; whether there was any. O(n log n)."""
    first, count = i[0, heap + HEAP_AT], i[0, heap + HEAP_COUNT]
    kept = 0
    for number in range(count):
        at = first + number * DUE_WORDS
        home = home_at(i, p, i[0, at + DUE_NODE], i[0, at + DUE_PLACE], True)
        if home == 0 or i[0, home + HOME_SEEN] != GONE:
            if kept != number:
                copied(i, at, first + kept * DUE_WORDS, DUE_WORDS)
            kept += 1
    if kept == count:
        return False
    i[0, heap + HEAP_COUNT] = kept
    if kept == 0:
        emptied(i, heap)
    for number in range(1, kept):
        rises(i, heap, number)
    return True


@inner
def clock_forgets(i: Ints, p: Ints, clock: int) -> None:
    """The same for one of several clocks: what is first on it may be another then. One on which
    nothing is due gives its memory back, as its key may never come again.
    """
    if timers_forgotten(i, p, clock) and i[0, clock + CLOCK_MOVES]:
        looked_at(i, clock)
    if i[0, clock + HEAP_COUNT] == 0 and i[0, clock + HEAP_ROOM]:
        release_shared(i, heap_block(i, clock), i[0, clock + HEAP_ROOM])
        i[0, clock + HEAP_AT] = i[0, clock + HEAP_ROOM] = i[0, clock + HEAP_GONE] = 0


@inner
def idle_taken_out(i: Ints, state: int, seen_ms: int) -> int:
    """Take out the homes that were last seen before a time; the last of them, 0 if there is none.

    Each has in the place of its key the one before.
    """
    opened, last = state + OPENED, 0
    head = i[0, opened + RING_HEAD]
    kept = head
    for position in range(head, i[0, opened + RING_TAIL]):
        home = i[0, ring_cell(i, opened, position, 1)]
        if i[0, home + HOME_SEEN] < seen_ms:
            index_remove(i, state + HOMES, home, 1, HOME_KEY)
            i[0, home + HOME_KEY] = last
            i[0, home + HOME_SEEN] = GONE
            last = home
        else:
            i[0, ring_cell(i, opened, kept, 1)] = home
            kept += 1
    i[0, opened + RING_TAIL] = kept
    return last


@inner
def all_forgotten(i: Ints, p: Ints, last: int, words: int) -> None:
    """Forget homes that have been taken out, with what is due for them; there is room for what is
    first on their clocks. O(what they hold, and what is due).
    """
    clocks, home = p[PROGRAM_CLOCKS], last
    if clocks == 0:
        timers_forgotten(i, p, TIMERS)
    for number in range(p[clocks + CLOCKS_COMMON] if clocks else 0):
        clock_forgets(i, p, common_clock(i, number))
    while clocks and home:
        for number in range(p[clocks + CLOCKS_OF_KEY]):
            clock_forgets(i, p, clock_of_key(i, p, i[0, home], number))
        home = i[0, home + HOME_KEY]
    while last:
        before = i[0, last + HOME_KEY]
        owner_dropped(i, i[0, last + HOME_OWNER])
        release(i, last, words)
        last = before


@inner
def step_purge(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Forget idle keys, when that is due; look again later."""
    node, place = i[0, frame + NODE], i[0, frame + PLACE]
    state, clocks = place + p[node + STATE], p[PROGRAM_CLOCKS]
    firsts = 0
    if clocks:
        firsts = ring_length(i, state + OPENED) * p[clocks + CLOCKS_OF_KEY]
        firsts += p[clocks + CLOCKS_COMMON]
    if not timer_room(i, 1) or not heap_room(i, TIMERS, firsts + 1):
        return False
    due_ms = max(i[0, frame + CHUNK], i[0, NOW]) + i[0, p[node + PURGE_EVERY]]
    set_timer(i, due_ms, p[node + RANK], 0, next_turn(i), node, place)  # while its room is there
    if i[0, frame + COUNT] == DUE:
        last = idle_taken_out(i, state, i[0, NOW] - i[0, p[node + PURGE_IDLE]])
        if last:
            all_forgotten(i, p, last, p[node + PURGE_HOME])
    pop(i, frame)
    return True
