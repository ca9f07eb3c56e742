"""Aggregators that keep their values: extremes, deviations, ranks, distinct ones.

Extremes and deviations keep them in a ring, in order of arrival. Mostly the oldest leaves, in O(1);
another one costs O(values), as does a deviation whose values have moved far from where they were.
"""

from __future__ import annotations

import math

from cep.engine.kernels.groups import float_bits
from cep.engine.kernels.moments import (
    moments_enter,
    moments_far,
    moments_leave,
)
from cep.engine.kernels.scalar import NULL
from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.memory import (
    allocate,
    cleared,
    index_add,
    index_find,
    index_remove,
    index_room,
    release,
    ring_cell,
    ring_dropped,
    ring_length,
    ring_room,
    ring_taken_out,
)
from cep.engine.machine.kernels.words import (
    INDEX_AT,
    INDEX_COUNT,
    INDEX_ROOM,
    RING,
    RING_HEAD,
    RING_TAIL,
    Floats,
    Ints,
)

# Kinds of accumulators: by number of `evaluate`, or one of these.
PLAIN, LARGEST, SMALLEST, LARGEST_INT, SMALLEST_INT, DEVIATION, RANKED, DISTINCT, DISTINCT_REAL = (
    0, 1, 2, 3, 4, 5, 6, 7, 8,
)  # fmt: skip
CELLS = {LARGEST: 2 * RING, SMALLEST: 2 * RING, LARGEST_INT: 2 * RING, SMALLEST_INT: 2 * RING,
         DEVIATION: 1 + RING, RANKED: 3, DISTINCT: 3, DISTINCT_REAL: 3}  # fmt: skip
"""Words of integers that each kind has; a deviation has those of moments, too."""
BEST = RING
"""Behind the ring of values stands that of the places of those that may still be the extreme."""
VALUE, TIMES, KNOWN = 0, 1, 2
"""A distinct value, how often it is there; the words of both."""
RANK_AT, RANK_ROOM, RANK_COUNT = 0, 1, 2
FIRST_RANKED = 16
NEAR = 32
"""So many neighbours are compared at once, in a few steps of the processor, which costs less than
to guess its way among them."""


@inline
def is_extreme(kind: int) -> bool:
    return LARGEST <= kind <= SMALLEST_INT


@inline
def is_whole(kind: int) -> bool:
    return LARGEST_INT <= kind <= SMALLEST_INT


@inline
def is_null(i: Ints, f: Floats, kind: int, v: int) -> bool:
    """Whether the word `v` has no value, which changes nothing; null is a distinct one, too."""
    if is_whole(kind):
        return i[0, v] == NULL
    return kind < DISTINCT and math.isnan(f[0, v])


@inner
def collected_room(i: Ints, f: Floats, kind: int, ci: int, v: int) -> bool:
    """Whether there is room for one more value: of distinct ones for that in the word `v`."""
    if is_extreme(kind):
        return ring_room(i, ci, 1) and ring_room(i, ci + BEST, 1)
    if kind == DEVIATION:
        return ring_room(i, ci + 1, 1)
    if kind == RANKED:
        return ranked_room(i, ci)
    return distinct_room(i, f, kind, ci, v)


@inner
def collected_enter(i: Ints, f: Floats, kind: int, ci: int, cf: int, v: int) -> None:
    """The value in the word `v` comes, for which there is room."""
    if is_null(i, f, kind, v):
        return
    if is_extreme(kind):
        extreme_enter(i, f, kind, ci, v)
    elif kind == DEVIATION:
        moments_enter(i, f, 0, ci, cf, f[0, v], True)
        if ring_length(i, ci + 1) < i[0, ci]:  # else it had left before
            i[0, ring_cell(i, ci + 1, i[0, ci + 1 + RING_TAIL], 1)] = i[0, v]
            i[0, ci + 1 + RING_TAIL] += 1
            rebase_if_far(i, f, ci, cf)
    elif kind == RANKED:
        ranked_enter(i, f, ci, v)
    else:
        if kind == DISTINCT_REAL:
            i[0, v] = float_bits(f[0, v])
        i[0, index_find(i, ci, v, 1, VALUE) + TIMES] += 1  # `collected_room` has made it


@inner
def collected_leave(i: Ints, f: Floats, kind: int, ci: int, cf: int, v: int) -> None:
    """The value in the word `v` goes. One that had not come changes nothing where all are kept to
    look at; sums it changes, and will be right when it has come.
    """
    if is_null(i, f, kind, v):
        return
    if is_extreme(kind):
        extreme_leave(i, f, kind, ci, v)
    elif kind == DEVIATION:
        place = found_in_ring(i, f, kind, ci + 1, v)
        moments_leave(i, f, 0, ci, cf, f[0, v], True)
        if place >= 0:
            ring_taken_out(i, ci + 1, place, 1)
            rebase_if_far(i, f, ci, cf)
    elif kind == RANKED:
        ranked_leave(i, f, ci, v)
    else:
        distinct_leave(i, f, kind, ci, v)


