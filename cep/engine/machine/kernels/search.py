"""The binder's search: which queued events make up a complex event that the newest one completes.

Patterns are read backward. What is still to be found is a state: a mask of the leaves of the
pattern that remain and, for each `[not ..]` that must hold next, the place of the event behind it.
One event may be read in several ways, so there are several states at once. Levels lie one behind
the other above all rows on their way: each has the event it tries, where it goes on from, and the
states in front of which that event is to be found.
"""

from __future__ import annotations

from cep.engine.kernels.scalar import NULL
from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.memory import hash_of, is_same
from cep.engine.machine.kernels.queues import (
    ANY_KEY,
    BOUND_KEY,
    BOUND_NEXT,
    BOUND_TO,
    DEF_OPPOSITE_LIST,
    DEF_OPPOSITES,
    ENGINE_VALIDATES,
    EVENT_BEFORE,
    EVENT_BOUND,
    EVENT_MS,
    EVENT_NUMBER,
    EVENT_SEQ,
    IS_MIXED,
    NEWEST_EVENT,
    def_of,
    definition_of,
    key_found,
    key_of,
    number_at,
    state_of,
)
from cep.engine.machine.kernels.words import EVALUATION, Ints

# Of a complex event: its place in its engine, its number on slot 0, its stream, whether it has
# keys, the cell of `within`; its leaves; all events that it names: leaves first, then forbidden
# ones, then those of `not`; which are forbidden; what is said of each `not`; the mask of all
# leaves; how each definition of the engine may complete it.
COMPLEX_PLACE, COMPLEX_NUMBER, COMPLEX_STREAM, COMPLEX_KEYED, COMPLEX_WITHIN = 0, 1, 2, 3, 4
COMPLEX_LEAVES, COMPLEX_LEAF_LIST, COMPLEX_REFS, COMPLEX_REF_LIST = 5, 6, 7, 8
COMPLEX_FORBID, COMPLEX_FORBIDS, COMPLEX_ABSENCES, COMPLEX_ABSENCE_LIST = 9, 10, 11, 12
COMPLEX_FULL, COMPLEX_ENDS, COMPLEX_KEPT, COMPLEX_KEPT_LIST = 13, 14, 15, 16
# A leaf: those that must be found before it (which stand behind), those that it rules out.
LEAF_AFTER, LEAF_OTHERS, LEAF = 0, 1, 2
# A named event: its definition, whose key it has, that key.
REF_DEFINITION, REF_KEYED, REF_KEY, REF = 0, 1, 2, 3
NO_KEY, OWN_KEY, NAMED_KEY = 0, 1, 2
# A `left followed by [not ..] right`: the leaves of both sides, the first event named, how many.
ABSENCE_LEFT, ABSENCE_RIGHT, ABSENCE_FIRST, ABSENCE_COUNT, ABSENCE = 0, 1, 2, 3, 4

# A level: how far above the last one it is, the event that is tried, the place that it must be
# before, that with which it began, the newest and the oldest time so far, how many states there
# are, the leaves of which one is next; then the next event of each leaf, then the states.
LEVEL_UP, LEVEL_EVENT, LEVEL_BOUND, LEVEL_FROM, LEVEL_NEWEST, LEVEL_OLDEST = 0, 1, 2, 3, 4, 5
LEVEL_STATES, LEVEL_NEXT, LEVEL_LEAVES = 6, 7, 8
# What was looked for in vain: how many states it had, the place it was before, the times of
# what was taken, the states; of which there are so many at most.
VAIN_COUNT, VAIN_FROM, VAIN_NEWEST, VAIN_OLDEST, VAIN_STATES = 0, 1, 2, 3, 4
VAIN_ROOM, VAIN_STATES_MAX = 32, 8
NOTHING, COMPLETE, SHORT = 0, -1, -2


@inline
def state_words(p: Ints, what: int) -> int:
    return 1 + p[what + COMPLEX_ABSENCES]


@inline
def vain_one(p: Ints, what: int) -> int:
    """The words of one note of what is in vain."""
    return VAIN_STATES + VAIN_STATES_MAX * state_words(p, what)


@inline
def vain_words(p: Ints, what: int) -> int:
    """The words of what is known to be in vain, which only long patterns need."""
    return VAIN_ROOM * vain_one(p, what) if p[what + COMPLEX_LEAVES] > 2 else 0


@inline
def first_states(p: Ints, what: int, level: int) -> int:
    return level + LEVEL_LEAVES + p[what + COMPLEX_LEAVES]


