"""Partial matches that wait at a state: a ring in order of arrival, and a heap of thresholds.

A ring has absolute positions (see `rings.py`) and gaps: what has matched is marked `DEAD` where it
lies. Gaps in front go when the ring is next looked at; when a ring is full it is closed up, or
moves to a block twice as large if more than half of it is alive: O(1) amortised.

Where a state asks whether the row is above a value of the partial match, a few are just compared.
Of more a heap holds these values, least first, so that a row finds what it completes in
O(matches * log n). An entry whose partial match is gone stays until it is popped or the heap is
full.

Where it asks whether the row has the value of the partial match, those of one hash are chained, the
newest first: in front of the ring a chain ends.
"""

from __future__ import annotations

from cep.engine.jit import inline, inner
from cep.engine.kernels.groups import bucket_of
from cep.engine.kernels.rings import float_cell, int_cell
from cep.engine.kernels.scalar import NULL
from cep.engine.kernels.state import (
    MATCH_ROOM,
    RING_COLUMNS,
    RING_FLOATS,
    RING_HEAD,
    RING_INTS,
    RING_ROOM,
    RING_TAIL,
    WF_TOP,
    WI_TOP,
    Floats,
    Ints,
)

LIVE = RING_COLUMNS
"""Column behind those of the ring: how many partial matches wait."""
INDEX_INTS = RING_COLUMNS + 1
INDEX_FLOATS = RING_COLUMNS + 2
INDEX_ROOM = RING_COLUMNS + 3
INDEX_SIZE = RING_COLUMNS + 4
FRESH = RING_COLUMNS + 5
"""From this position on partial matches have come since the state was last shown a row."""
HEAPED = RING_COLUMNS + 6
"""Whether the heap is in use."""
WAIT_COLUMNS = RING_COLUMNS + 7
"""Int columns of a state: ring, count, index, fresh ones."""
UNINDEXED, BY_THRESHOLD, BY_EQUALITY = 0, 1, 2
"""How a state finds partial matches for a row."""

FIRST_ROOM = 16
SCANNED_MAX = 32
"""More places than this are not compared one by one."""
FOREVER = 2**61
"""`within` of a match that has none."""
NOWHERE = -1
"""The end of a chain."""
DEAD = -(2**62)
"""Stands for the time of a partial match that is gone: older than any `within`."""


@inline
def expire(wi: Ints, home: Ints, row: int, ring: int, ints: int, t: int, within: int) -> int:
    """Drop gaps and what is too old from the front; how many partial matches that were."""
    head = home[row, ring + RING_HEAD]
    tail = home[row, ring + RING_TAIL]
    gone = 0
    while head < tail:
        first = wi[int_cell(home, row, ring, head, ints)]
        if t - first <= within:
            break
        if first != DEAD:
            gone += 1
        head += 1
    home[row, ring + RING_HEAD] = head
    home[row, ring + LIVE] -= gone
    return gone


@inner
def purge(wi: Ints, home: Ints, row: int, ring: int, ints: int, t: int, within: int) -> int:
    """Drop all that is too old, wherever it waits; how many partial matches that were."""
    gone = 0
    for position in range(home[row, ring + RING_HEAD], home[row, ring + RING_TAIL]):
        cell = int_cell(home, row, ring, position, ints)
        if wi[cell] != DEAD and t - wi[cell] > within:
            wi[cell] = DEAD
            gone += 1
    home[row, ring + LIVE] -= gone
    return gone


@inline
def admit_partial(
    gi: Ints,
    wi: Ints,
    wf: Floats,
    home: Ints,
    row: int,
    ring: int,
    ints: int,
    floats: int,
    index: int,
) -> int:
    """A place behind the newest for one more partial match."""
    tail = home[row, ring + RING_TAIL]
    if tail - home[row, ring + RING_HEAD] >= home[row, ring + RING_ROOM]:
        _close_up(gi, wi, wf, home, row, ring, ints, floats)
        if index == BY_THRESHOLD:
            rebuild(gi, wi, wf, home, row, ring, ints, floats)
        elif index == BY_EQUALITY:
            chain(gi, wi, home, row, ring, ints)
        tail = home[row, ring + RING_TAIL]
    home[row, ring + RING_TAIL] = tail + 1
    home[row, ring + LIVE] += 1
    return tail


