"""Rows that joins hold: a ring of rows that queries of one shape share, with hash indexes on it.

Each window is a part of the ring, from a cursor of its own to the ring's end; or, where many
members ask at once, rows say when they leave (see `slot_index`). Rows lie in the order in which
they came. Up to the newest late one they may be older than where they lie says, and are asked for
their times, but for that one itself while its record is at work: it is there until the next.

An index leads from the hash of a key to the newest row in that bucket, and each row to the one
before it: what has left the ring ends the chain, so nothing is ever taken out of an index. A ring's
block in the arena holds its rows, two buckets per row and index, and a place per row for what a
search has found.

For bands the ring is cut into zones whose least and greatest value are known: a search leaves out
zones that cannot meet it, which are most where values move slowly, as prices do, and goes on in the
order of arrival. A zone's range takes in what entered it since its first row came, and what was
held of the lap before.
"""

from __future__ import annotations

import math

from cep.engine.jit import inline, inner
from cep.engine.kernels.groups import bucket_of
from cep.engine.kernels.rings import float_cell, int_cell
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
    Floats,
    Ints,
    State,
)

LATE_PAST, LATE_FROM, LATE_ORDER = range(3)
"""Columns: behind the newest late row, that row, the place of its record."""
LATE_COLUMNS = 3
ZONE_BITS = 5
ZONE = 1 << ZONE_BITS
FIRST_ROOM = ZONE
"""A ring's first block has places for at least so many rows."""


@inline
def note_late(home: Ints, row: int, late: int, position: int, order: int) -> None:
    """A late row comes at a position."""
    home[row, late + LATE_ORDER] = order
    home[row, late + LATE_FROM] = position
    home[row, late + LATE_PAST] = position + 1


@inline
def asked_past(home: Ints, row: int, late: int, order: int) -> int:
    """Rows in front of this position are asked for their times."""
    if home[row, late + LATE_ORDER] == order:
        return home[row, late + LATE_FROM]
    return home[row, late + LATE_PAST]


@inline
def advance_cursors(
    wi: Ints,
    home: Ints,
    row: int,
    ring: int,
    ints: int,
    cursors: int,
    spans: Ints,
    longest: int,
    clock: int,
    late: int,
    order: int,
) -> None:
    """Let rows as old as its span leave each time window; the ring keeps what any window holds.

    The longest of the windows that count rows holds `longest`. A cursor may be anywhere in front of
    the ring, as that of a window that has just been made. The newest late row stays while its
    record is at work.
    """
    tail = home[row, ring + RING_TAIL]
    first = home[
        row, ring + RING_INTS
    ]  # read once: a store may change what it is, for all it knows
    mask = home[row, ring + RING_ROOM] - 1
    oldest = home[row, ring + RING_HEAD]
    low = max(tail - longest, oldest)
    past = tail
    if home[row, late + LATE_ORDER] == order and home[row, late + LATE_PAST] > 0:
        past = home[row, late + LATE_FROM]
    for cursor in range(len(spans)):
        head = max(home[row, cursors + cursor], oldest)
        while head < past and wi[first + (head & mask) * ints] + spans[cursor] <= clock:
            head += 1
        home[row, cursors + cursor] = head
        low = min(low, head)
    home[row, ring + RING_HEAD] = low


@inner
def reserve_held(
    s: State,
    home: Ints,
    row: int,
    ring: int,
    ints: int,
    floats: int,
    keys: int,
    indexes: int,
    bands: int,
    first: int,
) -> None:
    """Move a full ring to a block twice as large; `keys` is the cell of the first index's key.

    The values of `bands` are the last of the float cells.
    """
    room = home[row, ring + RING_ROOM]
    wider = first if room == 0 else 2 * room
    to_i = s.gi[0, WI_TOP]
    to_f = s.gi[0, WF_TOP]
    from_i = home[row, ring + RING_INTS]
    from_f = home[row, ring + RING_FLOATS]
    block = wider * (ints + 2 * indexes + 1)
    home[row, ring + RING_INTS] = to_i
    home[row, ring + RING_FLOATS] = to_f
    home[row, ring + RING_ROOM] = wider
    s.wi[to_i + wider * ints : to_i + block] = 0
    broad = wider * floats + 2 * bands * (wider >> ZONE_BITS)
    for zone in range(to_f + wider * floats, to_f + broad, 2):
        s.wf[zone] = math.inf
        s.wf[zone + 1] = -math.inf
    for position in range(home[row, ring + RING_HEAD], home[row, ring + RING_TAIL]):
        old = position & (room - 1)
        new = position & (wider - 1)
        for c in range(ints):
            s.wi[to_i + new * ints + c] = s.wi[from_i + old * ints + c]
        for c in range(floats):
            s.wf[to_f + new * floats + c] = s.wf[from_f + old * floats + c]
        for index in range(indexes):
            enter_key(s.wi, home, row, ring, ints, keys, index, position)
        for band in range(bands):
            widen(s.wf, home, row, ring, floats, bands, band, position, position)
    s.gi[0, WI_TOP] = to_i + block
    s.gi[0, WF_TOP] = to_f + broad
    s.gi[0, WI_LARGEST] = max(s.gi[0, WI_LARGEST], block)
    s.gi[0, WF_LARGEST] = max(s.gi[0, WF_LARGEST], broad)


