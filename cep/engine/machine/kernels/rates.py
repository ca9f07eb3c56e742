"""Rates of output: some of the rows that a query has selected go on, now or later.

Rows are kept whole, with what makes their group. Rows that reset aggregates do not go on.
"""

from __future__ import annotations

from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.entries import (
    AFTER,
    ENTRIES,
    ENTRY_KEY,
    FIRST_ENTRY,
    NUMBER,
    entries_count,
    entries_dropped,
    entry_dropped,
    entry_of,
)
from cep.engine.machine.kernels.groups import GROUP_KEYS
from cep.engine.machine.kernels.memory import ring_cell, ring_length, ring_room_for
from cep.engine.machine.kernels.rows import appended, emptied, row_of
from cep.engine.machine.kernels.timers import next_turn, set_timer, timer_room
from cep.engine.machine.kernels.words import (
    ARGUMENTS,
    CHUNK,
    COUNT,
    CURRENT,
    CURSOR,
    DUE,
    EXPIRED,
    KIND,
    NEXT,
    NODE,
    NOW,
    PLACE,
    RANK,
    RING,
    RING_HEAD,
    RING_TAIL,
    START,
    STATE,
    WIDTH,
    Floats,
    Ints,
)
from cep.engine.machine.kernels.work import copied, hand_on, made, work_room

# A node: what makes a group (as `groups` has it), the cell of the number of rows or of the period.
RATE_EVERY = ARGUMENTS + 2
# What is first of a group: whether it is so by the clock.
RATE_BY_CLOCK = ARGUMENTS + 3

# The state of all rows: those that wait, when the period ends.
WAITING, ALL_DUE, ALL_STATE = 0, RING, RING + 1
# The state of last rows: of each group, how many rows there were, when the period ends.
LASTS, ROWS, LAST_DUE, LAST_STATE = 0, ENTRIES, ENTRIES + 1, ENTRIES + 2


@inline
def is_data(i: Ints, row: int) -> bool:
    return i[0, row + KIND] == CURRENT or i[0, row + KIND] == EXPIRED


@inner
def await_period(i: Ints, p: Ints, frame: int, due: int, from_ms: int) -> None:
    """Wait for the end of the period that begins then; there is room for a timer."""
    node, place = i[0, frame + NODE], i[0, frame + PLACE]
    i[0, due] = from_ms + i[0, p[node + RATE_EVERY]]
    set_timer(i, i[0, due], p[node + RANK], i[0, place], next_turn(i), node, place)