@inner
def settle(
    gi: Ints,
    wi: Ints,
    wf: Floats,
    home: Ints,
    row: int,
    ring: int,
    ints: int,
    floats: int,
    index: int,
    time: int,
) -> None:
    """Let the newest sink below fresh ones whose last row (time in int cell `time`) is later."""
    newest = at = home[row, ring + RING_TAIL] - 1
    front = max(home[row, ring + FRESH], home[row, ring + RING_HEAD])
    while at > front:
        cell = int_cell(home, row, ring, at, ints)
        before = int_cell(home, row, ring, at - 1, ints)
        if wi[before + time] <= wi[cell + time]:
            break
        _swap(wi, cell, before, ints)
        cell = float_cell(home, row, ring, at, floats)
        _swap(wf, cell, float_cell(home, row, ring, at - 1, floats), floats)
        at -= 1
    if index == BY_THRESHOLD and at < newest:
        rebuild(gi, wi, wf, home, row, ring, ints, floats)
    elif index == BY_EQUALITY and at < newest:
        chain(gi, wi, home, row, ring, ints)


@inline
def _swap(cells: Ints | Floats, left: int, right: int, count: int) -> None:
    for c in range(count):
        cells[left + c], cells[right + c] = cells[right + c], cells[left + c]


@inner
def longest_wait(wi: Ints, home: Ints, row: int, ring: int, ints: int, newest: int) -> int:
    """Since when the oldest of a ring waits: its newest row's time, which is in int cell `newest`.

    FOREVER where none waits. Gaps in front of it go.
    """
    for position in range(home[row, ring + RING_HEAD], home[row, ring + RING_TAIL]):
        cell = int_cell(home, row, ring, position, ints)
        if wi[cell] != DEAD:
            home[row, ring + RING_HEAD] = position
            return wi[cell + newest]
    return FOREVER


@inner
def drop_oldest(wi: Ints, home: Ints, row: int, ring: int, ints: int) -> None:
    """The partial match in front gives way to newer ones."""
    for position in range(home[row, ring + RING_HEAD], home[row, ring + RING_TAIL]):
        cell = int_cell(home, row, ring, position, ints)
        if wi[cell] != DEAD:
            wi[cell] = DEAD
            home[row, ring + RING_HEAD] = position + 1
            home[row, ring + LIVE] -= 1
            return


@inner
def _close_up(
    gi: Ints, wi: Ints, wf: Floats, home: Ints, row: int, ring: int, ints: int, floats: int
) -> None:
    """Move the living together, in a larger block when they fill more than half of this one."""
    room = home[row, ring + RING_ROOM]
    from_i = to_i = home[row, ring + RING_INTS]
    from_f = to_f = home[row, ring + RING_FLOATS]
    wider = room
    if 2 * home[row, ring + LIVE] >= room:
        wider = max(FIRST_ROOM, 2 * room)
        to_i = gi[0, WI_TOP]
        to_f = gi[0, WF_TOP]
        gi[0, WI_TOP] = to_i + wider * ints
        gi[0, WF_TOP] = to_f + wider * floats
        gi[0, MATCH_ROOM] = max(gi[0, MATCH_ROOM], wider)
    head = new = seen = home[row, ring + RING_HEAD]
    for position in range(head, home[row, ring + RING_TAIL]):
        old = position & (room - 1)
        if wi[from_i + old * ints] != DEAD:
            place = new & (wider - 1)
            for c in range(ints):
                wi[to_i + place * ints + c] = wi[from_i + old * ints + c]
            for c in range(floats):
                wf[to_f + place * floats + c] = wf[from_f + old * floats + c]
            new += 1
        if position < home[row, ring + FRESH]:
            seen = new
    home[row, ring + RING_INTS] = to_i
    home[row, ring + RING_FLOATS] = to_f
    home[row, ring + RING_ROOM] = wider
    home[row, ring + RING_TAIL] = new
    home[row, ring + FRESH] = seen