@inline
def level_end(i: Ints, p: Ints, what: int, level: int) -> int:
    return first_states(p, what, level) + i[0, level + LEVEL_STATES] * state_words(p, what)


@inner
def refs_found(i: Ints, p: Ints, engine: int, what: int, key: int, base: int) -> None:
    """Write where the events are that the complex event of a key names; 0: there are none."""
    own, none = key_found(i, p, engine, key), key_found(i, p, engine, NULL)
    for place in range(p[what + COMPLEX_REFS]):
        ref = p[what + COMPLEX_REF_LIST] + place * REF
        block = none
        if p[ref + REF_KEYED] == OWN_KEY:
            block = own
        elif p[ref + REF_KEYED] == NAMED_KEY:
            block = key_found(i, p, engine, p[ref + REF_KEY])
        i[0, base + place] = number_at(block, p[ref + REF_DEFINITION]) if block else 0


@inner
def first_allowed(i: Ints, p: Ints, what: int, base: int) -> int:
    """7, `forbid`: the place behind the newest forbidden event."""
    lowest = 1
    for place in range(p[what + COMPLEX_FORBIDS]):
        number = i[0, base + p[what + COMPLEX_FORBID] + place]
        if number and i[0, number + NEWEST_EVENT]:
            lowest = max(lowest, i[0, i[0, number + NEWEST_EVENT] + EVENT_SEQ] + 1)
    return lowest


@inner
def is_opposed(i: Ints, p: Ints, engine: int, event: int) -> bool:
    """4, `validate`: whether an opposite of a queued event stands behind it."""
    what = definition_of(p, engine, def_of(i, event))
    for place in range(p[what + DEF_OPPOSITES]):
        other = p[p[what + DEF_OPPOSITE_LIST] + place]
        newest = i[0, number_at(key_of(i, event), other) + NEWEST_EVENT]
        if newest and i[0, newest + EVENT_SEQ] > i[0, event + EVENT_SEQ]:
            return True
    return False


@inline
def is_of(i: Ints, bound: int, key: int) -> bool:
    """Whether an event is bound for a key, or for all."""
    return i[0, bound + BOUND_KEY] == key or i[0, bound + BOUND_KEY] == ANY_KEY


@inner
def may_bind(i: Ints, p: Ints, engine: int, what: int, key: int, event: int) -> bool:
    """Whether an event may be part of the complex event of a key, but for times (10, 12)."""
    bound = i[0, event + EVENT_BOUND]
    while bound:
        if i[0, bound + BOUND_TO] == p[what + COMPLEX_PLACE] and is_of(i, bound, key):
            return False
        bound = i[0, bound + BOUND_NEXT]
    return not p[engine + ENGINE_VALIDATES] or not is_opposed(i, p, engine, event)


@inner
def is_between(i: Ints, p: Ints, absence: int, base: int, after: int, before: int) -> bool:
    """7: whether one of the events of a `not` is strictly between two places."""
    for place in range(p[absence + ABSENCE_COUNT]):
        number = i[0, base + p[absence + ABSENCE_FIRST] + place]
        event = i[0, number + NEWEST_EVENT] if number else 0
        while event and i[0, event + EVENT_SEQ] >= before:
            event = i[0, event + EVENT_BEFORE]
        if event and i[0, event + EVENT_SEQ] > after:
            return True
    return False


@inner
def left_of(
    i: Ints, p: Ints, what: int, base: int, state: int, leaf: int, place: int, out: int
) -> bool:
    """Write what is left of a state when the event at a place is that of a leaf; false: it may not
    be. Negations that end here are looked at, those that begin are noted.
    """
    bit, mask = 1 << leaf, i[0, state]
    this = p[what + COMPLEX_LEAF_LIST] + leaf * LEAF
    if not mask & bit or mask & p[this + LEAF_AFTER]:
        return False
    left = mask & ~(bit | p[this + LEAF_OTHERS])
    i[0, out] = left
    for place_ in range(p[what + COMPLEX_ABSENCES]):
        absence = p[what + COMPLEX_ABSENCE_LIST] + place_ * ABSENCE
        before = i[0, state + 1 + place_]
        if p[absence + ABSENCE_LEFT] & bit:
            if before and is_between(i, p, absence, base, place, before):
                return False
            before = 0
        elif p[absence + ABSENCE_RIGHT] & bit and not left & p[absence + ABSENCE_RIGHT]:
            before = place
        i[0, out + 1 + place_] = before
    return True