@inner
def step_all_events(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Rows wait until there are n."""
    node, count = i[0, frame + NODE], i[0, frame + COUNT]
    ring, width = i[0, frame + PLACE] + p[node + STATE], p[node + WIDTH]
    every, rows = i[0, p[node + RATE_EVERY]], ring_length(i, ring) + count
    if not ring_room_for(i, ring, width, count) or (
        rows >= every and not work_room(i, rows * width)
    ):
        return False
    all_waited(i, p, frame, ring)
    whole = ring_length(i, ring) // every * every
    for _ in range(whole):
        copied(i, ring_cell(i, ring, i[0, ring + RING_HEAD], width), made(i, frame, width), width)
        i[0, ring + RING_HEAD] += 1
    hand_on(i, frame, p[node + NEXT])
    return True


@inner
def all_waited(i: Ints, p: Ints, frame: int, ring: int) -> None:
    """The rows of a chunk wait, for which there is room."""
    for place in range(i[0, frame + COUNT]):
        row = row_of(i, p, frame, place)
        if is_data(i, row):
            appended(i, ring, row, p[i[0, frame + NODE] + WIDTH])


@inner
def step_all_timed(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Rows wait until the period ends."""
    node, count = i[0, frame + NODE], i[0, frame + COUNT]
    ring, width = i[0, frame + PLACE] + p[node + STATE], p[node + WIDTH]
    if count >= 0:
        if not ring_room_for(i, ring, width, count):
            return False
        all_waited(i, p, frame, ring)
    elif not timer_room(i, 1):
        return False
    elif count == START:
        await_period(i, p, frame, ring + ALL_DUE, i[0, frame + CHUNK])
    else:
        if not work_room(i, ring_length(i, ring) * width):
            return False
        for position in range(i[0, ring + RING_HEAD], i[0, ring + RING_TAIL]):
            copied(i, ring_cell(i, ring, position, width), made(i, frame, width), width)
        emptied(i, ring)
        await_period(i, p, frame, ring + ALL_DUE, i[0, ring + ALL_DUE])
    hand_on(i, frame, p[node + NEXT])
    return True


@inner
def step_first(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Of each group the first of n rows, or a row when the one before passed long ago enough."""
    node = i[0, frame + NODE]
    entries, width = i[0, frame + PLACE] + p[node + STATE], p[node + WIDTH]
    words = ENTRY_KEY + p[node + GROUP_KEYS]
    while i[0, frame + CURSOR] < i[0, frame + COUNT]:
        if not work_room(i, width):
            return False
        row = row_of(i, p, frame, i[0, frame + CURSOR])
        if is_data(i, row):
            had = entries_count(i, entries)
            entry = entry_of(i, f, p, entries, node, row, words)
            if entry == 0:
                return False
            if passes(i, p, node, entries, entry, had < entries_count(i, entries)):
                copied(i, row, made(i, frame, width), width)
        i[0, frame + CURSOR] += 1
    hand_on(i, frame, p[node + NEXT])
    return True


@inner
def passes(i: Ints, p: Ints, node: int, entries: int, entry: int, is_new: bool) -> bool:
    """Whether a row of a group passes, which has just got its entry or had one."""
    every = i[0, p[node + RATE_EVERY]]
    if p[node + RATE_BY_CLOCK]:
        if not is_new and i[0, NOW] < i[0, entry + NUMBER] + every:
            return False
        i[0, entry + NUMBER] = i[0, NOW]
        return True
    i[0, entry + NUMBER] += 1
    is_first = i[0, entry + NUMBER] == 1
    if i[0, entry + NUMBER] == every:
        entry_dropped(i, p, entries, node, entry, ENTRY_KEY + p[node + GROUP_KEYS])
    return is_first


@inner
def lasts_put(i: Ints, p: Ints, frame: int, entries: int) -> None:
    """The last rows of groups, for which there is room; they are forgotten."""
    node = i[0, frame + NODE]
    kept, width = ENTRY_KEY + p[node + GROUP_KEYS], p[node + WIDTH]
    entry = i[0, entries + FIRST_ENTRY]
    while entry != 0:
        copied(i, entry + kept, made(i, frame, width), width)
        entry = i[0, entry + AFTER]
    entries_dropped(i, entries, kept + width)


@inner
def step_last_events(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """After n rows the last one of each group among them."""
    node = i[0, frame + NODE]
    state, width = i[0, frame + PLACE] + p[node + STATE], p[node + WIDTH]
    kept, every = ENTRY_KEY + p[node + GROUP_KEYS], i[0, p[node + RATE_EVERY]]
    while i[0, frame + CURSOR] < i[0, frame + COUNT]:
        is_full = i[0, state + ROWS] + 1 >= every
        if is_full and not work_room(i, (entries_count(i, state) + 1) * width):
            return False
        row = row_of(i, p, frame, i[0, frame + CURSOR])
        if is_data(i, row):
            entry = entry_of(i, f, p, state, node, row, kept + width)
            if entry == 0:
                return False
            copied(i, row, entry + kept, width)
            i[0, state + ROWS] += 1
            if is_full:
                i[0, state + ROWS] = 0
                lasts_put(i, p, frame, state)
        i[0, frame + CURSOR] += 1
    hand_on(i, frame, p[node + NEXT])
    return True


@inner
def step_last_timed(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """When the period ends the last row of each group."""
    node, count = i[0, frame + NODE], i[0, frame + COUNT]
    state, width = i[0, frame + PLACE] + p[node + STATE], p[node + WIDTH]
    kept = ENTRY_KEY + p[node + GROUP_KEYS]
    while i[0, frame + CURSOR] < count:
        row = row_of(i, p, frame, i[0, frame + CURSOR])
        if is_data(i, row):
            entry = entry_of(i, f, p, state, node, row, kept + width)
            if entry == 0:
                return False
            copied(i, row, entry + kept, width)
        i[0, frame + CURSOR] += 1
    if count < 0 and not timer_room(i, 1):
        return False
    if count == START:
        await_period(i, p, frame, state + LAST_DUE, i[0, frame + CHUNK])
    elif count == DUE:
        if not work_room(i, entries_count(i, state) * width):
            return False
        lasts_put(i, p, frame, state)
        await_period(i, p, frame, state + LAST_DUE, i[0, state + LAST_DUE])
    hand_on(i, frame, p[node + NEXT])
    return True
