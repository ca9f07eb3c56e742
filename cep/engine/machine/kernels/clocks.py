"""The clocks of what was lived: one for what all keys have in common, and one of each key.

Each set of sources that something follows has a clock for all keys together, and one of each key
where something works by the key. The records of a key, and watermarks, move some of them. These go
together: what is due first on any of them fires first, and while it does all stand at its time.
`TIMERS` has the first of each, by which the next is found; what another has overtaken there is
passed over. In sorted history there is one clock, the header's, and nothing here is called.
"""

from __future__ import annotations

from cep.engine.kernels.scalar import NULL
from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.keys import TEXT_KEY, counted, key_found, key_made
from cep.engine.machine.kernels.memory import cleared, release
from cep.engine.machine.kernels.timers import heap_room, is_before, looked_at, timer_taken
from cep.engine.machine.kernels.words import (
    AT,
    CLOCK,
    CLOCK_MOVES,
    CLOCK_NEXT,
    CLOCK_NOW,
    CLOCK_TO,
    CLOCK_WORDS,
    COMMON_CLOCKS,
    COMMON_PASSED,
    DUE,
    DUE_MS,
    DUE_NODE,
    DUE_PLACE,
    DUE_RANK,
    FIRED_RANK,
    FIRST_KEY,
    FIRSTS,
    HEAP_AT,
    HEAP_COUNT,
    INDEX_COUNT,
    KEY_BEFORE,
    KEY_CLOCKS,
    KEY_COMPLETE,
    KEY_PASSED,
    KEY_TAG,
    LATE,
    NODE,
    NOW,
    ON_THE_WAY,
    OTHERS_TO,
    OWNER,
    PASSED,
    PLACE,
    REACHED,
    SHOWN,
    TIMERS,
    TIMERS_COUNT,
    UNTIL_LAG,
    WORK_TOP,
    Ints,
)
from cep.engine.machine.kernels.work import push

PROGRAM_CLOCKS = 4
"""The word of a program that says where its clocks are described; 0 where there is one."""
# What a program says of clocks: how many all keys have in common, how many each key has, how many
# sources there are; then by stream id where it is said what its records move, and the clocks of
# nodes.
CLOCKS_COMMON, CLOCKS_OF_KEY, CLOCKS_SOURCES, CLOCKS_STREAMS, CLOCKS_NODES = 0, 1, 2, 3, 4
# What the records of a stream move: its place among the sources, how many common clocks and which,
# how many of a key and which.
MOVES_SOURCE, MOVES_COMMON, MOVES_LIST = 0, 1, 2
OF_KEY_BITS = 16
"""The clock of a node: 1 + the number of the common one; above these bits the same of a key's."""


@inline
def common_clock(i: Ints, number: int) -> int:
    return i[0, COMMON_CLOCKS] + number * CLOCK_WORDS


@inline
def clock_of_key(i: Ints, p: Ints, key: int, number: int) -> int:
    """One of the clocks of a key, in front of which the newest record of each source stands."""
    sources = p[p[PROGRAM_CLOCKS] + CLOCKS_SOURCES]
    return i[0, key + KEY_CLOCKS] + sources + number * CLOCK_WORDS


@inner
def clock_of(i: Ints, p: Ints, node: int, key: int) -> int:
    """The clock by which a node goes for the block of a key (0: none); 0 where it needs none."""
    code = p[p[p[PROGRAM_CLOCKS] + CLOCKS_NODES] + node]
    if code == 0:
        return 0
    of_key = code >> OF_KEY_BITS
    if of_key and key:
        return clock_of_key(i, p, key, of_key - 1)
    return common_clock(i, (code & ((1 << OF_KEY_BITS) - 1)) - 1)


@inner
def shown_by(i: Ints, clock: int) -> int:
    """Where a clock stands, or has got to on its way; NULL before its first record."""
    now = i[0, clock + CLOCK_NOW]
    if i[0, clock + CLOCK_MOVES] and i[0, REACHED] != NULL:
        return max(now, min(i[0, REACHED], i[0, clock + CLOCK_TO]))
    return now