@inner
def expanded(i: Ints, p: Ints, what: int, base: int, level: int, below: int) -> int:
    """Write the states that the event of a level leaves to the level below it; how many, or
    COMPLETE. For as many as there are leaves for each state there is room.
    """
    event, words, count = i[0, level + LEVEL_EVENT], state_words(p, what), 0
    number = i[0, event + EVENT_NUMBER]
    first, target = first_states(p, what, level), first_states(p, what, below)
    for place in range(i[0, level + LEVEL_STATES]):
        state = first + place * words
        for leaf in range(p[what + COMPLEX_LEAVES]):
            out = target + count * words
            if i[0, base + leaf] != number:
                continue
            if not left_of(i, p, what, base, state, leaf, i[0, event + EVENT_SEQ], out):
                continue
            if i[0, out] == 0:
                return COMPLETE
            is_new = True
            for other in range(count):
                is_new = is_new and not is_same(i, target + other * words, out, words)
            count += int(is_new)
    i[0, below + LEVEL_STATES] = count
    return count


@inner
def level_begun(i: Ints, p: Ints, what: int, base: int, level: int, below: int) -> None:
    """A level below another one, whose states are written: what may come next stands before it."""
    event = i[0, level + LEVEL_EVENT]
    i[0, below + LEVEL_UP] = below - level
    i[0, below + LEVEL_BOUND] = i[0, below + LEVEL_FROM] = i[0, event + EVENT_SEQ]
    i[0, below + LEVEL_NEWEST] = max(i[0, level + LEVEL_NEWEST], i[0, event + EVENT_MS])
    i[0, below + LEVEL_OLDEST] = min(i[0, level + LEVEL_OLDEST], i[0, event + EVENT_MS])
    words, state = state_words(p, what), first_states(p, what, below)
    following = 0
    for leaf in range(p[what + COMPLEX_LEAVES]):
        i[0, below + LEVEL_LEAVES + leaf] = i[0, level + LEVEL_LEAVES + leaf]
        after = p[p[what + COMPLEX_LEAF_LIST] + leaf * LEAF + LEAF_AFTER]
        for place in range(i[0, below + LEVEL_STATES]):
            mask = i[0, state + place * words]
            if mask & (1 << leaf) and not mask & after:
                following |= 1 << leaf
    i[0, below + LEVEL_NEXT] = following


@inner
def next_event(i: Ints, p: Ints, what: int, level: int) -> int:
    """The newest event in front of the bound of a level that one of its next leaves names."""
    bound, found = i[0, level + LEVEL_BOUND], 0
    for leaf in range(p[what + COMPLEX_LEAVES]):
        if not i[0, level + LEVEL_NEXT] >> leaf & 1:
            continue
        event = i[0, level + LEVEL_LEAVES + leaf]
        while event and i[0, event + EVENT_SEQ] >= bound:
            event = i[0, event + EVENT_BEFORE]
        i[0, level + LEVEL_LEAVES + leaf] = event
        if event and (found == 0 or i[0, event + EVENT_SEQ] > i[0, found + EVENT_SEQ]):
            found = event
    return found


@inner
def next_tried(i: Ints, p: Ints, engine: int, what: int, key: int, level: int, lowest: int) -> bool:
    """Have a level try the next event that may be the one; false: there is none."""
    within_ms = i[0, p[what + COMPLEX_WITHIN]]
    newest, oldest = i[0, level + LEVEL_NEWEST], i[0, level + LEVEL_OLDEST]
    is_mixed = i[0, state_of(i, p, engine) + IS_MIXED]
    while True:
        event = next_event(i, p, what, level)
        if event == 0 or i[0, event + EVENT_SEQ] < lowest:
            return False
        i[0, level + LEVEL_BOUND] = i[0, event + EVENT_SEQ]
        at_ms = i[0, event + EVENT_MS]
        if max(newest, at_ms) - min(oldest, at_ms) <= within_ms:
            if may_bind(i, p, engine, what, key, event):
                i[0, level + LEVEL_EVENT] = event
                return True
        elif not is_mixed:
            return False  # what stands before it is older still


@inline
def vain_at(i: Ints, p: Ints, what: int, base: int, level: int) -> int:
    """Where it is noted that what a level looks for is not there; 0: it is not noted."""
    count = i[0, level + LEVEL_STATES]
    if p[what + COMPLEX_LEAVES] <= 2 or count > VAIN_STATES_MAX:
        return 0
    words = count * state_words(p, what)
    place = hash_of(i, first_states(p, what, level), words) & (VAIN_ROOM - 1)
    return base + p[what + COMPLEX_REFS] + place * vain_one(p, what)


