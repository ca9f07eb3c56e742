"""Snapshots of what a query holds, as one chunk at the end of each period.

A row whose own time lies behind the end of the period ends it before the timer does.
"""

from __future__ import annotations

import math

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
    entry_found,
    entry_of,
    entry_room,
)
from cep.engine.machine.kernels.groups import GROUP_KEYS
from cep.engine.machine.kernels.memory import ring_cell, ring_length, ring_room, ring_taken_out
from cep.engine.machine.kernels.rates import await_period
from cep.engine.machine.kernels.rows import appended, emptied, row_of
from cep.engine.machine.kernels.timers import timer_room
from cep.engine.machine.kernels.words import (
    ARGUMENTS,
    CHUNK,
    COUNT,
    CURRENT,
    CURSOR,
    KIND,
    NEXT,
    NODE,
    PLACE,
    RESET,
    RING,
    RING_HEAD,
    RING_TAIL,
    START,
    STATE,
    TIME,
    WIDTH,
    Floats,
    Ints,
)
from cep.engine.machine.kernels.work import copied, hand_on, made, work_room

# A node: what makes a group, the cell of the period (see `rates`); what is held; how many values
# are aggregates and where their words stand; how many are not, and where theirs stand (those of
# doubles negated).
SHOWS, NEW_COUNT, NEW_WORDS, OLD_COUNT, OLD_WORDS = (
    ARGUMENTS + 3, ARGUMENTS + 4, ARGUMENTS + 5, ARGUMENTS + 6, ARGUMENTS + 7,
)  # fmt: skip
LAST_ROWS, NEWEST, NEWEST_OF_GROUPS, WINDOW_ROWS, WINDOW_GROUPS = 0, 1, 2, 3, 4
"""The last row (of each group); the newest one until any leaves; that of each group while it has
rows; the rows of the window, or one of each group, with the newest aggregates (of their group)."""

# The state: what is kept for groups, when the period ends, the rows of the window, a number that is
# new each time when groups are looked through.
BY_GROUP, SNAPSHOT_DUE, HELD_ROWS, ROUND, SNAPSHOT_STATE = (
    0, ENTRIES, ENTRIES + 1, ENTRIES + 1 + RING, ENTRIES + 2 + RING,
)  # fmt: skip


