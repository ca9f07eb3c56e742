"""Queues of engines: their events by key and definition, in order of arrival.

Numbers in comments are those of the simple engine's rules. An event's place in its queue is its
`seq`; nothing but the events of one number has to be gone through in order.
"""

from __future__ import annotations

from cep.engine.kernels.scalar import NULL
from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.clocks import PROGRAM_CLOCKS, key_told
from cep.engine.machine.kernels.keys import TEXT_KEY
from cep.engine.machine.kernels.memory import (
    allocate,
    cleared,
    index_add,
    index_find,
    index_room,
    release,
)
from cep.engine.machine.kernels.slots import PROGRAM_SLOTS, SLOTS_STRIDE, slot_of
from cep.engine.machine.kernels.words import (
    AT,
    EVALUATION,
    HOME,
    INDEX,
    LATE,
    NEED,
    NOW,
    TOP,
    Ints,
)

# What a program says of an engine: where its state lies, the cell of its span, whether opposites
# stay (`validate`), whether late events are dropped, the cell of how many of a number it may hold,
# its definitions, its complex events.
ENGINE_STATE, ENGINE_SPAN, ENGINE_VALIDATES, ENGINE_DROPS, ENGINE_MAX = 0, 1, 2, 3, 4
ENGINE_DEFINITIONS, ENGINE_DEFINITION_LIST, ENGINE_COMPLEXES, ENGINE_COMPLEX_LIST = 5, 6, 7, 8
# Of a definition in an engine: what happens to a repeated event, its number on slot 0, its
# opposites, the addresses of what is counted, whether a complex event may end in it.
DEF_REPEAT, DEF_NUMBER, DEF_OPPOSITES, DEF_OPPOSITE_LIST = 0, 1, 2, 3
DEF_REPEATED, DEF_LATE, DEF_OPPOSED, DEF_BOUND, DEF_ENDS = 4, 5, 6, 7, 8
# How many words an event carries of the row that caused it, and where these are listed.
DEF_CARRIED, DEF_CARRIED_LIST = 9, 10
ALLOW, REJECT, REFRESH = 0, 1, 2

# The state of an engine: its keys, how many events have entered and are held, the newest time of
# those, whether one that is held is older than one before it.
KEYS, ENTERED, HELD_COUNT, LATEST, IS_MIXED, QUEUE = 0, INDEX, INDEX + 1, INDEX + 2, INDEX + 3, 7
# A key in an engine: its code or NULL, what its slot adds to numbers, where it has a clock its
# block, the earliest and the latest of its events by their times, then its events by definition.
KEY_CODE, KEY_ADDS, KEY_BLOCK, KEY_EARLIEST, KEY_LATEST, KEY_NUMBERS = 0, 1, 2, 3, 4, 5
# A number: whether its condition was true, the oldest and the newest event, how many there are;
# when it has any, its key and its definition.
WAS_TRUE, OLDEST, NEWEST_EVENT, NUMBER_COUNT, NUMBER_KEY, NUMBER_DEF, NUMBER = 0, 1, 2, 3, 4, 5, 6
# An event: its time, its place, its number, its neighbours of the same number in order of arrival
# and of the same key in order of time, the first of the complex events that it is part of, and
# behind these what it carries.
(EVENT_MS, EVENT_SEQ, EVENT_NUMBER, EVENT_NEXT, EVENT_BEFORE, EVENT_LATER, EVENT_EARLIER,
 EVENT_BOUND, EVENT_CARRIED) = range(9)  # fmt: skip
EVENT = EVENT_CARRIED
# What an event is part of: a complex event, its key, the next one.
BOUND_TO, BOUND_KEY, BOUND_NEXT, BOUND = 0, 1, 2, 4
ANY_KEY = -1
"""In the place of the key: what was there before a complex event began is part of none such."""


@inner
def enough(i: Ints, words: int) -> bool:
    """Whether blocks of so many words together can be had, whatever their sizes."""
    if i[0, TOP] + words <= i.shape[1]:
        return True
    i[0, NEED] = words
    return False


@inline
def state_of(i: Ints, p: Ints, engine: int) -> int:
    return i[0, HOME] + p[engine + ENGINE_STATE]


@inline
def definition_of(p: Ints, engine: int, number: int) -> int:
    return p[p[engine + ENGINE_DEFINITION_LIST] + number]


