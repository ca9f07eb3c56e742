"""Running values of groups of rows, which each row that comes or leaves changes."""

from __future__ import annotations

from cep.engine.kernels.groups import float_bits
from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.collected import (
    DISTINCT,
    PLAIN,
    collected_dropped,
    collected_enter,
    collected_leave,
    collected_room,
    collected_value,
    is_collected_empty,
)
from cep.engine.machine.kernels.evaluate import accumulate, accumulated, leave_value
from cep.engine.machine.kernels.fed import GIVEN, begins_anew, fed
from cep.engine.machine.kernels.memory import (
    cleared,
    index_add,
    index_find,
    index_remove,
    index_room,
    release,
)
from cep.engine.machine.kernels.streams import step_project
from cep.engine.machine.kernels.words import (
    ARGUMENTS,
    CHUNK,
    COUNT,
    CURRENT,
    CURSOR,
    EVALUATION,
    EXPIRED,
    FAILED,
    INDEX_AT,
    INDEX_COUNT,
    INDEX_ROOM,
    KIND,
    NEXT,
    NODE,
    PLACE,
    RESET,
    STATE,
    TIMER,
    WIDTH,
    Floats,
    Ints,
)
from cep.engine.machine.kernels.work import copied, hand_on_same, row_at

# A node: how many columns make a group, and their words in the row (those of doubles negated);
# whether an empty group is forgotten; the words of a group; its accumulators and its values.
GROUP_KEYS, GROUP_COLUMNS, GROUP_FORGETS, GROUP_WORDS = (
    ARGUMENTS, ARGUMENTS + 1, ARGUMENTS + 2, ARGUMENTS + 3,
)  # fmt: skip
GROUP_ACCUMULATORS, GROUP_FIRST, GROUP_VALUES, GROUP_RESULTS = (
    ARGUMENTS + 4, ARGUMENTS + 5, ARGUMENTS + 6, ARGUMENTS + 7,
)  # fmt: skip
GROUP_WANTED = ARGUMENTS + 8
"""Which kinds of rows what follows has a use for, as bits; others change values, and need none."""
GROUP_PROJECTS = ARGUMENTS + 9
"""Whether what is selected of rows comes next."""
GROUP_LASTS = ARGUMENTS + 10
"""How many words of a row were there before, if of those of a group that come together only the
last goes on, for which alone the values are read then; else 0."""

# An accumulator: its kind; by which number of `accumulate` a value comes and goes (0: not at all);
# its words of integers and of doubles in the group, and how many; the cell of its constant; whether
# nothing makes it forget; whether it is forgotten when as many rows have gone as have come,
# whatever is left in it; how many arguments, and their expressions.
(KIND_OF, ENTERS, LEAVES, WHOLES, WHOLES_COUNT, REALS, REALS_COUNT, CONSTANT, LASTS, YIELDS, TAKES,
 CODES) = range(12)  # fmt: skip
TAKES_MAX = 4
ACCUMULATOR = CODES + TAKES_MAX
OWN, COUNTED = -1, -2
"""Further kinds: an indicator of the user, whose only expression calls it; and beside one how many
rows have come and not left, as accumulators behind one that fails do not see the row."""

# A value: its accumulator (-1: the number of rows), its number of `accumulated`, its word.
OF, BY, INTO, RESULT = 0, 1, 2, 3

# A group: how many rows; where the row is on its way that stands for all that have come of a chunk,
# counted from 1 (0: none has); the values of its key, then the cells of accumulators.
ROWS, PENDING, KEY = 0, 1, 2


@inner
def key_written(i: Ints, f: Floats, p: Ints, node: int, row: int) -> None:
    """Write the values that make the group of a row to where expressions are evaluated."""
    for column in range(p[node + GROUP_KEYS]):
        word = p[p[node + GROUP_COLUMNS] + column]
        if word < 0:
            i[0, EVALUATION + column] = float_bits(f[0, row - word])
        else:
            i[0, EVALUATION + column] = i[0, row + word]


@inline
def group_found(i: Ints, f: Floats, p: Ints, node: int, state: int, row: int) -> int:
    """The group of a row; 0 where there is none. O(1)."""
    keys = p[node + GROUP_KEYS]
    if keys == 0:
        return i[0, state]
    key_written(i, f, p, node, row)
    return index_find(i, state, EVALUATION, keys, KEY)


@inner
def group_at(i: Ints, f: Floats, p: Ints, node: int, state: int, row: int) -> int:
    """The group of a row, opened on first sight; 0 where there is no room. O(1)."""
    keys, found = p[node + GROUP_KEYS], group_found(i, f, p, node, state, row)
    if found != 0:
        return found
    if keys == 0:
        i[0, state] = cleared(i, p[node + GROUP_WORDS])
        return i[0, state]
    if not index_room(i, state, keys, KEY):
        return 0
    found = cleared(i, p[node + GROUP_WORDS])
    if found != 0:
        for column in range(keys):
            i[0, found + KEY + column] = i[0, EVALUATION + column]
        index_add(i, state, found, keys, KEY)
    return found