@inner
def collected_value(i: Ints, f: Floats, kind: int, ci: int, n: int, v: int) -> None:
    """Leave in the word `v` what the values come to."""
    if is_extreme(kind):
        if ring_length(i, ci) > 0:
            best = i[0, ring_cell(i, ci + BEST, i[0, ci + BEST + RING_HEAD], 1)]
            i[0, v] = i[0, ring_cell(i, ci, best, 1)]
        elif is_whole(kind):
            i[0, v] = NULL
        else:
            f[0, v] = math.nan
    elif kind == RANKED:
        f[0, v] = ranked_value(i, f, ci, f[0, n])
    else:
        i[0, v] = i[0, ci + INDEX_COUNT]


@inner
def collected_dropped(i: Ints, kind: int, ci: int) -> None:
    """Give back what is kept; nothing is there then."""
    if is_extreme(kind):
        ring_dropped(i, ci, 1)
        ring_dropped(i, ci + BEST, 1)
    elif kind == DEVIATION:
        ring_dropped(i, ci + 1, 1)
        i[0, ci] = 0
    elif kind == RANKED:
        if i[0, ci + RANK_ROOM]:
            release(i, i[0, ci + RANK_AT], i[0, ci + RANK_ROOM])
        for word in range(3):
            i[0, ci + word] = 0
    elif kind >= DISTINCT:
        distinct_dropped(i, ci)


@inner
def is_collected_empty(i: Ints, kind: int, ci: int) -> bool:
    if is_extreme(kind):
        return ring_length(i, ci) == 0
    if kind == DEVIATION:
        return i[0, ci] == 0 and ring_length(i, ci + 1) == 0
    return i[0, ci + 2] == 0  # both keep their number of values there


@inner
def is_worse(i: Ints, f: Floats, kind: int, one: int, other: int) -> bool:
    """Whether a value is no better than another, by their words."""
    if kind == LARGEST:
        return f[0, one] <= f[0, other]
    if kind == SMALLEST:
        return f[0, one] >= f[0, other]
    if kind == LARGEST_INT:
        return i[0, one] <= i[0, other]
    return i[0, one] >= i[0, other]


@inner
def mark_best(i: Ints, f: Floats, kind: int, ci: int, place: int) -> None:
    """The value at a place of the ring outlives those before it that are no better."""
    best, value = ci + BEST, ring_cell(i, ci, place, 1)
    tail = i[0, best + RING_TAIL]
    while tail > i[0, best + RING_HEAD]:
        last = i[0, ring_cell(i, best, tail - 1, 1)]
        if not is_worse(i, f, kind, ring_cell(i, ci, last, 1), value):
            break
        tail -= 1
    i[0, ring_cell(i, best, tail, 1)] = place
    i[0, best + RING_TAIL] = tail + 1


@inner
def extreme_enter(i: Ints, f: Floats, kind: int, ci: int, v: int) -> None:
    place = i[0, ci + RING_TAIL]
    i[0, ring_cell(i, ci, place, 1)] = i[0, v]
    i[0, ci + RING_TAIL] = place + 1
    mark_best(i, f, kind, ci, place)


@inner
def extreme_leave(i: Ints, f: Floats, kind: int, ci: int, v: int) -> None:
    place = found_in_ring(i, f, kind, ci, v)
    if place < 0:
        return
    best, is_first = ci + BEST, place == i[0, ci + RING_HEAD]
    ring_taken_out(i, ci, place, 1)
    if is_first:
        if i[0, ring_cell(i, best, i[0, best + RING_HEAD], 1)] == place:
            i[0, best + RING_HEAD] += 1
        return
    i[0, best + RING_HEAD] = i[0, best + RING_TAIL] = 0  # all places have changed
    for place in range(i[0, ci + RING_HEAD], i[0, ci + RING_TAIL]):
        mark_best(i, f, kind, ci, place)


@inner
def found_in_ring(i: Ints, f: Floats, kind: int, ring: int, v: int) -> int:
    """The first place of a value; -1 where it is not."""
    for place in range(i[0, ring + RING_HEAD], i[0, ring + RING_TAIL]):
        cell = ring_cell(i, ring, place, 1)
        if i[0, cell] == i[0, v] or (not is_whole(kind) and f[0, cell] == f[0, v]):
            return place
    return -1