@inline
def zone_cell(home: Ints, row: int, ring: int, floats: int, band: int, position: int) -> int:
    """The arena cell with the least value of a row's zone; the greatest is behind it."""
    room = home[row, ring + RING_ROOM]
    zones = home[row, ring + RING_FLOATS] + room * floats + 2 * band * (room >> ZONE_BITS)
    return zones + 2 * ((position & (room - 1)) >> ZONE_BITS)


@inline
def widen(
    wf: Floats,
    home: Ints,
    row: int,
    ring: int,
    floats: int,
    bands: int,
    band: int,
    zone_of: int,
    position: int,
) -> None:
    """Let the zone of one row take in the value of another; null is in no band."""
    value = wf[float_cell(home, row, ring, position, floats) + floats - bands + band]
    zone = zone_cell(home, row, ring, floats, band, zone_of)
    if value < wf[zone]:
        wf[zone] = value
    if value > wf[zone + 1]:
        wf[zone + 1] = value


@inner
def enter_zone(
    wf: Floats, home: Ints, row: int, ring: int, floats: int, bands: int, band: int, position: int
) -> None:
    """A row enters its zone; the first one leaves behind what is not held any more."""
    room = home[row, ring + RING_ROOM]
    if position & (ZONE - 1) == 0:
        zone = zone_cell(home, row, ring, floats, band, position)
        wf[zone] = math.inf
        wf[zone + 1] = -math.inf
        before = position - room
        for old in range(max(before + 1, home[row, ring + RING_HEAD]), before + ZONE):
            widen(wf, home, row, ring, floats, bands, band, position, old)
    widen(wf, home, row, ring, floats, bands, band, position, position)


@inline
def next_in_band(
    wf: Floats,
    home: Ints,
    row: int,
    ring: int,
    floats: int,
    bands: int,
    band: int,
    position: int,
    past: int,
    least: float,
    most: float,
) -> int:
    """The first row from a position on whose value lies in the band; `past` when there is none."""
    mask = home[row, ring + RING_ROOM] - 1
    first = home[row, ring + RING_FLOATS] + floats - bands + band
    while position < past:
        stop = min(past, (position | (ZONE - 1)) + 1)
        zone = zone_cell(home, row, ring, floats, band, position)
        if wf[zone + 1] >= least and wf[zone] <= most:
            while position < stop:
                if least <= wf[first + (position & mask) * floats] <= most:
                    return position
                position += 1
        position = stop
    return past


@inline
def bucket_cell(home: Ints, row: int, ring: int, ints: int, index: int, key: int) -> int:
    """The arena cell with the newest row, plus one, whose key may be this one."""
    room = home[row, ring + RING_ROOM]
    buckets = home[row, ring + RING_INTS] + room * (ints + 2 * index)
    return buckets + bucket_of(0, key, 2 * room)


@inline
def enter_key(
    wi: Ints, home: Ints, row: int, ring: int, ints: int, keys: int, index: int, position: int
) -> None:
    """Let the index lead to a row; one whose key is null is never found."""
    cell = int_cell(home, row, ring, position, ints) + keys + 2 * index
    if wi[cell] != NULL:
        bucket = bucket_cell(home, row, ring, ints, index, wi[cell])
        wi[cell + 1] = wi[bucket]
        wi[bucket] = position + 1


@inline
def found_cell(home: Ints, row: int, ring: int, ints: int, indexes: int) -> int:
    """The arena cell from which on a search notes what it finds."""
    return home[row, ring + RING_INTS] + home[row, ring + RING_ROOM] * (ints + 2 * indexes)


@inline
def search(
    wi: Ints,
    home: Ints,
    row: int,
    ring: int,
    ints: int,
    keys: int,
    index: int,
    indexes: int,
    key: int,
    low: int,
    past: int,
) -> int:
    """How many rows at `low` <= position < `past` have the key; their positions, newest first."""
    if key == NULL or low >= past:
        return 0
    notes = found_cell(home, row, ring, ints, indexes)
    first = home[row, ring + RING_INTS] + keys + 2 * index
    mask = home[row, ring + RING_ROOM] - 1
    count = 0
    position = wi[bucket_cell(home, row, ring, ints, index, key)] - 1
    while position >= low:
        cell = first + (position & mask) * ints
        if wi[cell] == key and position < past:
            wi[notes + count] = position
            count += 1
        position = wi[cell + 1] - 1
    return count
