"""What queries do with tables: look whether they have a row, write, change and delete rows."""

from __future__ import annotations

from cep.engine.kernels.groups import float_bits
from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.evaluate import leave_value
from cep.engine.machine.kernels.memory import index_find, is_same
from cep.engine.machine.kernels.searches import (
    F_BLOCK,
    F_FITTING,
    NO_ROOM,
    Q_AT,
    Q_FOUND,
    candidate,
    candidates,
    fits,
    found_room,
    looked_at,
)
from cep.engine.machine.kernels.tables import (
    B_VALUE,
    LINKS,
    R_LINKS,
    S_COLUMNS,
    S_DATA,
    S_DROPPED,
    S_INDEX,
    S_INDEXES,
    S_KEY,
    S_KEYS,
    T_KEY,
    chained,
    column_word,
    key_set,
    key_unset,
    table_add,
    table_at,
    table_remove,
    table_room,
    unchained,
)
from cep.engine.machine.kernels.words import (
    ARGUMENTS,
    CHUNK,
    COUNT,
    CURSOR,
    EVALUATION,
    KIND,
    NEXT,
    NODE,
    PLACE,
    RESET,
    TIME,
    TIMER,
    WIDTH,
    Floats,
    Ints,
)
from cep.engine.machine.kernels.work import hand_on_same, pop, row_at

# A look into a table: the search, the word for what it finds.
LOOKUP_SEARCH, LOOKUP_WORD = ARGUMENTS, ARGUMENTS + 1
# What is written: how, the table, the first word of what is selected; the search; how many values
# are set, whether one of these may be of the key, and for each its column and its expression.
WRITE_HOW, WRITE_SHAPE, WRITE_FIRST, WRITE_SEARCH, WRITE_SETS, WRITE_KEYED, WRITE_LIST = range(
    ARGUMENTS, ARGUMENTS + 7
)
ADD, DELETE, UPDATE, UPDATE_OR_ADD = 0, 1, 2, 3