@inner
def step_snapshot(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Take rows, which may end a period; let the timer end one; begin."""
    node, count = i[0, frame + NODE], i[0, frame + COUNT]
    state = i[0, frame + PLACE] + p[node + STATE]
    while i[0, frame + CURSOR] < count:
        if not snapshot_room(i, p, node, state):
            return False
        row = row_of(i, p, frame, i[0, frame + CURSOR])
        if i[0, row + TIME] >= i[0, state + SNAPSHOT_DUE]:
            period_ended(i, f, p, frame, state)
        if p[node + SHOWS] >= WINDOW_ROWS:
            window_followed(i, f, p, node, state, row)
        else:
            newest_kept(i, f, p, node, state, row)
        i[0, frame + CURSOR] += 1
    if count < 0:
        if not snapshot_room(i, p, node, state):
            return False
        if count == START:
            await_period(i, p, frame, state + SNAPSHOT_DUE, i[0, frame + CHUNK])
        elif i[0, frame + CHUNK] >= i[0, state + SNAPSHOT_DUE]:
            period_ended(i, f, p, frame, state)
    hand_on(i, frame, p[node + NEXT])
    return True


@inline
def entry_words(p: Ints, node: int) -> int:
    """The words of an entry."""
    kept = p[node + NEW_COUNT] if p[node + SHOWS] >= WINDOW_ROWS else p[node + WIDTH]
    return ENTRY_KEY + p[node + GROUP_KEYS] + kept


@inner
def snapshot_room(i: Ints, p: Ints, node: int, state: int) -> bool:
    """Whether there is room for whatever a row brings about."""
    rows = ring_length(i, state + HELD_ROWS) + entries_count(i, state)
    return (
        timer_room(i, 1)
        and ring_room(i, state + HELD_ROWS, p[node + WIDTH])
        and entry_room(i, p, state, node, entry_words(p, node))
        and work_room(i, rows * p[node + WIDTH])
    )


@inner
def period_ended(i: Ints, f: Floats, p: Ints, frame: int, state: int) -> None:
    """What is held goes on; the next period begins."""
    if p[i[0, frame + NODE] + SHOWS] >= WINDOW_ROWS:
        window_shown(i, f, p, frame, state)
    else:
        newest_shown(i, p, frame, state)
    await_period(i, p, frame, state + SNAPSHOT_DUE, i[0, state + SNAPSHOT_DUE])


@inner
def newest_kept(i: Ints, f: Floats, p: Ints, node: int, state: int, row: int) -> None:
    """The newest row of its group; the number of an entry says whether it is shown."""
    shows, comes = p[node + SHOWS], i[0, row + KIND] == CURRENT
    if shows == LAST_ROWS and not comes:
        return
    entry = entry_of(i, f, p, state, node, row, entry_words(p, node))
    copied(i, row, entry + ENTRY_KEY + p[node + GROUP_KEYS], p[node + WIDTH])
    if shows == NEWEST_OF_GROUPS:
        i[0, entry + NUMBER] += 1 if comes else -1
    else:
        i[0, entry + NUMBER] = 1 if comes else 0


@inner
def newest_shown(i: Ints, p: Ints, frame: int, state: int) -> None:
    """The rows of groups, in the order in which these came; those without rows are forgotten."""
    node = i[0, frame + NODE]
    kept, width = ENTRY_KEY + p[node + GROUP_KEYS], p[node + WIDTH]
    entry = i[0, state + FIRST_ENTRY]
    while entry != 0:
        after = i[0, entry + AFTER]
        if i[0, entry + NUMBER] > 0:
            copied(i, entry + kept, made(i, frame, width), width)
        else:
            entry_dropped(i, p, state, node, entry, kept + width)
        entry = after


@inner
def window_followed(i: Ints, f: Floats, p: Ints, node: int, state: int, row: int) -> None:
    """A row comes, or takes out the first one that is like it, or all."""
    ring, width, kind = state + HELD_ROWS, p[node + WIDTH], i[0, row + KIND]
    if kind == RESET:
        emptied(i, ring)
        entries_dropped(i, state, entry_words(p, node))
    elif kind == CURRENT:
        appended(i, ring, row, width)
        newest_noted(i, f, p, node, state, row)
    else:
        for position in range(i[0, ring + RING_HEAD], i[0, ring + RING_TAIL]):
            if is_like(i, f, p, node, ring_cell(i, ring, position, width), row):
                ring_taken_out(i, ring, position, width)
                newest_noted(i, f, p, node, state, row)
                return


@inner
def newest_noted(i: Ints, f: Floats, p: Ints, node: int, state: int, row: int) -> None:
    """Keep the aggregates of a group as the newest row of it has them."""
    if p[node + NEW_COUNT] == 0:
        return
    entry = entry_of(i, f, p, state, node, row, entry_words(p, node))
    for place in range(p[node + NEW_COUNT]):
        word = p[p[node + NEW_WORDS] + place]
        i[0, entry + ENTRY_KEY + p[node + GROUP_KEYS] + place] = i[0, row + word]


@inner
def is_like(i: Ints, f: Floats, p: Ints, node: int, one: int, other: int) -> bool:
    """Whether rows are the same but for aggregates."""
    for place in range(p[node + OLD_COUNT]):
        word = p[p[node + OLD_WORDS] + place]
        if word >= 0:
            if i[0, one + word] != i[0, other + word]:
                return False
            continue
        a, b = f[0, one - word], f[0, other - word]
        if a != b and not (math.isnan(a) and math.isnan(b)):
            return False
    return True


@inner
def window_shown(i: Ints, f: Floats, p: Ints, frame: int, state: int) -> None:
    """The rows of the window with the newest aggregates; by group the first row of each."""
    node, ring = i[0, frame + NODE], state + HELD_ROWS
    width, kept = p[node + WIDTH], ENTRY_KEY + p[node + GROUP_KEYS]
    i[0, state + ROUND] += 1
    for position in range(i[0, ring + RING_HEAD], i[0, ring + RING_TAIL]):
        row = ring_cell(i, ring, position, width)
        entry = 0
        if p[node + NEW_COUNT]:
            entry = entry_found(i, f, p, state, node, row)
            if p[node + SHOWS] == WINDOW_GROUPS and i[0, entry + NUMBER] == i[0, state + ROUND]:
                continue
            i[0, entry + NUMBER] = i[0, state + ROUND]
        out = made(i, frame, width)
        copied(i, row, out, width)
        for place in range(p[node + NEW_COUNT]):
            i[0, out + p[p[node + NEW_WORDS] + place]] = i[0, entry + kept + place]
