"""What lets many members ask a ring of held rows at once: found again from the ring when missing.

Beside its rows a ring has a slot index: for each row its time, by which it leaves windows, and the
row before it in its slot; for each slot the newest row, and a bit that says whether there is one.
The slot of a key is its low bits, so that a run of keys, such as those of members whose constants
are near each other, is asked for 32 bits at a time; or a hash of it. Of the bits 32 are in a cell,
so that shifting never meets a sign.
"""

from __future__ import annotations

import numpy as np

from cep.engine.jit import inline, inner
from cep.engine.kernels.groups import bucket_of
from cep.engine.kernels.scalar import NULL
from cep.engine.kernels.state import (
    RING_HEAD,
    RING_INTS,
    RING_ROOM,
    RING_TAIL,
    WI_LARGEST,
    WI_TOP,
    Ints,
    State,
)

SLOT_INDEX, SLOT_INDEX_ROOM, LET_GO, ALL_HOLD, ALL_THERE = range(5)
"""Columns: the block, and the ring's room when it was made; when rows were last let go; from where
on all windows hold the rows, and from where on all members were there."""
SLOT_INDEX_COLUMNS = 5
TIME, BEFORE = 0, 1
"""The cells of a row."""
ROW_CELLS = 2
SLOTS = 4
"""Slots per row of the ring: more of them make fewer rows share one, and need more of the cache."""
BITS = ROW_CELLS + SLOTS
"""A block has the cells of rows, the newest rows of slots, the bits; these begin behind so many
cells per row."""
WORD_BITS = 5
WORD = 1 << WORD_BITS
WORD_MASK = WORD - 1
FULL_WORD = (1 << WORD) - 1
DE_BRUIJN = 0x077CB531
_PLACES = {(DE_BRUIJN << bit & FULL_WORD) >> (WORD - WORD_BITS): bit for bit in range(WORD)}
PLACES = np.array([_PLACES[top] for top in range(WORD)], np.int64)
"""The place of a bit by the top bits of its product with DE_BRUIJN (Leiserson, Prokop, Randall,
"Using de Bruijn sequences to index a 1 in a computer word", 1998)."""


@inline
def slot_of(key: int, slots: int, is_hashed: bool) -> int:
    """The slot of a key among `slots`, a power of two."""
    return bucket_of(0, key, slots) if is_hashed else key & (slots - 1)


@inline
def put_in_slot(
    wi: Ints,
    home: Ints,
    row: int,
    ring: int,
    ints: int,
    keys: int,
    slots: int,
    is_hashed: bool,
    position: int,
) -> None:
    """Put a row that the ring holds into its slot; one whose key is null is never found."""
    room = home[row, ring + RING_ROOM]
    at = position & (room - 1)
    cell = home[row, ring + RING_INTS] + at * ints
    block = home[row, slots + SLOT_INDEX]
    own = block + ROW_CELLS * at
    wi[own + TIME] = wi[cell]
    key = wi[cell + keys]
    if key != NULL:
        slot = slot_of(key, SLOTS * room, is_hashed)
        newest = block + ROW_CELLS * room + slot
        wi[own + BEFORE] = wi[newest]
        wi[newest] = position + 1
        word = block + BITS * room + (slot >> WORD_BITS)
        wi[word] = wi[word] | (1 << (slot & WORD_MASK))


@inline
def enter_slot(
    wi: Ints,
    home: Ints,
    row: int,
    ring: int,
    ints: int,
    keys: int,
    slots: int,
    is_hashed: bool,
    position: int,
) -> None:
    """Put the row that has come into its slot; of a ring that has grown, or been restored, all
    slots are found when somebody asks."""
    if home[row, slots + SLOT_INDEX_ROOM] == home[row, ring + RING_ROOM]:
        put_in_slot(wi, home, row, ring, ints, keys, slots, is_hashed, position)


@inner
def find_slots(
    s: State,
    home: Ints,
    row: int,
    ring: int,
    ints: int,
    keys: int,
    slots: int,
    is_hashed: bool,
    floors: int,
    members: int,
) -> None:
    """Put all rows of a ring into slots, in a block of its size; `floors` are members' columns."""
    room = home[row, ring + RING_ROOM]
    block = BITS * room + (SLOTS * room >> WORD_BITS)
    top = s.gi[0, WI_TOP]
    s.wi[top : top + block] = 0
    home[row, slots + SLOT_INDEX] = top
    home[row, slots + SLOT_INDEX_ROOM] = room
    s.gi[0, WI_TOP] = top + block
    s.gi[0, WI_LARGEST] = max(s.gi[0, WI_LARGEST], block)
    home[row, slots + ALL_THERE] = 0
    for floor in range(floors, floors + members):
        home[row, slots + ALL_THERE] = max(home[row, slots + ALL_THERE], home[row, floor])
    for position in range(home[row, ring + RING_HEAD], home[row, ring + RING_TAIL]):
        put_in_slot(s.wi, home, row, ring, ints, keys, slots, is_hashed, position)


@inner
def advance_slots(
    wi: Ints,
    home: Ints,
    row: int,
    ring: int,
    ints: int,
    keys: int,
    slots: int,
    is_hashed: bool,
    span: int,
    shortest: int,
    longest: int,
    clock: int,
) -> None:
    """Let rows leave that are in no window.

    `span` and `shortest` are of the longest and the shortest one in time, or 0, `longest` of the
    longest that counts rows.
    """
    tail = home[row, ring + RING_TAIL]
    first = home[row, ring + RING_INTS]
    room = home[row, ring + RING_ROOM]
    block = home[row, slots + SLOT_INDEX]
    has_slots = home[row, slots + SLOT_INDEX_ROOM] == room
    head = home[row, ring + RING_HEAD]
    while head < tail - longest:
        cell = first + (head & (room - 1)) * ints
        if span > 0 and wi[cell] + span > clock:
            break
        head += 1
        slot = slot_of(wi[cell + keys], SLOTS * room, is_hashed)
        if has_slots and wi[block + ROW_CELLS * room + slot] == head:
            word = block + BITS * room + (slot >> WORD_BITS)
            wi[word] = wi[word] & ~(1 << (slot & WORD_MASK))
    all_hold = max(home[row, slots + ALL_HOLD], head)
    while (
        shortest > 0
        and all_hold < tail
        and wi[first + (all_hold & (room - 1)) * ints] + shortest <= clock
    ):
        all_hold += 1
    home[row, ring + RING_HEAD] = head
    home[row, slots + ALL_HOLD] = all_hold
    home[row, slots + LET_GO] = clock


@inline
def has_row(wi: Ints, words: int, slot: int) -> int:
    """The bit of a slot."""
    return (wi[words + (slot >> WORD_BITS)] >> (slot & WORD_MASK)) & 1


@inline
def slots_with_rows(wi: Ints, words: int, slots: int, first: int) -> int:
    """The bits of 32 slots from one on, in a circle of `slots`; the first one's is the lowest."""
    at = first & (slots - 1)
    low = at >> WORD_BITS
    high = (low + 1) & ((slots >> WORD_BITS) - 1)
    both = wi[words + low] | (wi[words + high] << WORD)
    return (both >> (at & WORD_MASK)) & FULL_WORD


@inline
def place_of(bit: int) -> int:
    """The place of a single bit of 32."""
    return PLACES[np.uint64(((bit * DE_BRUIJN) & FULL_WORD) >> (WORD - WORD_BITS))]