@inner
def step_lookup(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Each row gets whether the condition is true on any row of a table."""
    node, place = i[0, frame + NODE], i[0, frame + PLACE]
    search, first = p[node + LOOKUP_SEARCH], row_at(i, i[0, frame + CHUNK])
    while i[0, frame + CURSOR] < i[0, frame + COUNT]:
        row = first + i[0, frame + CURSOR] * p[node + WIDTH]
        if i[0, row + KIND] != TIMER:  # a reset goes through filters, too: it is a copy of a row
            count = candidates(i, f, p, search, place, row)
            if count == NO_ROOM:
                return False
            found, number = 0, 0
            while not found and number < count:
                found = int(fits(i, f, p, search, place, number, row))
                number += 1
            i[0, row + p[node + LOOKUP_WORD]] = found
        i[0, frame + CURSOR] += 1
    hand_on_same(i, frame, p[node + NEXT], i[0, frame + COUNT])
    return True


@inner
def step_write(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Each row that was selected adds, changes or deletes rows of a table."""
    node = i[0, frame + NODE]
    first = row_at(i, i[0, frame + CHUNK])
    while i[0, frame + CURSOR] < i[0, frame + COUNT]:
        row = first + i[0, frame + CURSOR] * p[node + WIDTH]
        if i[0, row + KIND] != RESET and not wrote(i, f, p, node, i[0, frame + PLACE], row):
            return False
        i[0, frame + CURSOR] += 1
    pop(i, frame)
    return True


@inner
def wrote(i: Ints, f: Floats, p: Ints, node: int, place: int, row: int) -> bool:
    """One row writes; false: there is no room, and nothing has changed."""
    how, shape, search = p[node + WRITE_HOW], p[node + WRITE_SHAPE], p[node + WRITE_SEARCH]
    if how == ADD:
        if not table_room(i, p, shape, table_at(i, p, shape), 1):
            return False
        table_add(i, f, p, shape, i[0, row + TIME], row + p[node + WRITE_FIRST])
        return True
    count = candidates(i, f, p, search, place, row)
    if count == NO_ROOM:
        return False
    if how == DELETE:
        for number in range(count):
            if fits(i, f, p, search, place, number, row):
                table_remove(i, p, shape, candidate(i, p, search, place, number))
        return True
    state = place + p[search + Q_FOUND] + F_FITTING
    if not found_room(i, state, count * (1 + p[shape + S_KEYS])) or not table_room(
        i, p, shape, table_at(i, p, shape), max(1, count)
    ):
        return False
    fitting = 0
    for number in range(count):
        if fits(i, f, p, search, place, number, row):
            i[0, i[0, state + F_BLOCK] + fitting] = candidate(i, p, search, place, number)
            fitting += 1
    if fitting:
        update(i, f, p, node, row, i[0, state + F_BLOCK], fitting)
    elif how == UPDATE_OR_ADD:
        table_add(i, f, p, shape, i[0, row + TIME], row + p[node + WRITE_FIRST])
    return True


@inner
def update(i: Ints, f: Floats, p: Ints, node: int, row: int, fitting: int, count: int) -> None:
    """Set values of the rows that fit; of none, if two rows would have one key."""
    shape, keyed = p[node + WRITE_SHAPE], p[node + WRITE_KEYED]
    if keyed and clashes(i, f, p, node, row, fitting, count):
        i[0, p[shape + S_DROPPED]] += count
        return
    table = table_at(i, p, shape)
    for number in range(count):
        held = i[0, fitting + number]
        values = held + p[shape + S_DATA] + 1
        looked_at(i, p, p[node + WRITE_SEARCH], held, row)
        changes = False
        if keyed:
            key = fitting + count + number * p[shape + S_KEYS]
            changes = not is_same(i, held + p[shape + S_KEY], key, p[shape + S_KEYS])
        if changes:
            key_unset(i, p, shape, table, held)
        set_values(i, f, p, node, row, values)
        for index in range(p[shape + S_INDEXES]):
            rechained(i, f, p, shape, table, held, index)
        if changes:
            key_set(i, f, p, shape, table, held)


@inner
def set_values(i: Ints, f: Floats, p: Ints, node: int, row: int, values: int) -> None:
    """Write what is set to where the values of a row lie."""
    for number in range(p[node + WRITE_SETS]):
        one = p[node + WRITE_LIST] + 2 * number
        leave_value(i, f, p, p[one + 1], row, EVALUATION)
        i[0, values + p[one]] = i[0, EVALUATION]


@inner
def rechained(i: Ints, f: Floats, p: Ints, shape: int, table: int, held: int, number: int) -> None:
    """A row whose value by an index may have changed is found by the new one."""
    column, values = p[p[shape + S_INDEX] + number], held + p[shape + S_DATA] + 1
    bucket = i[0, held + R_LINKS + number * LINKS]
    if i[0, bucket + B_VALUE] != column_word(i, f, values, column):
        unchained(i, table, held, number)
        chained(i, f, p, shape, table, held, number)


@inner
def clashes(i: Ints, f: Floats, p: Ints, node: int, row: int, fitting: int, count: int) -> bool:
    """Whether two rows would have one key. The keys to be are written behind the rows that fit.

    O(rows that fit), and their square where keys change.
    """
    shape, search = p[node + WRITE_SHAPE], p[node + WRITE_SEARCH]
    table, keys = table_at(i, p, shape), p[shape + S_KEYS]
    values, changes = row + p[search + Q_AT] + 1, False
    for number in range(count):
        held, key = i[0, fitting + number], fitting + count + number * keys
        new_key(i, f, p, node, row, held, values, key)
        if not is_same(i, held + p[shape + S_KEY], key, keys):
            other = index_find(i, table + T_KEY, key, keys, p[shape + S_KEY])
            if other != 0 and not is_among(i, other, fitting, count):
                return True
            changes = True
        for earlier in range(number if changes else 0):
            if is_same(i, fitting + count + earlier * keys, key, keys):
                return True
    return False


@inner
def new_key(
    i: Ints, f: Floats, p: Ints, node: int, row: int, held: int, values: int, target: int
) -> None:
    """Write the key that a row will have. What the row looks at is no longer whole then."""
    shape, search = p[node + WRITE_SHAPE], p[node + WRITE_SEARCH]
    looked_at(i, p, search, held, row)
    for place in range(p[shape + S_KEYS]):
        column = p[p[shape + S_COLUMNS] + place]
        i[0, target + place] = column_word(i, f, values, column)
    for number in range(p[node + WRITE_SETS]):
        one = p[node + WRITE_LIST] + 2 * number
        for place in range(p[shape + S_KEYS]):
            column = p[p[shape + S_COLUMNS] + place]
            if p[one] == (column if column >= 0 else -1 - column):
                leave_value(i, f, p, p[one + 1], row, EVALUATION)
                real = column < 0
                i[0, target + place] = float_bits(f[0, EVALUATION]) if real else i[0, EVALUATION]


@inline
def is_among(i: Ints, row: int, fitting: int, count: int) -> bool:
    found = False
    for number in range(count):
        found |= i[0, fitting + number] == row
    return found
