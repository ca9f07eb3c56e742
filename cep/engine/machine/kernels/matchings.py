"""Matchings: strictly sequential patterns of symbols, by instants of time.

All partial matches lie in one ring: those of the instant before, then those of this one. A row
shows itself to the former, in order, and to one that begins with it; what comes of that is put
behind the latter. So no partial match is moved but where others end.
"""

from __future__ import annotations

from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.automaton import (
    A_SYMBOLS,
    A_WORDS,
    NOWHERE,
    S_COUNT,
    S_ENDS,
    S_GOES_ON,
    forget_states,
    has_many_states,
    knows_steps,
    state_at,
    step_by,
)
from cep.engine.machine.kernels.evaluate import is_true, store
from cep.engine.machine.kernels.memory import ring_cell, ring_room_for
from cep.engine.machine.kernels.words import (
    ARGUMENTS,
    BREAK,
    CHUNK,
    COUNT,
    CURRENT,
    CURSOR,
    INDEX,
    KIND,
    NEXT,
    NODE,
    PLACE,
    RING,
    RING_HEAD,
    RING_TAIL,
    STATE,
    TIME,
    WIDER,
    WIDTH,
    Floats,
    Ints,
)
from cep.engine.machine.kernels.work import copied, hand_on, made, row_at, work_room

# A node: words of a row that comes, how many variables follow it and what they are at first; the
# automaton, the symbols; whether instants without a symbol are left out; cells of how old a partial
# match may become and of how many may be in one state; where those are counted that come late and
# that give way.
(G_WORDS, G_VARIABLES, G_EMPTY, G_AUTOMATON, G_SYMBOLS, G_SKIPS, G_WITHIN, G_MOST, G_LATE,
 G_BOUND) = range(ARGUMENTS, ARGUMENTS + 10)  # fmt: skip
# A symbol: its condition, how many variables it sets, and where their words and expressions stand.
Y_CONDITION, Y_SETS, Y_SET_LIST, SYMBOL = 0, 1, 2, 3

# The state: the partial matches, the position of the first of this instant, the instant and whether
# there was one; whether a row is under way and the position of the partial match that it is shown
# next; whether some state has too many; the state in which matches begin; the states by their sets;
# a set, and a row with its variables, that are worked on.
PARTIALS, MIDDLE, INSTANT_MS, HAS_INSTANT, IS_UNDER_WAY, AT_PARTIAL, IS_FULL, BEGIN, STATES = (
    0, RING, RING + 1, RING + 2, RING + 3, RING + 4, RING + 5, RING + 6, RING + 7,
)  # fmt: skip
WORKED_ON = STATES + INDEX
# A partial match: its state, the time of its first row, whether a row of this instant has emitted a
# symbol for it, its variables.
P_STATE, P_FIRST_MS, P_IS_OVER, P_VARIABLES = 0, 1, 2, 3


@inline
def state_of(i: Ints, p: Ints, frame: int) -> int:
    return i[0, frame + PLACE] + p[i[0, frame + NODE] + STATE]


@inline
def words_of(p: Ints, node: int) -> int:
    """The words of a partial match."""
    return P_VARIABLES + p[node + G_VARIABLES]


@inline
def row_of(p: Ints, node: int, state: int) -> int:
    """The address of the row that is worked on; its variables stand behind it."""
    return state + WORKED_ON + p[p[node + G_AUTOMATON] + A_WORDS]


