"""Making, growing, saving and loading the state arrays of a stage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from cep.engine.bounds import Bounds
from cep.engine.jit import plain
from cep.engine.kernels.groups import bucket_of
from cep.engine.kernels.match import MATCH_COLUMNS
from cep.engine.kernels.partials import FIRST_ROOM
from cep.engine.kernels.rings import FIRST_RING
from cep.engine.kernels.scalar import NULL
from cep.engine.kernels.state import (
    ARENA_FULL,
    BINDS_FULL,
    BINDS_LIMIT,
    ENTRIES_FULL,
    ENTRIES_SIZE,
    ENTRY_LARGEST,
    ENTRY_RINGS,
    GROUPS_FULL,
    GROUPS_LIMIT,
    HELD_FULL,
    HELD_LIMIT,
    HELD_ROOM,
    KEYS,
    KEYS_LIMIT,
    LISTS_LIMIT,
    MATCH_LIMIT,
    MATCH_ROOM,
    MATCHES_FULL,
    ROWS_FULL,
    ROWS_LIMIT,
    STATUS,
    WF_LARGEST,
    WF_SIZE,
    WI_LARGEST,
    WI_SIZE,
    WINDOW_RINGS,
    Floats,
    Ints,
    State,
)
from cep.engine.kernels.tables import ENTRY_BITS
from cep.engine.layout import Layout
from cep.engine.tables import Tables

OUTPUT_ROWS = 16_384
OUTPUT_MAX = 2**20
"""So many output rows are kept before they are handed out, where one input row needs no more."""
FIRST_KEYS = 64
FIRST_GROUPS = 64
FIRST_ARENA = 4_096
FIRST_ENTRIES = 256
FIRST_MATCHES = 64
FAILED_BUCKETS = 256
SCRATCH = ("me", "mp", "mm", "oi", "of", "ol", "bt")
"""Arrays that hold nothing between two calls, or nothing that changes."""


@dataclass(frozen=True, slots=True)
class Needs:
    """The most one input row can cause.

    `bounds` depends on how many partial matches the longest ring has places for, and on how many
    rows a join holds at most.
    """

    bounds: Callable[[int, int], Bounds]
    layout: Layout
    engines: int


def new_state(layout: Layout, tables: Tables, widths: tuple[int, int], needs: Needs) -> State:
    """Empty state for a stage; `widths` are the columns of int and float rows."""

    def ints(rows: int, columns: int) -> Ints:
        return np.zeros((rows, columns), np.int64)

    def floats(rows: int, columns: int) -> Floats:
        return np.zeros((rows, columns), np.float64)

    state = State(
        ki=ints(FIRST_KEYS, layout.ints["key"]),
        kf=floats(FIRST_KEYS, layout.floats["key"]),
        ai=ints(FIRST_GROUPS, layout.ints["group"]),
        af=floats(FIRST_GROUPS, layout.floats["group"]),
        gi=ints(1, layout.ints["global"]),
        gf=floats(1, layout.floats["global"]),
        wi=np.zeros(FIRST_ARENA, np.int64),
        wf=np.zeros(FIRST_ARENA, np.float64),
        ht=ints(2 * FIRST_GROUPS, 3),
        qe=ints(FIRST_ENTRIES, ENTRY_BITS + tables.words),
        qb=ints(FIRST_ENTRIES, 2),
        bt=tables.flat,
        slot=np.zeros(256, np.int64),
        me=np.zeros((tables.depth, tables.candidates, 1 + tables.absents), np.int64),
        mp=ints(tables.depth, MATCH_COLUMNS),
        mm=ints(FAILED_BUCKETS, 3),
        oi=ints(OUTPUT_ROWS, widths[0]),
        of=floats(OUTPUT_ROWS, widths[1]),
        ol=np.zeros(OUTPUT_ROWS, np.int64),
    )
    state.ki[0, 0] = NULL
    for (is_float, column), value in layout.constants.items():
        (state.gf if is_float else state.gi)[0, column] = value
    state.gi[0, WINDOW_RINGS] = layout.rings
    # the first row may open every ring: the arena must have room for the first blocks, too
    state.gi[0, WI_LARGEST] = state.gi[0, WF_LARGEST] = FIRST_RING * layout.ring_cells
    state.gi[0, ENTRY_RINGS] = needs.engines
    state.gi[0, MATCH_ROOM] = FIRST_ROOM
    state.gi[0, MATCH_LIMIT] = FIRST_MATCHES
    return with_limits(state, needs)


def with_limits(state: State, needs: Needs) -> State:
    """Note in the header how far each array may fill before a row might not fit any more."""
    longest, layout = int(state.gi[0, MATCH_LIMIT]), needs.layout
    bound = needs.bounds(longest, int(state.gi[0, HELD_LIMIT]))
    keys = len(state.ki) ** bound.spread
    rows = bound.rows * keys
    lists = bound.lists * keys + layout.wide_values + layout.packed_values * rows
    state = _rows(_rows(state, ("oi", "of"), 2 * rows), ("ol",), 2 * lists)
    header = state.gi[0]
    header[ROWS_LIMIT] = len(state.oi) - rows
    header[LISTS_LIMIT] = len(state.ol) - lists
    header[BINDS_LIMIT] = len(state.qb) - bound.binds * keys
    header[ENTRIES_SIZE] = len(state.qe)
    # at least twice what one row can add: then no queue takes more than two of the largest block
    arrivals = max(8, bound.arrivals * keys)
    header[ENTRY_LARGEST] = max(header[ENTRY_LARGEST], 2 << (arrivals - 1).bit_length())
    header[WI_SIZE] = len(state.wi) - layout.row_ints - layout.match_ints * longest
    header[WF_SIZE] = len(state.wf) - layout.row_floats - layout.match_floats * longest
    groups = layout.groups + bound.keys
    header[GROUPS_LIMIT] = min(len(state.ai), len(state.ht) // 2) - groups
    header[KEYS_LIMIT] = len(state.ki) - groups - 1
    return state


def _rows(state: State, names: tuple[str, ...], least: int) -> State:
    """The named arrays with at least so many rows, contents kept."""
    wider = {}
    for name in names:
        array = getattr(state, name)
        if len(array) < least:
            grown = np.zeros((least, *array.shape[1:]), array.dtype)
            grown[: len(array)] = array
            wider[name] = grown
    return state._replace(**wider)


def _doubled(state: State, *names: str) -> State:
    for name in names:
        state = _rows(state, (name,), 2 * len(getattr(state, name)))
    return state


ROOM = {
    ROWS_FULL: ("oi", "of", "ol"),
    ARENA_FULL: ("wi", "wf"),
    ENTRIES_FULL: ("qe",),
    BINDS_FULL: ("qb",),
    GROUPS_FULL: ("ai", "af", "ki", "kf"),
    MATCHES_FULL: (),
    HELD_FULL: (),
}
"""Which arrays grow for which status of the kernel."""


def make_room(state: State, needs: Needs) -> State:
    """More room in whatever array stopped the kernel; O(size), amortised O(1) a row."""
    status = int(state.gi[0, STATUS])
    state = _doubled(state, *ROOM[status])
    if status == MATCHES_FULL:
        state.gi[0, MATCH_LIMIT] = 2 * state.gi[0, MATCH_ROOM]
    if status == HELD_FULL:
        state.gi[0, HELD_LIMIT] = 64 + 5 * state.gi[0, HELD_ROOM] // 4
    return with_limits(_rehashed(state) if status == GROUPS_FULL else state, needs)


def _rehashed(state: State) -> State:
    found = state.ht[state.ht[:, 2] != 0]
    return state._replace(ht=hashed(found, 2 * len(state.ai)))


def hashed(groups: Ints, size: int) -> Ints:
    """A hash table of `size` buckets, a power of two, with these groups: kind, value, row plus one.

    In the order of their first buckets each takes that, or the one behind the group before it, so
    that none is free in between; those that come behind the last take the first free ones.
    """
    first_bucket: Callable[[Ints, Ints, int], Ints] = plain(cast(Any, bucket_of))
    buckets, steps = first_bucket(groups[:, 0], groups[:, 1], size), np.arange(len(groups))
    order = np.argsort(buckets, kind="stable")
    places = np.maximum.accumulate(buckets[order] - steps) + steps
    inside = int(np.searchsorted(places, size))
    table: Ints = np.zeros((size, 3), np.int64)
    table[places[:inside]] = groups[order[:inside]]
    if beyond := len(groups) - inside:
        table[np.flatnonzero(table[:, 2] == 0)[:beyond]] = groups[order[inside:]]
    return table


def with_keys(state: State, codes: Ints, strings: int, needs: Needs) -> State:
    """Give the string codes in `codes` the next key rows; `strings` is the dictionary's size."""
    state = _rows(state, ("slot",), strings + 1)
    first = int(state.gi[0, KEYS]) + 1
    past = first + len(codes)
    if past + 1 > len(state.ki):
        state = with_limits(_rows(state, ("ki", "kf"), 2 * past), needs)
    state.ki[first:past, 0] = codes
    state.slot[codes] = np.arange(first, past)
    state.gi[0, KEYS] = past - 1
    return state