@inline
def number_at(key: int, definition: int) -> int:
    """Where the events of a definition are, of a key."""
    return key + KEY_NUMBERS + definition * NUMBER


@inline
def key_of(i: Ints, event: int) -> int:
    """The key of an event."""
    return i[0, i[0, event + EVENT_NUMBER] + NUMBER_KEY]


@inline
def def_of(i: Ints, event: int) -> int:
    """The definition of an event, by its place in the engine."""
    return i[0, i[0, event + EVENT_NUMBER] + NUMBER_DEF]


@inner
def key_found(i: Ints, p: Ints, engine: int, code: int) -> int:
    """A key in an engine; 0 where it has none such. O(1)."""
    i[0, EVALUATION] = code
    return index_find(i, state_of(i, p, engine) + KEYS, EVALUATION, 1, KEY_CODE)


@inner
def key_opened(i: Ints, p: Ints, engine: int, code: int) -> int:
    """A key in an engine, opened on first sight, with its slot; 0 where there is no room."""
    found = key_found(i, p, engine, code)
    if found != 0:
        return found
    slot = 0 if code == NULL else slot_of(i, p, code)
    index = state_of(i, p, engine) + KEYS
    if slot < 0 or not index_room(i, index, 1, KEY_CODE):
        return 0
    block = 0
    if p[PROGRAM_CLOCKS] and code != NULL:
        block = key_told(i, p, TEXT_KEY, code)
        if block == 0:
            return 0
    found = cleared(i, KEY_NUMBERS + p[engine + ENGINE_DEFINITIONS] * NUMBER)
    if found != 0:
        i[0, found + KEY_CODE] = code
        i[0, found + KEY_BLOCK] = block
        i[0, found + KEY_ADDS] = slot * p[p[PROGRAM_SLOTS] + SLOTS_STRIDE]
        index_add(i, index, found, 1, KEY_CODE)
    return found


@inner
def event_removed(i: Ints, p: Ints, engine: int, event: int) -> None:
    """An event leaves the queue. O(complex events it is part of)."""
    number, key = i[0, event + EVENT_NUMBER], key_of(i, event)
    following, before = i[0, event + EVENT_NEXT], i[0, event + EVENT_BEFORE]
    if before:
        i[0, before + EVENT_NEXT] = following
    else:
        i[0, number + OLDEST] = following
    if following:
        i[0, following + EVENT_BEFORE] = before
    else:
        i[0, number + NEWEST_EVENT] = before
    i[0, number + NUMBER_COUNT] -= 1
    later, earlier = i[0, event + EVENT_LATER], i[0, event + EVENT_EARLIER]
    i[0, earlier + EVENT_LATER if earlier else key + KEY_EARLIEST] = later
    i[0, later + EVENT_EARLIER if later else key + KEY_LATEST] = earlier
    state = state_of(i, p, engine)
    i[0, state + HELD_COUNT] -= 1
    if i[0, state + HELD_COUNT] == 0:
        i[0, state + IS_MIXED] = 0
    bound = i[0, event + EVENT_BOUND]
    while bound:
        behind = i[0, bound + BOUND_NEXT]
        release(i, bound, BOUND)
        bound = behind
    what = definition_of(p, engine, i[0, number + NUMBER_DEF])
    release(i, event, EVENT + p[what + DEF_CARRIED])


@inline
def event_room(p: Ints, what: int) -> int:
    """How many words at most a block takes that holds an event of a definition."""
    return EVENT if p[what + DEF_CARRIED] == 0 else 2 * (EVENT + p[what + DEF_CARRIED])


@inner
def carry(i: Ints, p: Ints, what: int, event: int, row: int) -> None:
    """An event takes words of the row that caused it along. O(words)."""
    for word in range(p[what + DEF_CARRIED]):
        i[0, event + EVENT_CARRIED + word] = i[0, row + p[p[what + DEF_CARRIED_LIST] + word]]


@inner
def number_cleared(i: Ints, p: Ints, engine: int, number: int) -> int:
    """All events of a number leave; how many there were."""
    count = i[0, number + NUMBER_COUNT]
    while i[0, number + OLDEST]:
        event_removed(i, p, engine, i[0, number + OLDEST])
    return count


