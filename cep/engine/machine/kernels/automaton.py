"""The automaton of a regular expression, of whose states those are made that are reached.

A state is a set of positions (Rabin and Scott 1959). There may be exponentially many, but no more
are reached than partial matches take steps: so a state is made when something first gets there, and
then knows where each symbol leads (Thompson 1968).
"""

from __future__ import annotations

from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.memory import (
    cleared,
    index_add,
    index_find,
    index_remove,
    index_room,
    release,
)
from cep.engine.machine.kernels.words import INDEX_AT, INDEX_COUNT, INDEX_ROOM, Ints

BITS = 62
"""So many positions have a bit in one word."""

# What a program says: how many positions and symbols there are, how many words a set of positions
# has, of more than how many states those are forgotten at which nothing is; then sets: those that a
# match begins with, those that it may end with, those that something follows; by symbol those at
# which it stands; by position those that follow it.
A_POSITIONS, A_SYMBOLS, A_WORDS, A_KEPT, A_SETS = 0, 1, 2, 3, 4
FIRST, LAST, FOLLOWED, AT_SYMBOLS = 0, 1, 2, 3

# A state: how many partial matches of the instant are there, whether a match may end here and go on
# from here, whether its steps are known, its set, then by symbol the state that it leads to.
S_COUNT, S_ENDS, S_GOES_ON, S_IS_KNOWN, S_SET = 0, 1, 2, 3, 4
NOWHERE = -1
"""In the place of a state: a symbol leads to none."""


@inline
def set_of(p: Ints, automaton: int, number: int) -> int:
    """The place of one of the sets of a program."""
    return automaton + A_SETS + number * p[automaton + A_WORDS]


@inline
def words_of_state(p: Ints, automaton: int) -> int:
    return S_SET + p[automaton + A_WORDS] + p[automaton + A_SYMBOLS]


@inline
def step_by(i: Ints, p: Ints, automaton: int, state: int, symbol: int) -> int:
    """Where a symbol leads, of a state whose steps are known."""
    return i[0, state + S_SET + p[automaton + A_WORDS] + symbol]


@inline
def meets(i: Ints, p: Ints, automaton: int, positions: int, number: int) -> bool:
    """Whether a set of positions has any of those in a set of the program."""
    other, found = set_of(p, automaton, number), False
    for word in range(p[automaton + A_WORDS]):
        found = found or i[0, positions + word] & p[other + word] != 0
    return found


@inner
def state_at(i: Ints, p: Ints, automaton: int, states: int, positions: int) -> int:
    """The state of a set of positions, made on first sight; 0: there is no room.

    Without any it is the begin, to which no symbol leads.
    """
    words = p[automaton + A_WORDS]
    found = index_find(i, states, positions, words, S_SET)
    if found != 0 or not index_room(i, states, words, S_SET):
        return found
    found = cleared(i, words_of_state(p, automaton))
    if found != 0:
        for word in range(words):
            i[0, found + S_SET + word] = i[0, positions + word]
        i[0, found + S_ENDS] = int(meets(i, p, automaton, positions, LAST))
        i[0, found + S_GOES_ON] = int(meets(i, p, automaton, positions, FOLLOWED))
        index_add(i, states, found, words, S_SET)
    return found


@inner
def reached(i: Ints, p: Ints, automaton: int, state: int, symbol: int, positions: int) -> bool:
    """Leave the positions to which a symbol leads from a state; whether there are any. O(n^2)."""
    words, is_begin = p[automaton + A_WORDS], True
    follow = set_of(p, automaton, AT_SYMBOLS + p[automaton + A_SYMBOLS])
    for word in range(words):
        i[0, positions + word] = 0
    for position in range(p[automaton + A_POSITIONS]):
        if i[0, state + S_SET + position // BITS] >> (position % BITS) & 1:
            is_begin = False
            for word in range(words):
                i[0, positions + word] |= p[follow + position * words + word]
    first, at = set_of(p, automaton, FIRST), set_of(p, automaton, AT_SYMBOLS + symbol)
    found = False
    for word in range(words):
        if is_begin:
            i[0, positions + word] = p[first + word]
        i[0, positions + word] &= p[at + word]
        found = found or i[0, positions + word] != 0
    return found


@inner
def knows_steps(i: Ints, p: Ints, automaton: int, states: int, state: int, scratch: int) -> bool:
    """Whether the steps of a state are known, found where they are not; false: there is no room."""
    if i[0, state + S_IS_KNOWN]:
        return True
    steps = state + S_SET + p[automaton + A_WORDS]
    for symbol in range(p[automaton + A_SYMBOLS]):
        following = NOWHERE
        if reached(i, p, automaton, state, symbol, scratch):
            following = state_at(i, p, automaton, states, scratch)
            if following == 0:
                return False
        i[0, steps + symbol] = following
    i[0, state + S_IS_KNOWN] = 1
    return True


@inner
def forget_states(i: Ints, p: Ints, automaton: int, states: int) -> None:
    """Let go the states at which nothing is counted, and all steps, which may lead there.

    O(states + buckets), so it is asked for when there are many.
    """
    words, bucket = p[automaton + A_WORDS], 0
    while bucket < i[0, states + INDEX_ROOM]:
        state = i[0, i[0, states + INDEX_AT] + bucket]
        if state != 0 and i[0, state + S_COUNT] == 0:
            index_remove(i, states, state, words, S_SET)  # another one may move into the bucket
            release(i, state, words_of_state(p, automaton))
            continue
        if state != 0:
            i[0, state + S_IS_KNOWN] = 0
        bucket += 1


@inline
def has_many_states(i: Ints, p: Ints, automaton: int, states: int) -> bool:
    return i[0, states + INDEX_COUNT] > p[automaton + A_KEPT]