@inner
def rebuild(
    gi: Ints, wi: Ints, wf: Floats, home: Ints, row: int, ring: int, ints: int, floats: int
) -> None:
    """Make the heap of those alive, with room for as many again; empty while they are few."""
    need = max(SCANNED_MAX, 2 * home[row, ring + LIVE] + 2)
    room = home[row, ring + INDEX_ROOM]
    if room < need:
        room = max(FIRST_ROOM, room)
        while room < need:
            room *= 2
        home[row, ring + INDEX_ROOM] = room
        home[row, ring + INDEX_INTS] = gi[0, WI_TOP]
        home[row, ring + INDEX_FLOATS] = gi[0, WF_TOP]
        gi[0, WI_TOP] += room
        gi[0, WF_TOP] += room
    home[row, ring + INDEX_SIZE] = 0
    head = home[row, ring + RING_HEAD]
    tail = home[row, ring + RING_TAIL]
    home[row, ring + HEAPED] = tail - head > SCANNED_MAX
    if home[row, ring + HEAPED]:
        for position in range(head, tail):
            if wi[int_cell(home, row, ring, position, ints)] != DEAD:
                value = wf[float_cell(home, row, ring, position, floats)]
                _push(wi, wf, home, row, ring, position, value)


@inline
def watch(
    gi: Ints, wi: Ints, wf: Floats, home: Ints, row: int, ring: int, ints: int, floats: int
) -> None:
    """The newest partial match, whose threshold is its first float cell, can be found."""
    tail = home[row, ring + RING_TAIL]
    if home[row, ring + HEAPED]:
        if home[row, ring + INDEX_SIZE] >= home[row, ring + INDEX_ROOM]:
            rebuild(gi, wi, wf, home, row, ring, ints, floats)
        else:
            value = wf[float_cell(home, row, ring, tail - 1, floats)]
            _push(wi, wf, home, row, ring, tail - 1, value)
    elif tail - home[row, ring + RING_HEAD] > SCANNED_MAX:
        rebuild(gi, wi, wf, home, row, ring, ints, floats)