@inner
def expired(i: Ints, p: Ints, engine: int, key: int) -> None:
    """3: events of a key that are older than the span leave. O(events that leave)."""
    oldest_ms = max(i[0, AT], i[0, NOW]) - i[0, p[engine + ENGINE_SPAN]]
    event = i[0, key + KEY_EARLIEST]
    while event and i[0, event + EVENT_MS] < oldest_ms:
        event_removed(i, p, engine, event)
        event = i[0, key + KEY_EARLIEST]


@inline
def put_in_time(i: Ints, key: int, event: int) -> None:
    """An event stands among those of its key behind all that are not later. O(those later)."""
    earlier, later = i[0, key + KEY_LATEST], 0
    while earlier and i[0, earlier + EVENT_MS] > i[0, event + EVENT_MS]:
        earlier, later = i[0, earlier + EVENT_EARLIER], earlier
    i[0, event + EVENT_EARLIER] = earlier
    i[0, event + EVENT_LATER] = later
    i[0, earlier + EVENT_LATER if earlier else key + KEY_EARLIEST] = event
    i[0, later + EVENT_EARLIER if later else key + KEY_LATEST] = event


@inner
def entered(i: Ints, p: Ints, engine: int, key: int, definition: int) -> int:
    """5, 18: an event enters at the end, whatever its time; there is room for it."""
    state, number = state_of(i, p, engine), number_at(key, definition)
    at_ms, newest = i[0, AT], i[0, number + NEWEST_EVENT]
    event = allocate(i, EVENT + p[definition_of(p, engine, definition) + DEF_CARRIED])
    i[0, state + ENTERED] += 1
    i[0, event + EVENT_MS] = at_ms
    i[0, event + EVENT_SEQ] = i[0, state + ENTERED]
    i[0, event + EVENT_NUMBER] = number
    i[0, number + NUMBER_KEY] = key
    i[0, number + NUMBER_DEF] = definition
    i[0, event + EVENT_NEXT] = 0
    i[0, event + EVENT_BEFORE] = newest
    i[0, event + EVENT_BOUND] = 0
    if newest:
        i[0, newest + EVENT_NEXT] = event
    else:
        i[0, number + OLDEST] = event
    put_in_time(i, key, event)
    i[0, number + NEWEST_EVENT] = event
    i[0, number + NUMBER_COUNT] += 1
    if i[0, state + HELD_COUNT] == 0:
        i[0, state + LATEST] = at_ms
    elif at_ms < i[0, state + LATEST]:
        i[0, state + IS_MIXED] = 1
    i[0, state + LATEST] = max(i[0, state + LATEST], at_ms)
    i[0, state + HELD_COUNT] += 1
    return event


@inner
def admitted(i: Ints, p: Ints, engine: int, key: int, definition: int) -> int:
    """An event as it stands in the queue; 0 when it was dropped, which evicts nothing."""
    expired(i, p, engine, key)
    what, number = definition_of(p, engine, definition), number_at(key, definition)
    if p[what + DEF_REPEAT] == REJECT and i[0, number + NUMBER_COUNT]:
        i[0, p[what + DEF_REPEATED]] += 1
        return 0
    if i[0, LATE] and p[engine + ENGINE_DROPS]:
        i[0, p[what + DEF_LATE]] += 1
        return 0
    if p[what + DEF_REPEAT] == REFRESH:
        number_cleared(i, p, engine, number)
    if not p[engine + ENGINE_VALIDATES]:
        for place in range(p[what + DEF_OPPOSITES]):
            other = p[p[what + DEF_OPPOSITE_LIST] + place]
            count = number_cleared(i, p, engine, number_at(key, other))
            i[0, p[definition_of(p, engine, other) + DEF_OPPOSED]] += count
    if i[0, number + NUMBER_COUNT] >= i[0, p[engine + ENGINE_MAX]]:  # which is 1 at least
        i[0, p[what + DEF_BOUND]] += 1
        event_removed(i, p, engine, i[0, number + OLDEST])
    return entered(i, p, engine, key, definition)


@inner
def number_of(i: Ints, p: Ints, engine: int, event: int) -> int:
    """The number of an event: unique per definition and key."""
    what = definition_of(p, engine, def_of(i, event))
    return p[what + DEF_NUMBER] + i[0, key_of(i, event) + KEY_ADDS]