@inner
def step_matching(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Rows move the matching on; each match is a row and a chunk of its own."""
    node = i[0, frame + NODE]
    while i[0, frame + CURSOR] < i[0, frame + COUNT]:
        row = row_at(i, i[0, frame + CHUNK] + i[0, frame + CURSOR] * p[node + WIDTH])
        if i[0, row + KIND] == CURRENT and not has_moved_on(i, f, p, frame, row):
            return False
        i[0, frame + CURSOR] += 1
    hand_on(i, frame, p[node + NEXT])
    return True


@inner
def has_moved_on(i: Ints, f: Floats, p: Ints, frame: int, row: int) -> bool:
    """Show a row to all partial matches; false: there is no room, it goes on with the next one."""
    node, state = i[0, frame + NODE], state_of(i, p, frame)
    if not i[0, state + IS_UNDER_WAY]:
        if i[0, state + HAS_INSTANT] and i[0, row + TIME] < i[0, state + INSTANT_MS]:
            i[0, p[node + G_LATE]] += 1
            return True
        if not has_begun(i, p, node, state, row):
            return False
    while i[0, state + AT_PARTIAL] <= i[0, state + MIDDLE]:
        if not has_extended(i, f, p, frame, state, i[0, state + AT_PARTIAL]):
            return False
        i[0, state + AT_PARTIAL] += 1
    if i[0, state + IS_FULL]:
        drop_oldest(i, p, node, state)
    i[0, state + IS_UNDER_WAY] = 0
    return True


@inner
def has_begun(i: Ints, p: Ints, node: int, state: int, row: int) -> bool:
    """A row comes that is not late; false: there is no room, and nothing has happened."""
    automaton, time_ms = p[node + G_AUTOMATON], i[0, row + TIME]
    if i[0, state + BEGIN] == 0:
        for word in range(p[automaton + A_WORDS]):
            i[0, state + WORKED_ON + word] = 0
        i[0, state + BEGIN] = state_at(i, p, automaton, state + STATES, state + WORKED_ON)
        if i[0, state + BEGIN] == 0:
            return False
    if not i[0, state + HAS_INSTANT] or time_ms != i[0, state + INSTANT_MS]:
        begin_instant(i, p, node, state, time_ms)
    copied(i, row, row_of(p, node, state), p[node + G_WORDS])
    i[0, state + AT_PARTIAL] = i[0, state + PARTIALS + RING_HEAD]
    i[0, state + IS_UNDER_WAY] = 1
    return True


@inner
def begin_instant(i: Ints, p: Ints, node: int, state: int, time_ms: int) -> None:
    """Those of this instant become those of the instant before, unless they are too old.

    Where instants may be left out, those that wait for one that is not stay. O(partial matches).
    """
    ring, words, middle = state + PARTIALS, words_of(p, node), i[0, state + MIDDLE]
    first = i[0, ring + RING_HEAD] if p[node + G_SKIPS] else middle
    after_ms, kept = time_ms - i[0, p[node + G_WITHIN]], first
    for position in range(first, i[0, ring + RING_TAIL]):
        cell = ring_cell(i, ring, position, words)
        i[0, i[0, cell + P_STATE] + S_COUNT] = 0
        if not i[0, cell + P_IS_OVER] and i[0, cell + P_FIRST_MS] > after_ms:
            if kept != position:
                copied(i, cell, ring_cell(i, ring, kept, words), words)
            kept += 1
    i[0, ring + RING_HEAD] = first
    i[0, ring + RING_TAIL] = i[0, state + MIDDLE] = kept
    i[0, state + INSTANT_MS] = time_ms
    i[0, state + HAS_INSTANT] = 1
    if has_many_states(i, p, p[node + G_AUTOMATON], state + STATES):
        forget_unused(i, p, node, state)


@inner
def forget_unused(i: Ints, p: Ints, node: int, state: int) -> None:
    """Forget states in which nothing is, while no partial match of this instant is counted."""
    ring, words, begin = state + PARTIALS, words_of(p, node), i[0, state + BEGIN]
    head, tail = i[0, ring + RING_HEAD], i[0, ring + RING_TAIL]
    i[0, begin + S_COUNT] = 1
    for position in range(head, tail):
        i[0, i[0, ring_cell(i, ring, position, words) + P_STATE] + S_COUNT] = 1
    forget_states(i, p, p[node + G_AUTOMATON], state + STATES)
    i[0, begin + S_COUNT] = 0
    for position in range(head, tail):
        i[0, i[0, ring_cell(i, ring, position, words) + P_STATE] + S_COUNT] = 0


@inner
def load_variables(i: Ints, p: Ints, node: int, state: int, position: int) -> None:
    """Give the row that is worked on the variables of a partial match, or those of a begin."""
    variables = row_of(p, node, state) + p[node + G_WORDS]
    if position == i[0, state + MIDDLE]:
        for number in range(p[node + G_VARIABLES]):
            i[0, variables + number] = p[p[node + G_EMPTY] + number]
    else:
        cell = ring_cell(i, state + PARTIALS, position, words_of(p, node))
        copied(i, cell + P_VARIABLES, variables, p[node + G_VARIABLES])


@inner
def has_extended(i: Ints, f: Floats, p: Ints, frame: int, state: int, position: int) -> bool:
    """Show the row to one partial match; that at the middle begins with it. What may go on is kept,
    what is complete is put out; false: there is no room, and nothing has happened.
    """
    node = i[0, frame + NODE]
    automaton, ring = p[node + G_AUTOMATON], state + PARTIALS
    words, row = words_of(p, node), row_of(p, node, state)
    is_begin = position == i[0, state + MIDDLE]
    here, first_ms = i[0, state + BEGIN], i[0, row + TIME]
    if not is_begin:
        cell = ring_cell(i, ring, position, words)
        here, first_ms = i[0, cell + P_STATE], i[0, cell + P_FIRST_MS]
    count = p[automaton + A_SYMBOLS]
    if not (
        knows_steps(i, p, automaton, state + STATES, here, state + WORKED_ON)
        and ring_room_for(i, ring, words, count)
        and work_room(i, count * p[node + WIDER])
    ):
        return False
    load_variables(i, p, node, state, position)
    for number in range(count):
        symbol = p[node + G_SYMBOLS] + number * SYMBOL
        to = step_by(i, p, automaton, here, number)
        if to == NOWHERE and not p[node + G_SKIPS]:
            continue
        if not is_true(i, f, p, p[symbol + Y_CONDITION], row):
            continue
        if not is_begin:
            i[0, ring_cell(i, ring, position, words) + P_IS_OVER] = 1
        if to != NOWHERE:
            take_step(i, f, p, frame, state, symbol, to, first_ms)
            if p[symbol + Y_SETS]:
                load_variables(i, p, node, state, position)
    return True


@inner
def take_step(
    i: Ints, f: Floats, p: Ints, frame: int, state: int, symbol: int, to: int, first_ms: int
) -> None:
    """The row is a symbol that leads to a state; there is room for what comes of that."""
    node, ring = i[0, frame + NODE], state + PARTIALS
    row, words, count = row_of(p, node, state), words_of(p, node), p[node + G_VARIABLES]
    variables = row + p[node + G_WORDS]
    for number in range(p[symbol + Y_SETS]):
        one = p[symbol + Y_SET_LIST] + 2 * number
        store(i, f, p, p[one + 1], row, row + p[one])
    if i[0, to + S_GOES_ON]:
        cell = ring_cell(i, ring, i[0, ring + RING_TAIL], words)
        i[0, ring + RING_TAIL] += 1
        i[0, cell + P_STATE] = to
        i[0, cell + P_FIRST_MS] = first_ms
        i[0, cell + P_IS_OVER] = 0
        copied(i, variables, cell + P_VARIABLES, count)
        i[0, to + S_COUNT] += 1
        if i[0, to + S_COUNT] > i[0, p[node + G_MOST]]:
            i[0, state + IS_FULL] = 1
    if i[0, to + S_ENDS]:
        out = made(i, frame, p[node + WIDER])
        copied(i, row, out, p[node + G_WORDS] + count)
        i[0, out + KIND] = CURRENT | BREAK


@inner
def drop_oldest(i: Ints, p: Ints, node: int, state: int) -> None:
    """Of too many partial matches of this instant in one state the oldest give way."""
    ring, words, most = state + PARTIALS, words_of(p, node), i[0, p[node + G_MOST]]
    kept = i[0, state + MIDDLE]
    for position in range(kept, i[0, ring + RING_TAIL]):
        cell = ring_cell(i, ring, position, words)
        here = i[0, cell + P_STATE]
        if i[0, here + S_COUNT] > most:
            i[0, here + S_COUNT] -= 1
            i[0, p[node + G_BOUND]] += 1
            continue
        if kept != position:
            copied(i, cell, ring_cell(i, ring, kept, words), words)
        kept += 1
    i[0, ring + RING_TAIL] = kept
    i[0, state + IS_FULL] = 0