@inline
def arguments_written(i: Ints, f: Floats, p: Ints, one: int, row: int) -> None:
    """Write the values that an accumulator takes to where expressions are evaluated."""
    for place in range(p[one + TAKES]):
        leave_value(i, f, p, p[one + CODES + place], row, EVALUATION + place)


@inner
def group_room(i: Ints, f: Floats, p: Ints, node: int, group: int, row: int) -> bool:
    """Whether what keeps values has room for those of a row that comes."""
    for number in range(p[node + GROUP_ACCUMULATORS]):
        one = p[node + GROUP_FIRST] + number * ACCUMULATOR
        if p[one + KIND_OF] > PLAIN:
            if p[one + KIND_OF] >= DISTINCT:
                arguments_written(i, f, p, one, row)
            if not collected_room(i, f, p[one + KIND_OF], group + p[one + WHOLES], EVALUATION):
                return False
    return True


@inner
def group_moved(i: Ints, f: Floats, p: Ints, node: int, group: int, row: int, comes: bool) -> None:
    """A row comes into a group, or leaves it; an indicator that fails says so in the header."""
    for number in range(p[node + GROUP_ACCUMULATORS]):
        one = p[node + GROUP_FIRST] + number * ACCUMULATOR
        kind, ci, cf = p[one + KIND_OF], group + p[one + WHOLES], group + p[one + REALS]
        if kind == OWN:
            fed(i, f, p, p[one + CODES], row, ci, comes)
            if i[0, FAILED]:
                return
            continue
        if kind == COUNTED:
            i[0, ci] += 1 if comes else -1
            continue
        by = p[one + ENTERS] if comes else p[one + LEAVES]
        if by == 0:
            continue
        arguments_written(i, f, p, one, row)
        if kind == PLAIN:
            accumulate(i, f, by, ci, cf, p[one + CONSTANT], EVALUATION)
        elif comes:
            collected_enter(i, f, kind, ci, cf, EVALUATION)
        else:
            collected_leave(i, f, kind, ci, cf, EVALUATION)
    i[0, group + ROWS] += 1 if comes else -1


@inner
def group_read(i: Ints, f: Floats, p: Ints, node: int, group: int, row: int) -> None:
    """Write the values of a group into a row."""
    for number in range(p[node + GROUP_VALUES]):
        value = p[node + GROUP_RESULTS] + number * RESULT
        if p[value + OF] < 0:
            i[0, row + p[value + INTO]] = i[0, group + ROWS]
            continue
        one = p[node + GROUP_FIRST] + p[value + OF] * ACCUMULATOR
        kind, ci, cf = p[one + KIND_OF], group + p[one + WHOLES], group + p[one + REALS]
        if kind < PLAIN:
            i[0, row + p[value + INTO]] = i[0, ci + GIVEN if kind == OWN else ci]
        elif p[value + BY]:
            accumulated(i, f, p[value + BY], ci, cf, p[one + CONSTANT], row + p[value + INTO])
        else:
            collected_value(i, f, kind, ci, p[one + CONSTANT], row + p[value + INTO])


@inner
def is_group_empty(i: Ints, p: Ints, node: int, group: int) -> bool:
    """Whether a group is as it was at first."""
    if i[0, group + ROWS] != 0:
        return False
    for number in range(p[node + GROUP_ACCUMULATORS]):
        one = p[node + GROUP_FIRST] + number * ACCUMULATOR
        ci = group + p[one + WHOLES]
        if p[one + YIELDS]:
            continue
        if p[one + KIND_OF] != PLAIN:
            if not is_collected_empty(i, p[one + KIND_OF], ci):
                return False
            continue
        for word in range(p[one + WHOLES_COUNT]):
            if i[0, ci + word] != 0:
                return False
    return True


@inner
def group_cleared(i: Ints, p: Ints, node: int, group: int) -> None:
    """All rows of a group have gone at once."""
    i[0, group + ROWS] = 0
    for number in range(p[node + GROUP_ACCUMULATORS]):
        one = p[node + GROUP_FIRST] + number * ACCUMULATOR
        if p[one + LASTS]:
            continue
        if p[one + KIND_OF] == OWN:
            begins_anew(i, group + p[one + WHOLES])
            continue
        collected_dropped(i, p[one + KIND_OF], group + p[one + WHOLES])
        for word in range(p[one + WHOLES_COUNT]):
            i[0, group + p[one + WHOLES] + word] = 0
        for word in range(p[one + REALS_COUNT]):
            i[0, group + p[one + REALS] + word] = 0


