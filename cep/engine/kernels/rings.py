"""Growing rings in two flat arenas: windows, and monotone deques for min and max.

A ring's rows have absolute positions; position p lies at `p & (room - 1)`. When a ring is full it
moves to a block twice as large at the arena's top, so a row costs O(1) amortised and the abandoned
blocks never take more room than the live one. Monotone deque: Lemire, "Streaming maximum-minimum
filter" (2006).

Rows leave in the order in which they lie in a window's ring, and so do values in a deque, each with
its `turn`: the time of a row that leaves by that, else its position. Rows of a time leave together.
"""

from __future__ import annotations

import math

from cep.engine.jit import inline, inner
from cep.engine.kernels.scalar import NULL
from cep.engine.kernels.state import (
    RING_FLOATS,
    RING_HEAD,
    RING_INTS,
    RING_ROOM,
    RING_TAIL,
    WF_LARGEST,
    WF_TOP,
    WI_LARGEST,
    WI_TOP,
    Ints,
    State,
)

FIRST_RING = 16
"""Rows of a ring's first block."""


@inner
def reserve(s: State, home: Ints, row: int, ring: int, ints: int, floats: int) -> None:
    """Make room for one more ring row of `ints` int and `floats` float cells."""
    room = home[row, ring + RING_ROOM]
    head = home[row, ring + RING_HEAD]
    tail = home[row, ring + RING_TAIL]
    if tail - head < room:
        return
    wider = FIRST_RING if room == 0 else 2 * room
    to_i = s.gi[0, WI_TOP]
    to_f = s.gi[0, WF_TOP]
    from_i = home[row, ring + RING_INTS]
    from_f = home[row, ring + RING_FLOATS]
    for position in range(head, tail):
        old = position & (room - 1)
        new = position & (wider - 1)
        for c in range(ints):
            s.wi[to_i + new * ints + c] = s.wi[from_i + old * ints + c]
        for c in range(floats):
            s.wf[to_f + new * floats + c] = s.wf[from_f + old * floats + c]
    home[row, ring + RING_INTS] = to_i
    home[row, ring + RING_FLOATS] = to_f
    home[row, ring + RING_ROOM] = wider
    s.gi[0, WI_TOP] = to_i + wider * ints
    s.gi[0, WF_TOP] = to_f + wider * floats
    s.gi[0, WI_LARGEST] = max(s.gi[0, WI_LARGEST], wider * ints)
    s.gi[0, WF_LARGEST] = max(s.gi[0, WF_LARGEST], wider * floats)


@inline
def int_cell(home: Ints, row: int, ring: int, position: int, ints: int) -> int:
    """Arena index of the first int cell of the ring row at an absolute position."""
    room = home[row, ring + RING_ROOM]
    return home[row, ring + RING_INTS] + (position & (room - 1)) * ints


@inline
def float_cell(home: Ints, row: int, ring: int, position: int, floats: int) -> int:
    """Arena index of the first float cell of the ring row at an absolute position."""
    room = home[row, ring + RING_ROOM]
    return home[row, ring + RING_FLOATS] + (position & (room - 1)) * floats


@inline
def place_of_late(wi: Ints, home: Ints, row: int, ring: int, head: int, ints: int, t: int) -> int:
    """The place of a row of time t in a ring by time: behind those that are no newer."""
    place = home[row, ring + RING_TAIL]
    while place > head and wi[int_cell(home, row, ring, place - 1, ints)] > t:
        place -= 1
    return place


@inner
def move(
    s: State, home: Ints, row: int, ring: int, first: int, to: int, ints: int, floats: int
) -> None:
    """Move the rows from `first` on to a place where there is room for them."""
    count = home[row, ring + RING_TAIL] - first
    for number in range(count):
        offset = count - 1 - number if to > first else number
        new = int_cell(home, row, ring, to + offset, ints)
        old = int_cell(home, row, ring, first + offset, ints)
        for c in range(ints):
            s.wi[new + c] = s.wi[old + c]
        new = float_cell(home, row, ring, to + offset, floats)
        old = float_cell(home, row, ring, first + offset, floats)
        for c in range(floats):
            s.wf[new + c] = s.wf[old + c]


@inner
def extreme_enter(
    s: State, home: Ints, row: int, ring: int, turn: int, value: float, sign: float
) -> None:
    """A value enters the window: what it outlives and beats leaves the deque; sign -1 for min."""
    if math.isnan(value):
        return
    reserve(s, home, row, ring, 1, 1)
    head = home[row, ring + RING_HEAD]
    tail = home[row, ring + RING_TAIL]
    while tail > head and sign * s.wf[float_cell(home, row, ring, tail - 1, 1)] <= sign * value:
        tail -= 1
    s.wi[int_cell(home, row, ring, tail, 1)] = turn
    s.wf[float_cell(home, row, ring, tail, 1)] = value
    home[row, ring + RING_TAIL] = tail + 1


