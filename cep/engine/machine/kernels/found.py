"""Complex events: looked for when an event has entered, bound, and put out.

10 to 12: each once at most for each key, in order of definition.
"""

from __future__ import annotations

from cep.engine.kernels.scalar import NULL
from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.handed import (
    OWN_VALUES,
    begin_hand_over,
    given,
    given_room,
    shown,
)
from cep.engine.machine.kernels.memory import allocate
from cep.engine.machine.kernels.queues import (
    BOUND,
    BOUND_KEY,
    BOUND_NEXT,
    BOUND_TO,
    ENGINE_COMPLEX_LIST,
    ENGINE_COMPLEXES,
    EVENT_BOUND,
    EVENT_CARRIED,
    EVENT_MS,
    EVENT_SEQ,
    KEY_CODE,
    def_of,
    enough,
    key_of,
    number_of,
)
from cep.engine.machine.kernels.search import (
    COMPLEX_ENDS,
    COMPLEX_KEPT,
    COMPLEX_KEPT_LIST,
    COMPLEX_KEYED,
    COMPLEX_NUMBER,
    COMPLEX_PLACE,
    COMPLEX_STREAM,
    LEVEL_EVENT,
    LEVEL_UP,
    NOTHING,
    SHORT,
    searched,
)
from cep.engine.machine.kernels.slots import (
    PROGRAM_SLOTS,
    SLOTS_STRIDE,
    key_of_slot,
    slot_of,
    slots_known,
)
from cep.engine.machine.kernels.streams import STREAM_OUT
from cep.engine.machine.kernels.words import (
    ARGUMENTS,
    CHUNK,
    COUNT,
    CURSOR,
    EVALUATION,
    LISTS,
    LISTS_SIZE,
    LISTS_USED,
    NODE,
    VALUES,
    WORK_SIZE,
    WORK_TOP,
    Floats,
    Ints,
)
from cep.engine.machine.kernels.work import moved, row_at, work_room

# A node: the engine, the node that hands over.
MATCH_ENGINE, MATCH_HANDS_OVER = ARGUMENTS, ARGUMENTS + 1
# What a complex event keeps: of which definition, which of its events in the match, which of the
# words that these carry, the cell of null.
KEPT_OF, KEPT_NTH, KEPT_WORD, KEPT_NULL, KEPT = 0, 1, 2, 3, 4
# How a definition may complete a complex event: not at all, that of its own key, that of any key.
NEVER, OF_ITS_KEY, OF_ANY_KEY = 0, 1, 2


@inline
def length_of(i: Ints, level: int) -> int:
    """How many events make up the match that begins at a level."""
    count = 1
    while i[0, level + LEVEL_UP]:
        level -= i[0, level + LEVEL_UP]
        count += 1
    return count


@inner
def found_room(i: Ints, p: Ints, hands_over: int, stream: int, count: int) -> bool:
    """Whether there is room to bind and put out a match of so many events."""
    least = i[0, LISTS_USED] + 2 * count if p[stream + STREAM_OUT] else 0
    if least > i[0, LISTS_SIZE] and not moved(i, LISTS, i[0, LISTS_USED], least):
        return False
    return given_room(i, p, hands_over, stream) and enough(i, count * BOUND)


@inner
def bind(i: Ints, event: int, place: int, key: int) -> None:
    """12: an event is part of the complex event of a key; there is room for that."""
    bound = allocate(i, BOUND)
    i[0, bound + BOUND_TO] = place
    i[0, bound + BOUND_KEY] = key
    i[0, bound + BOUND_NEXT] = i[0, event + EVENT_BOUND]
    i[0, event + EVENT_BOUND] = bound


@inner
def nth_event(i: Ints, level: int, definition: int, nth: int) -> int:
    """The event of a definition in the match that begins at a level: from the oldest (0, 1, ..) or
    from the newest (-1, -2, ..); 0 where there is none such. O(events of the match).
    """
    at, count = level, 0
    while True:
        count += int(def_of(i, i[0, at + LEVEL_EVENT]) == definition)
        if i[0, at + LEVEL_UP] == 0:
            break
        at -= i[0, at + LEVEL_UP]
    left = nth if nth >= 0 else count + nth
    if left < 0 or left >= count:
        return 0
    at = level
    while True:
        event = i[0, at + LEVEL_EVENT]
        if def_of(i, event) == definition:
            if left == 0:
                return event
            left -= 1
        at -= i[0, at + LEVEL_UP]