@inner
def _push(
    wi: Ints, wf: Floats, home: Ints, row: int, ring: int, position: int, value: float
) -> None:
    """Null (NaN) is above nothing and stays out."""
    if value != value:
        return
    i = home[row, ring + INDEX_INTS]
    f = home[row, ring + INDEX_FLOATS]
    at = home[row, ring + INDEX_SIZE]
    home[row, ring + INDEX_SIZE] = at + 1
    while at > 0 and wf[f + (at - 1) // 2] > value:
        wi[i + at] = wi[i + (at - 1) // 2]
        wf[f + at] = wf[f + (at - 1) // 2]
        at = (at - 1) // 2
    wi[i + at] = position
    wf[f + at] = value


@inline
def passed(
    wi: Ints, wf: Floats, home: Ints, row: int, ring: int, floats: int, value: float, equal: bool
) -> int:
    """Find what has a threshold below (`equal`: or at) the value; how many.

    Their positions stand behind the heap's end, oldest first.
    """
    if home[row, ring + HEAPED]:
        return _popped(wi, wf, home, row, ring, value, equal)
    found = home[row, ring + INDEX_INTS]
    first = found
    for position in range(home[row, ring + RING_HEAD], home[row, ring + RING_TAIL]):
        limit = wf[float_cell(home, row, ring, position, floats)]
        if limit < value or (equal and limit == value):
            wi[found] = position
            found += 1
    return found - first


@inner
def _popped(
    wi: Ints, wf: Floats, home: Ints, row: int, ring: int, value: float, equal: bool
) -> int:
    """The same from the heap, which loses them."""
    i = home[row, ring + INDEX_INTS]
    f = home[row, ring + INDEX_FLOATS]
    size = full = home[row, ring + INDEX_SIZE]
    while size > 0 and (wf[f] < value or (equal and wf[f] == value)):
        size -= 1
        position = wi[i]
        _sink(wi, wf, i, f, size)
        wi[i + size] = position
    home[row, ring + INDEX_SIZE] = size
    _sort(wi, i + size, i + full)
    if home[row, ring + RING_TAIL] - home[row, ring + RING_HEAD] <= SCANNED_MAX // 2:
        home[row, ring + HEAPED] = 0
        for at in range(full - size):
            wi[i + at] = wi[i + size + at]
        home[row, ring + INDEX_SIZE] = 0
    return full - size


@inline
def _sink(wi: Ints, wf: Floats, i: int, f: int, size: int) -> None:
    """Put the entry behind the last of a heap of `size` into its root's place."""
    limit, position = wf[f + size], wi[i + size]
    at = 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and wf[f + child + 1] < wf[f + child]:
            child += 1
        if limit <= wf[f + child]:
            break
        wi[i + at] = wi[i + child]
        wf[f + at] = wf[f + child]
        at = child
    wi[i + at] = position
    wf[f + at] = limit


@inner
def _sort(wi: Ints, start: int, stop: int) -> None:
    """Sort cells of the int arena, most often few of them (Shell, 1959, gaps of 3k + 1)."""
    gap = 1
    while 3 * gap + 1 < stop - start:
        gap = 3 * gap + 1
    while gap > 0:
        for here in range(start + gap, stop):
            value = wi[here]
            at = here
            while at - gap >= start and wi[at - gap] > value:
                wi[at] = wi[at - gap]
                at -= gap
            wi[at] = value
        gap //= 3


@inner
def chain(gi: Ints, wi: Ints, home: Ints, row: int, ring: int, ints: int) -> None:
    """Chain those alive anew, with as many hashes, and places for what is found, as in the ring."""
    room = home[row, ring + RING_ROOM]
    if home[row, ring + INDEX_ROOM] < room:
        home[row, ring + INDEX_ROOM] = home[row, ring + INDEX_SIZE] = room
        home[row, ring + INDEX_INTS] = gi[0, WI_TOP]
        gi[0, WI_TOP] += 2 * room
    first = home[row, ring + INDEX_INTS]
    for at in range(first, first + home[row, ring + INDEX_SIZE]):
        wi[at] = NOWHERE
    for position in range(home[row, ring + RING_HEAD], home[row, ring + RING_TAIL]):
        if wi[int_cell(home, row, ring, position, ints)] != DEAD:
            _hook(wi, home, row, ring, position, ints)


@inline
def link(
    gi: Ints, wi: Ints, wf: Floats, home: Ints, row: int, ring: int, ints: int, floats: int
) -> None:
    """The newest partial match, whose value is its second int cell, can be found."""
    _hook(wi, home, row, ring, home[row, ring + RING_TAIL] - 1, ints)


@inline
def _hook(wi: Ints, home: Ints, row: int, ring: int, position: int, ints: int) -> None:
    cell = int_cell(home, row, ring, position, ints)
    hashes = home[row, ring + INDEX_SIZE]
    at = home[row, ring + INDEX_INTS] + bucket_of(0, wi[cell + 1], hashes)
    wi[cell + 2] = wi[at]
    wi[at] = position


@inline
def chained(wi: Ints, home: Ints, row: int, ring: int, ints: int, value: int) -> int:
    """Find what has the value (null has none); how many.

    Their positions stand behind the hashes, oldest first.
    """
    hashes = home[row, ring + INDEX_SIZE]
    if value == NULL or hashes == 0:
        return 0
    first = home[row, ring + INDEX_INTS]
    position = wi[first + bucket_of(0, value, hashes)]
    first = last = first + hashes
    while position >= home[row, ring + RING_HEAD]:
        cell = int_cell(home, row, ring, position, ints)
        if wi[cell + 1] == value and wi[cell] != DEAD:
            wi[last] = position
            last += 1
        position = wi[cell + 2]
    found = last - first
    while first < last - 1:
        last -= 1
        wi[first], wi[last] = wi[last], wi[first]
        first += 1
    return found


@inner
def fade(
    home: Ints, row: int, bits: int, times: int, width: int, rooms: int, count: int, within: int
) -> None:
    """Take the bits of a sequence whose first row was too old already at the latest row.

    `times`: column of the history's times, one every `width`; `count` rows have come so far.
    """
    latest = home[row, times + ((count - 1) & (rooms - 1)) * width]
    for back in range(1, min(rooms, count, 62) + 1):
        first = home[row, times + ((count - back) & (rooms - 1)) * width]
        if latest - first > within:
            home[row, bits] &= ~(1 << back)