@inner
def extreme_enter_late(
    s: State, home: Ints, row: int, ring: int, turn: int, value: float, sign: float
) -> None:
    """The same for a value that may leave before others that are there, which outlive it."""
    if math.isnan(value):
        return
    reserve(s, home, row, ring, 1, 1)
    head = home[row, ring + RING_HEAD]
    tail = home[row, ring + RING_TAIL]
    past = place_of_late(s.wi, home, row, ring, head, 1, turn)
    if past < tail and sign * s.wf[float_cell(home, row, ring, past, 1)] >= sign * value:
        return
    place = past
    while place > head and sign * s.wf[float_cell(home, row, ring, place - 1, 1)] <= sign * value:
        place -= 1
    move(s, home, row, ring, past, place + 1, 1, 1)
    s.wi[int_cell(home, row, ring, place, 1)] = turn
    s.wf[float_cell(home, row, ring, place, 1)] = value
    home[row, ring + RING_TAIL] = place + 1 + tail - past


@inner
def extreme_enter_int(
    s: State, home: Ints, row: int, ring: int, turn: int, value: int, sign: int
) -> None:
    """The same for int, long: cells (turn, value)."""
    if value == NULL:
        return
    reserve(s, home, row, ring, 2, 0)
    head = home[row, ring + RING_HEAD]
    tail = home[row, ring + RING_TAIL]
    while tail > head and sign * s.wi[int_cell(home, row, ring, tail - 1, 2) + 1] <= sign * value:
        tail -= 1
    cell = int_cell(home, row, ring, tail, 2)
    s.wi[cell] = turn
    s.wi[cell + 1] = value
    home[row, ring + RING_TAIL] = tail + 1


@inner
def extreme_enter_late_int(
    s: State, home: Ints, row: int, ring: int, turn: int, value: int, sign: int
) -> None:
    if value == NULL:
        return
    reserve(s, home, row, ring, 2, 0)
    head = home[row, ring + RING_HEAD]
    tail = home[row, ring + RING_TAIL]
    past = place_of_late(s.wi, home, row, ring, head, 2, turn)
    if past < tail and sign * s.wi[int_cell(home, row, ring, past, 2) + 1] >= sign * value:
        return
    place = past
    while place > head and sign * s.wi[int_cell(home, row, ring, place - 1, 2) + 1] <= sign * value:
        place -= 1
    move(s, home, row, ring, past, place + 1, 2, 0)
    cell = int_cell(home, row, ring, place, 2)
    s.wi[cell] = turn
    s.wi[cell + 1] = value
    home[row, ring + RING_TAIL] = place + 1 + tail - past


@inner
def extreme_keep(
    s: State, home: Ints, row: int, ring: int, turn: int, value: float, sign: float
) -> None:
    """A value enters a sum of everything so far: only the extreme itself is kept."""
    if home[row, ring + RING_TAIL] == 0 or sign * value > sign * extreme(s, home, row, ring):
        home[row, ring + RING_TAIL] = 0
        extreme_enter(s, home, row, ring, turn, value, sign)


@inner
def extreme_keep_int(
    s: State, home: Ints, row: int, ring: int, turn: int, value: int, sign: int
) -> None:
    if home[row, ring + RING_TAIL] == 0 or (
        value != NULL and sign * value > sign * extreme_int(s, home, row, ring)
    ):
        home[row, ring + RING_TAIL] = 0
        extreme_enter_int(s, home, row, ring, turn, value, sign)


@inner
def extreme_leave(s: State, home: Ints, row: int, ring: int, turn: int, ints: int) -> None:
    """The window's row of that turn leaves; it is in the deque only as its front."""
    head = home[row, ring + RING_HEAD]
    if head < home[row, ring + RING_TAIL] and s.wi[int_cell(home, row, ring, head, ints)] == turn:
        home[row, ring + RING_HEAD] = head + 1


@inline
def extreme(s: State, home: Ints, row: int, ring: int) -> float:
    """The window's extreme value; null when the window holds none."""
    head = home[row, ring + RING_HEAD]
    if head == home[row, ring + RING_TAIL]:
        return math.nan
    return s.wf[float_cell(home, row, ring, head, 1)]


@inline
def extreme_int(s: State, home: Ints, row: int, ring: int) -> int:
    head = home[row, ring + RING_HEAD]
    if head == home[row, ring + RING_TAIL]:
        return NULL
    return s.wi[int_cell(home, row, ring, head, 2) + 1]