@inner
def keep_values(i: Ints, p: Ints, what: int, level: int, at: int) -> None:
    """Write what a complex event keeps of its events. O(values x events of the match)."""
    for value in range(p[what + COMPLEX_KEPT]):
        kept = p[what + COMPLEX_KEPT_LIST] + value * KEPT
        event = nth_event(i, level, p[kept + KEPT_OF], p[kept + KEPT_NTH])
        carried = event + EVENT_CARRIED + p[kept + KEPT_WORD]
        i[0, at + value] = i[0, carried] if event else i[0, p[kept + KEPT_NULL]]


@inner
def put_found(
    i: Ints, p: Ints, engine: int, what: int, key: int, hands_over: int, level: int, count: int
) -> None:
    """Bind a match, which begins at a level, and put the complex event out; there is room."""
    stream, first_ms = p[what + COMPLEX_STREAM], i[0, i[0, level + LEVEL_EVENT] + EVENT_MS]
    lists, first = i[0, LISTS_USED], level
    last = 0
    for place in range(count):
        last = i[0, level + LEVEL_EVENT]
        bind(i, last, p[what + COMPLEX_PLACE], key)
        if p[stream + STREAM_OUT]:
            i[0, i[0, LISTS] + lists + place] = number_of(i, p, engine, last)
            i[0, i[0, LISTS] + lists + count + place] = i[0, last + EVENT_SEQ]
        level -= i[0, level + LEVEL_UP]
    if p[stream + STREAM_OUT]:
        i[0, LISTS_USED] += 2 * count
    number = p[what + COMPLEX_NUMBER]
    if key != NULL:
        number += slot_of(i, p, key) * p[p[PROGRAM_SLOTS] + SLOTS_STRIDE]
    row = given(i, p, hands_over, stream, i[0, last + EVENT_MS])
    keep_values(i, p, what, first, row + VALUES + OWN_VALUES)
    i[0, row + VALUES] = key
    i[0, row + VALUES + 1] = number
    i[0, row + VALUES + 2] = first_ms
    i[0, row + VALUES + 3] = lists
    i[0, row + VALUES + 4] = count
    shown(i, p, hands_over, stream, row)


@inner
def looked_for(i: Ints, p: Ints, node: int, what: int, key: int, event: int) -> bool:
    """Look for the complex event of a key that an event completes; false: there is no room."""
    engine, hands_over = p[node + MATCH_ENGINE], p[node + MATCH_HANDS_OVER]
    while True:
        base, room = row_at(i, i[0, WORK_TOP]), i[0, WORK_SIZE] - i[0, WORK_TOP]
        level = searched(i, p, engine, what, key, event, base, room)
        if level == NOTHING:
            return True
        if level != SHORT:
            break
        if not work_room(i, i[0, EVALUATION]):
            return False
    count = length_of(i, level)
    if not found_room(i, p, hands_over, p[what + COMPLEX_STREAM], count):
        return False
    put_found(i, p, engine, what, key, hands_over, level, count)
    return True


@inner
def step_bind(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Look for all complex events that an event may complete, then hand over."""
    node, event = i[0, frame + NODE], i[0, frame + CHUNK]
    engine = p[node + MATCH_ENGINE]
    own = i[0, key_of(i, event) + KEY_CODE]
    while i[0, frame + CURSOR] < p[engine + ENGINE_COMPLEXES]:
        what = p[p[engine + ENGINE_COMPLEX_LIST] + i[0, frame + CURSOR]]
        how = p[p[what + COMPLEX_ENDS] + def_of(i, event)]
        if how == OF_ANY_KEY and p[what + COMPLEX_KEYED]:
            while i[0, frame + COUNT] < slots_known(i, p):
                key = key_of_slot(i, p, i[0, frame + COUNT])
                if not looked_for(i, p, node, what, key, event):
                    return False
                i[0, frame + COUNT] += 1
            i[0, frame + COUNT] = 0
        elif how != NEVER:
            key = own if p[what + COMPLEX_KEYED] else NULL
            is_one = key != NULL or not p[what + COMPLEX_KEYED]
            if is_one and not looked_for(i, p, node, what, key, event):
                return False
        i[0, frame + CURSOR] += 1
    begin_hand_over(i, p, frame, p[node + MATCH_HANDS_OVER])
    return True