@inner
def rebase_if_far(i: Ints, f: Floats, ci: int, cf: int) -> None:
    """Sum all values anew, the newest first, where digits would be lost (`kernels.moments`)."""
    if ring_length(i, ci + 1) != i[0, ci] or not moments_far(i, f, 0, ci, cf):
        return
    i[0, ci] = 0
    for place in range(i[0, ci + 1 + RING_TAIL] - 1, i[0, ci + 1 + RING_HEAD] - 1, -1):
        moments_enter(i, f, 0, ci, cf, f[0, ring_cell(i, ci + 1, place, 1)], True)


@inner
def ranked_room(i: Ints, ci: int) -> bool:
    room, count = i[0, ci + RANK_ROOM], i[0, ci + RANK_COUNT]
    if count < room:
        return True
    wider = FIRST_RANKED if room == 0 else 2 * room
    at = allocate(i, wider)
    if at == 0:
        return False
    for place in range(count):
        i[0, at + place] = i[0, i[0, ci + RANK_AT] + place]
    if room:
        release(i, i[0, ci + RANK_AT], room)
    i[0, ci + RANK_AT] = at
    i[0, ci + RANK_ROOM] = wider
    return True


@inner
def rank_of(i: Ints, f: Floats, ci: int, value: float) -> int:
    """How many of the values, which stand in order, are smaller. O(log n)."""
    count, at = i[0, ci + RANK_COUNT], i[0, ci + RANK_AT]
    low, high, near = 0, count, NEAR if count >= NEAR else 0
    while high - low > near:
        middle = (low + high) // 2
        if f[0, at + middle] < value:
            low = middle + 1
        else:
            high = middle
    if near == 0:
        return low
    low = min(low, count - NEAR)  # those in front are smaller, those from `high` on are not
    smaller = 0
    for place in range(NEAR):
        smaller += int(f[0, at + low + place] < value)
    return low + smaller


@inner
def ranked_enter(i: Ints, f: Floats, ci: int, v: int) -> None:
    """O(values that are larger), which are moved."""
    rank, at = rank_of(i, f, ci, f[0, v]), i[0, ci + RANK_AT]
    for place in range(i[0, ci + RANK_COUNT], rank, -1):
        i[0, at + place] = i[0, at + place - 1]
    i[0, at + rank] = i[0, v]
    i[0, ci + RANK_COUNT] += 1


@inner
def ranked_leave(i: Ints, f: Floats, ci: int, v: int) -> None:
    rank, at = rank_of(i, f, ci, f[0, v]), i[0, ci + RANK_AT]
    count = i[0, ci + RANK_COUNT]
    if rank == count or f[0, at + rank] != f[0, v]:
        return
    for place in range(rank, count - 1):
        i[0, at + place] = i[0, at + place + 1]
    i[0, ci + RANK_COUNT] = count - 1


@inner
def ranked_value(i: Ints, f: Floats, ci: int, percent: float) -> float:
    """The value below which so many per cent lie, linear between neighbours; null of nothing."""
    count, at = i[0, ci + RANK_COUNT], i[0, ci + RANK_AT]
    if count == 0:
        return math.nan
    place = min(percent, 100.0) / 100.0 * (count - 1)
    below = math.floor(place)
    low, high = f[0, at + below], f[0, at + math.ceil(place)]
    return low if low == high else low + (high - low) * (place - below)


@inner
def distinct_room(i: Ints, f: Floats, kind: int, ci: int, v: int) -> bool:
    """Room for a value that may be new; it is noted as being there no times."""
    if kind == DISTINCT_REAL:
        i[0, v] = float_bits(f[0, v])
    if index_find(i, ci, v, 1, VALUE) != 0:
        return True
    if not index_room(i, ci, 1, VALUE):
        return False
    found = cleared(i, KNOWN)
    if found == 0:
        return False
    i[0, found + VALUE] = i[0, v]
    index_add(i, ci, found, 1, VALUE)
    return True


@inner
def distinct_leave(i: Ints, f: Floats, kind: int, ci: int, v: int) -> None:
    if kind == DISTINCT_REAL:
        i[0, v] = float_bits(f[0, v])
    found = index_find(i, ci, v, 1, VALUE)
    if found == 0:
        return
    i[0, found + TIMES] -= 1
    if i[0, found + TIMES] <= 0:
        index_remove(i, ci, found, 1, VALUE)
        release(i, found, KNOWN)


@inner
def distinct_dropped(i: Ints, ci: int) -> None:
    for bucket in range(i[0, ci + INDEX_ROOM]):
        found = i[0, i[0, ci + INDEX_AT] + bucket]
        if found != 0:
            release(i, found, KNOWN)
    if i[0, ci + INDEX_ROOM]:
        release(i, i[0, ci + INDEX_AT], i[0, ci + INDEX_ROOM])
    for word in range(3):
        i[0, ci + word] = 0