@inner
def go_by(i: Ints, p: Ints, node: int, key: int) -> None:
    """What is at work goes by the clock of a node for a key, where there are several."""
    if p[PROGRAM_CLOCKS] == 0:
        return
    clock = clock_of(i, p, node, key)
    if clock == 0:
        return
    now = shown_by(i, clock)
    if now == NULL:
        now = max(i[0, SHOWN], i[0, REACHED])
    i[0, CLOCK] = clock
    i[0, NOW] = 0 if now == NULL else now


@inline
def go_by_own(i: Ints, p: Ints, frame: int) -> None:
    """The same for a frame, whose place begins with the block of its key."""
    if p[PROGRAM_CLOCKS]:
        go_by(i, p, i[0, frame + NODE], i[0, i[0, frame + PLACE]])


@inner
def goes(i: Ints, clock: int, to_ms: int) -> None:
    """A clock is on its way to a time; there is room for what is due first on it."""
    i[0, clock + CLOCK_TO] = max(i[0, clock + CLOCK_NOW], to_ms)
    if i[0, clock + CLOCK_MOVES] == 0:
        i[0, clock + CLOCK_MOVES] = 1
        i[0, clock + CLOCK_NEXT] = i[0, ON_THE_WAY]
        i[0, ON_THE_WAY] = clock
    looked_at(i, clock)


@inner
def key_told(i: Ints, p: Ints, tag: int, value: int) -> int:
    """The block of a key, with its clocks, which it need not have come for; 0: there is no room."""
    key = key_found(i, tag, value)
    if key == 0:
        owner, i[0, OWNER] = i[0, OWNER], 0  # keys stay, whatever is forgotten of them
        key = key_opened(i, p, tag, value)
        i[0, OWNER] = owner
    return key


@inner
def key_opened(i: Ints, p: Ints, tag: int, value: int) -> int:
    """The same of a key that has no block."""
    if p[PROGRAM_CLOCKS] == 0:
        return key_made(i, tag, value)
    clocks = p[PROGRAM_CLOCKS]
    sources, count = p[clocks + CLOCKS_SOURCES], p[clocks + CLOCKS_OF_KEY]
    own = cleared(i, sources + count * CLOCK_WORDS)
    key = key_made(i, tag, value) if own != 0 else 0
    if key == 0:
        if own != 0:
            release(i, own, sources + count * CLOCK_WORDS)
        return 0
    i[0, key + KEY_CLOCKS] = own
    for source in range(sources):
        i[0, own + source] = NULL
    for number in range(count):
        clock = clock_of_key(i, p, key, number)
        i[0, clock + CLOCK_NOW] = i[0, PASSED]
        if i[0, OTHERS_TO] != NULL and tag <= TEXT_KEY:
            goes(i, clock, i[0, OTHERS_TO])
    return key


@inner
def key_of(i: Ints, p: Ints, tag: int, value: int) -> int:
    """The block of a key that has come, which has a number then; 0 where there is no room. O(1)."""
    key = key_told(i, p, tag, value)
    if key != 0:
        counted(i, key)
    return key


@inner
def record_is_late(i: Ints, p: Ints, stream: int, key: int, time_ms: int) -> bool:
    """Take a record's time: whether one of its source and key was newer, or time had passed."""
    newest = i[0, key + KEY_CLOCKS] + p[moved_by(p, stream) + MOVES_SOURCE]
    before = max(i[0, newest], i[0, PASSED], i[0, key + KEY_COMPLETE])
    i[0, newest] = max(i[0, newest], time_ms)
    return time_ms < before


@inline
def moved_by(p: Ints, stream: int) -> int:
    """Where it is said what the records of a stream move."""
    return p[p[p[PROGRAM_CLOCKS] + CLOCKS_STREAMS] + stream]


@inner
def record_moves(i: Ints, p: Ints, stream: int, key: int, time_ms: int) -> bool:
    """A record of a key is next; false: there is no room. O(clocks that it moves)."""
    clocks, moves = p[PROGRAM_CLOCKS], moved_by(p, stream)
    if not heap_room(i, TIMERS, p[clocks + CLOCKS_COMMON] + p[clocks + CLOCKS_OF_KEY]):
        return False
    i[0, OTHERS_TO] = i[0, REACHED] = NULL
    common = p[moves + MOVES_COMMON]
    for place in range(common):
        goes(i, common_clock(i, p[moves + MOVES_LIST + place]), time_ms)
    own = moves + MOVES_LIST + common
    for place in range(p[own]):
        goes(i, clock_of_key(i, p, key, p[own + 1 + place]), time_ms)
    return True