@inner
def is_in_vain(i: Ints, p: Ints, what: int, base: int, level: int) -> bool:
    """Whether the same was looked for before, with as many places and as much time at least."""
    vain = vain_at(i, p, what, base, level)
    count = i[0, level + LEVEL_STATES]
    if vain == 0 or i[0, vain + VAIN_COUNT] != count:
        return False
    states = first_states(p, what, level)
    return (
        is_same(i, vain + VAIN_STATES, states, count * state_words(p, what))
        and i[0, level + LEVEL_FROM] <= i[0, vain + VAIN_FROM]
        and i[0, level + LEVEL_NEWEST] >= i[0, vain + VAIN_NEWEST]
        and i[0, level + LEVEL_OLDEST] <= i[0, vain + VAIN_OLDEST]
    )


@inner
def note_vain(i: Ints, p: Ints, what: int, base: int, level: int) -> None:
    """Note that what a level looked for is not there."""
    vain = vain_at(i, p, what, base, level)
    if vain == 0:
        return
    i[0, vain + VAIN_COUNT] = i[0, level + LEVEL_STATES]
    i[0, vain + VAIN_FROM] = i[0, level + LEVEL_FROM]
    i[0, vain + VAIN_NEWEST] = i[0, level + LEVEL_NEWEST]
    i[0, vain + VAIN_OLDEST] = i[0, level + LEVEL_OLDEST]
    states = first_states(p, what, level)
    for word in range(i[0, level + LEVEL_STATES] * state_words(p, what)):
        i[0, vain + VAIN_STATES + word] = i[0, states + word]


@inner
def begun(i: Ints, p: Ints, what: int, base: int, event: int) -> int:
    """The first level, which tries the newest event for the whole pattern."""
    level = base + p[what + COMPLEX_REFS] + vain_words(p, what)
    for word in range(base + p[what + COMPLEX_REFS], level, vain_one(p, what)):
        i[0, word + VAIN_COUNT] = 0
    i[0, level + LEVEL_UP] = 0
    i[0, level + LEVEL_EVENT] = event
    i[0, level + LEVEL_NEWEST] = i[0, level + LEVEL_OLDEST] = i[0, event + EVENT_MS]
    i[0, level + LEVEL_STATES] = 1
    for leaf in range(p[what + COMPLEX_LEAVES]):
        number = i[0, base + leaf]
        i[0, level + LEVEL_LEAVES + leaf] = i[0, number + NEWEST_EVENT] if number else 0
    state = first_states(p, what, level)
    i[0, state] = p[what + COMPLEX_FULL]
    for place in range(p[what + COMPLEX_ABSENCES]):
        i[0, state + 1 + place] = 0
    return level


@inline
def first_words(p: Ints, what: int) -> int:
    """The words that a search needs before it has found anything."""
    return (
        p[what + COMPLEX_REFS] + vain_words(p, what)
        + LEVEL_LEAVES + p[what + COMPLEX_LEAVES] + state_words(p, what)
    )  # fmt: skip


@inner
def searched(
    i: Ints, p: Ints, engine: int, what: int, key: int, event: int, base: int, room: int
) -> int:
    """The level whose event is the first of the match that ends with the newest event, or NOTHING;
    SHORT: it needs more than so many words of room, as many as are left where expressions are.

    11: of several the one whose places are the latest, compared from the newest event on, of which
    a beginning wins over what goes on.
    """
    i[0, EVALUATION] = first_words(p, what)
    if i[0, EVALUATION] > room:
        return SHORT
    refs_found(i, p, engine, what, key, base)
    lowest = first_allowed(i, p, what, base)
    if i[0, event + EVENT_SEQ] < lowest or not may_bind(i, p, engine, what, key, event):
        return NOTHING
    level = begun(i, p, what, base, event)
    leaves, words = p[what + COMPLEX_LEAVES], state_words(p, what)
    while True:
        below = level_end(i, p, what, level)
        most = LEVEL_LEAVES + leaves + (i[0, level + LEVEL_STATES] * leaves + 1) * words
        if below + most - base > room:
            i[0, EVALUATION] = below + most - base
            return SHORT
        count = expanded(i, p, what, base, level, below)
        if count == COMPLETE:
            return level
        if count:
            level_begun(i, p, what, base, level, below)
            if not is_in_vain(i, p, what, base, below):
                level = below
        while True:
            up = i[0, level + LEVEL_UP]
            if up == 0:
                return NOTHING
            if next_tried(i, p, engine, what, key, level, lowest):
                break
            note_vain(i, p, what, base, level)
            level -= up