@inner
def groups_reset(i: Ints, p: Ints, node: int, state: int) -> None:
    """All groups begin again; those that remember nothing are forgotten. O(groups)."""
    keys = p[node + GROUP_KEYS]
    if keys == 0:
        if i[0, state] != 0:
            group_cleared(i, p, node, i[0, state])
        return
    for bucket in range(i[0, state + INDEX_ROOM]):
        group = i[0, i[0, state + INDEX_AT] + bucket]
        if group == 0:
            continue
        group_cleared(i, p, node, group)
        if p[node + GROUP_FORGETS]:
            release(i, group, p[node + GROUP_WORDS])
            i[0, i[0, state + INDEX_AT] + bucket] = 0
    if p[node + GROUP_FORGETS]:
        i[0, state + INDEX_COUNT] = 0


@inner
def group_entered(
    i: Ints, f: Floats, p: Ints, node: int, state: int, row: int, lasts: bool
) -> bool:
    """A row gets the values of its group as they are with it, or without it if it has left;
    `lasts`: more may come together with it, of which only the last one needs them.
    """
    group = group_at(i, f, p, node, state, row)
    if group == 0:
        return False
    comes = i[0, row + KIND] == CURRENT
    if comes and not group_room(i, f, p, node, group, row):
        return False
    if not comes:
        pending_read(i, f, p, node, group)
    group_moved(i, f, p, node, group, row, comes)
    if i[0, FAILED]:
        return True
    if comes and lasts:
        stands_for_all(i, p, node, group, row)
    elif (p[node + GROUP_WANTED] >> i[0, row + KIND]) & 1:
        group_read(i, f, p, node, group, row)
    if i[0, group + PENDING] == 0:
        forgotten_if_empty(i, p, node, state, group)
    return True


@inline
def forgotten_if_empty(i: Ints, p: Ints, node: int, state: int, group: int) -> None:
    """A group of which nothing is left is forgotten; its values have been read."""
    if p[node + GROUP_KEYS] and p[node + GROUP_FORGETS] and is_group_empty(i, p, node, group):
        group_cleared(i, p, node, group)
        index_remove(i, state, group, p[node + GROUP_KEYS], KEY)
        release(i, group, p[node + GROUP_WORDS])


@inline
def stands_for_all(i: Ints, p: Ints, node: int, group: int, row: int) -> None:
    """The last row of a group stands where its first one does, as behind `step_last`; its values
    are not needed before another comes or the chunk ends, which saves them of all others.
    """
    if i[0, group + PENDING] == 0:
        i[0, group + PENDING] = 1 + row - row_at(i, 0)
    else:
        copied(i, row, row_at(i, i[0, group + PENDING] - 1), p[node + GROUP_LASTS])
        i[0, row + KIND] = TIMER  # which goes no further than the projection


@inline
def pending_read(i: Ints, f: Floats, p: Ints, node: int, group: int) -> None:
    """Write the values of a group, before these change, into the row that stands for all."""
    if i[0, group + PENDING]:
        group_read(i, f, p, node, group, row_at(i, i[0, group + PENDING] - 1))
        i[0, group + PENDING] = 0


@inner
def all_pending_read(i: Ints, f: Floats, p: Ints, frame: int, state: int) -> None:
    """The same for all groups of which rows have come so far. O(rows)."""
    node = i[0, frame + NODE]
    for place in range(i[0, frame + CURSOR]):
        row = row_at(i, i[0, frame + CHUNK] + place * p[node + WIDTH])
        group = group_found(i, f, p, node, state, row) if i[0, row + KIND] == CURRENT else 0
        if group != 0:
            pending_read(i, f, p, node, group)
            forgotten_if_empty(i, p, node, state, group)


@inner
def step_group(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Each row of a chunk changes its group and gets its values."""
    node = i[0, frame + NODE]
    state, width = i[0, frame + PLACE] + p[node + STATE], p[node + WIDTH]
    wants_leavers = (p[node + GROUP_WANTED] >> EXPIRED) & 1 != 0
    while i[0, frame + CURSOR] < i[0, frame + COUNT]:
        row = row_at(i, i[0, frame + CHUNK] + i[0, frame + CURSOR] * width)
        kind = i[0, row + KIND]
        if kind == RESET:
            if p[node + GROUP_LASTS]:
                all_pending_read(i, f, p, frame, state)
            groups_reset(i, p, node, state)
        elif kind != TIMER:
            lasts = p[node + GROUP_LASTS] != 0 and i[0, frame + COUNT] > 1
            if not group_entered(i, f, p, node, state, row, lasts):
                return False
        if i[0, FAILED]:
            return True  # all of it is lost
        if kind == EXPIRED and not wants_leavers and i[0, frame + CURSOR] == 0:
            i[0, frame + CHUNK] += width  # nobody wants to know any more of a row in front
            i[0, frame + COUNT] -= 1
        else:
            i[0, frame + CURSOR] += 1
    count = i[0, frame + COUNT]
    if p[node + GROUP_LASTS] and count > 1:
        all_pending_read(i, f, p, frame, state)
    hand_on_same(i, frame, p[node + NEXT], count)
    if count and p[node + GROUP_PROJECTS]:
        return step_project(i, f, p, frame)  # which saves the way over `drain`
    return True