@inner
def all_move(i: Ints, p: Ints, common_ms: int, others_ms: int) -> bool:
    """Time passes, NULL being not at all, for what has one clock, and for each key; false: there is
    no room. O(clocks).
    """
    clocks = p[PROGRAM_CLOCKS]
    count = p[clocks + CLOCKS_COMMON] + i[0, FIRSTS + INDEX_COUNT] * p[clocks + CLOCKS_OF_KEY]
    if not heap_room(i, TIMERS, count):
        return False
    i[0, REACHED] = NULL
    i[0, OTHERS_TO] = others_ms
    if common_ms != NULL:
        i[0, COMMON_PASSED] = max(i[0, COMMON_PASSED], common_ms)
        for number in range(p[clocks + CLOCKS_COMMON]):
            goes(i, common_clock(i, number), common_ms)
    key = i[0, FIRST_KEY] if others_ms != NULL else 0
    while key:
        if i[0, key + KEY_TAG] <= TEXT_KEY:
            key_moves(i, p, key, others_ms)
        key = i[0, key + KEY_BEFORE]
    return True


@inner
def key_moves(i: Ints, p: Ints, key: int, time_ms: int) -> None:
    """Time passes for a key; there is room."""
    for number in range(p[p[PROGRAM_CLOCKS] + CLOCKS_OF_KEY]):
        goes(i, clock_of_key(i, p, key, number), time_ms)


@inner
def keys_move(i: Ints, p: Ints, keys: Ints, time_ms: int, common_ms: int, is_complete: int) -> bool:
    """A watermark of some keys, given by their codes, and of what has one clock; false: no room.

    Clocks stay behind it where records wait for their order.
    """
    clock_ms = time_ms - i[0, UNTIL_LAG]
    for place in range(len(keys)):
        if key_told(i, p, TEXT_KEY, keys[place, 0]) == 0:
            return False
    if not all_move(i, p, common_ms, NULL):
        return False
    for place in range(len(keys)):
        key = key_found(i, TEXT_KEY, keys[place, 0])
        key_moves(i, p, key, clock_ms)
        i[0, key + KEY_PASSED] = max(i[0, key + KEY_PASSED], clock_ms)
        if is_complete:
            i[0, key + KEY_COMPLETE] = max(i[0, key + KEY_COMPLETE], time_ms)
    return True


@inner
def arrived(i: Ints, to_ms: int) -> None:
    """All that were on their way are there."""
    clock = i[0, ON_THE_WAY]
    while clock:
        i[0, clock + CLOCK_NOW] = max(i[0, clock + CLOCK_NOW], i[0, clock + CLOCK_TO])
        i[0, clock + CLOCK_MOVES] = 0
        clock = i[0, clock + CLOCK_NEXT]
    i[0, ON_THE_WAY] = 0
    i[0, OTHERS_TO] = i[0, REACHED] = NULL
    i[0, SHOWN] = max(i[0, SHOWN], to_ms)


@inner
def next_fires(i: Ints) -> None:
    """What is due first on any clock on its way gets a frame, for which there is room, as there is
    for what is due next on that clock: where the first of a heap has gone it has none at its end.

    What is there for a clock that has fired it, or has something earlier, is passed over.
    """
    first = i[0, TIMERS]
    clock = i[0, first + DUE_NODE]
    head = i[0, clock + HEAP_AT]
    is_first = i[0, clock + HEAP_COUNT] != 0
    is_first = is_first and not is_before(i, head, first) and not is_before(i, first, head)
    timer_taken(i, TIMERS)
    if not is_first:
        return
    i[0, AT] = i[0, head + DUE_MS]
    i[0, FIRED_RANK] = i[0, head + DUE_RANK]
    i[0, LATE] = 0
    i[0, REACHED] = max(i[0, REACHED], i[0, AT])
    push(i, i[0, head + DUE_NODE], i[0, head + DUE_PLACE], i[0, AT], DUE, i[0, WORK_TOP])
    timer_taken(i, clock)
    looked_at(i, clock)


@inline
def is_on_the_way(i: Ints) -> bool:
    """Whether something is due on the way of a clock."""
    return i[0, TIMERS_COUNT] != 0
