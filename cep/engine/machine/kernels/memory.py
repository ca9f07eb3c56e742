"""Blocks of memory, rings and indexes of them.

What asks for memory does so before it changes anything, and may be asked again: where there is none
it returns false, the caller's step stops, the memory is made longer, and the step begins anew.

A home that may be forgotten (`purge`) owns what its nodes ask for: its blocks are linked, so that
all can be given back whatever they hold. What others hold, too, is asked for as a shared block.
"""

from __future__ import annotations

from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.words import (
    FREE,
    INDEX_AT,
    INDEX_COUNT,
    INDEX_ROOM,
    NEED,
    OWNER,
    RING_AT,
    RING_HEAD,
    RING_ROOM,
    RING_TAIL,
    TOP,
    Ints,
)

SMALLEST = 2
"""The class of the smallest block: four words."""
FIRST_RING = 8
FIRST_INDEX = 8
LOW = 0x3FFFFFFF
MIX = 0x1E3779B9
"""An odd multiplier of 30 bits, as `LOW` has: products stay inside 64 bits."""
# In front of a block that a home owns: its words, and the blocks before and behind it. The home has
# such words without a block, from where they go round.
OWNED_WORDS, OWNED_BEFORE, OWNED_BEHIND, OWNED = 0, 1, 2, 3


@inline
def class_of(words: int) -> int:
    """The exponent of the smallest power of two that holds so many words."""
    found = SMALLEST
    while (1 << found) < words:
        found += 1
    return found


@inner
def shared_block(i: Ints, words: int) -> int:
    """The address of a block that no home owns, whose words are not cleared; 0 where there is no
    room. O(1).
    """
    size = class_of(words)
    free = i[0, FREE + size]
    if free != 0:
        i[0, FREE + size] = i[0, free]
        return free
    at = i[0, TOP]
    if at + (1 << size) > i.shape[1]:
        i[0, NEED] = 1 << size
        return 0
    i[0, TOP] = at + (1 << size)
    return at


@inner
def release_shared(i: Ints, at: int, words: int) -> None:
    """Give back a block that no home owns and that was asked for with so many words."""
    size = class_of(words)
    i[0, at] = i[0, FREE + size]
    i[0, FREE + size] = at


@inner
def owner_made(i: Ints) -> int:
    """Where the blocks of a home will be linked; 0 where there is no room."""
    owner = shared_block(i, OWNED)
    if owner != 0:
        i[0, owner + OWNED_BEFORE] = i[0, owner + OWNED_BEHIND] = owner
    return owner


@inner
def owner_dropped(i: Ints, owner: int) -> None:
    """Give back all blocks of a home. O(blocks)."""
    at = i[0, owner + OWNED_BEHIND]
    while at != owner:
        behind = i[0, at + OWNED_BEHIND]
        release_shared(i, at, i[0, at + OWNED_WORDS])
        at = behind
    release_shared(i, owner, OWNED)


@inner
def allocate(i: Ints, words: int) -> int:
    """The address of a block for the home at work, whose words are not cleared; 0 where there is no
    room. O(1).
    """
    owner = i[0, OWNER]
    if owner == 0:
        return shared_block(i, words)
    at = shared_block(i, words + OWNED)
    if at == 0:
        return 0
    behind = i[0, owner + OWNED_BEHIND]
    i[0, at + OWNED_WORDS] = words + OWNED
    i[0, at + OWNED_BEFORE] = owner
    i[0, at + OWNED_BEHIND] = behind
    i[0, owner + OWNED_BEHIND] = i[0, behind + OWNED_BEFORE] = at
    return at + OWNED


@inner
def release(i: Ints, at: int, words: int) -> None:
    """Give back a block of the home at work that was asked for with so many words."""
    if i[0, OWNER] == 0:
        release_shared(i, at, words)
        return
    block = at - OWNED
    before, behind = i[0, block + OWNED_BEFORE], i[0, block + OWNED_BEHIND]
    i[0, before + OWNED_BEHIND] = behind
    i[0, behind + OWNED_BEFORE] = before
    release_shared(i, block, words + OWNED)


@inner
def cleared(i: Ints, words: int) -> int:
    """A block of zeros; 0 where there is no room."""
    at = allocate(i, words)
    if at != 0:
        for word in range(words):
            i[0, at + word] = 0
    return at


@inline
def ring_cell(i: Ints, ring: int, position: int, width: int) -> int:
    """The address of the row at a position; rows have a fixed number of words."""
    return i[0, ring + RING_AT] + (position & (i[0, ring + RING_ROOM] - 1)) * width


@inline
def ring_length(i: Ints, ring: int) -> int:
    return i[0, ring + RING_TAIL] - i[0, ring + RING_HEAD]


@inline
def ring_room(i: Ints, ring: int, width: int) -> bool:
    """Whether there is room for one more row, made where there is not. O(1) amortised."""
    return ring_room_for(i, ring, width, 1)


@inner
def ring_room_for(i: Ints, ring: int, width: int, rows: int) -> bool:
    """Whether there is room for so many more rows, made where there is not."""
    room, least = i[0, ring + RING_ROOM], ring_length(i, ring) + rows
    if least <= room:
        return True
    wider = max(room, FIRST_RING)
    while wider < least:
        wider *= 2
    at = allocate(i, wider * width)
    if at == 0:
        return False
    old = i[0, ring + RING_AT]
    for position in range(i[0, ring + RING_HEAD], i[0, ring + RING_TAIL]):
        source = old + (position & (room - 1)) * width
        target = at + (position & (wider - 1)) * width
        for word in range(width):
            i[0, target + word] = i[0, source + word]
    if room:
        release(i, old, room * width)
    i[0, ring + RING_AT] = at
    i[0, ring + RING_ROOM] = wider
    return True


@inner
def ring_dropped(i: Ints, ring: int, width: int) -> None:
    """Give back the memory of a ring, which is empty then."""
    if i[0, ring + RING_ROOM]:
        release(i, i[0, ring + RING_AT], i[0, ring + RING_ROOM] * width)
    for word in range(4):
        i[0, ring + word] = 0


@inner
def ring_taken_out(i: Ints, ring: int, position: int, width: int) -> None:
    """Take out a row anywhere; O(rows in front of it), so the first one costs nothing."""
    head = i[0, ring + RING_HEAD]
    for place in range(position, head, -1):
        target, source = ring_cell(i, ring, place, width), ring_cell(i, ring, place - 1, width)
        for word in range(width):
            i[0, target + word] = i[0, source + word]
    i[0, ring + RING_HEAD] = head + 1


@inner
def ring_parted(i: Ints, ring: int, position: int, width: int) -> int:
    """Make place for a row at a position, for which there is room; its address. O(rows behind)."""
    tail = i[0, ring + RING_TAIL]
    i[0, ring + RING_TAIL] = tail + 1
    for place in range(tail, position, -1):
        target, source = ring_cell(i, ring, place, width), ring_cell(i, ring, place - 1, width)
        for word in range(width):
            i[0, target + word] = i[0, source + word]
    return ring_cell(i, ring, position, width)


@inline
def hash_of(i: Ints, at: int, words: int) -> int:
    """A number that depends on some words. Consecutive values get different low bits."""
    found = words
    for word in range(words):
        value = i[0, at + word]
        found = (found * MIX + ((value ^ (value >> 29)) & LOW) * MIX) & LOW
        found ^= found >> 11
    return found


@inline
def is_same(i: Ints, one: int, other: int, words: int) -> bool:
    word = 0
    while word < words and i[0, one + word] == i[0, other + word]:
        word += 1
    return word == words


@inner
def index_find(i: Ints, index: int, key: int, words: int, offset: int) -> int:
    """The block whose words from `offset` on equal those at `key`; 0 where there is none. O(1)."""
    room = i[0, index + INDEX_ROOM]
    if room == 0:
        return 0
    at = i[0, index + INDEX_AT]
    bucket = hash_of(i, key, words) & (room - 1)
    while True:
        block = i[0, at + bucket]
        if block == 0 or is_same(i, block + offset, key, words):
            return block
        bucket = (bucket + 1) & (room - 1)


@inner
def index_room(i: Ints, index: int, words: int, offset: int) -> bool:
    """Whether there is room for one more block, made where there is not. O(1) amortised."""
    room = i[0, index + INDEX_ROOM]
    if 2 * (i[0, index + INDEX_COUNT] + 1) <= room:
        return True
    wider = FIRST_INDEX if room == 0 else 2 * room
    at = cleared(i, wider)
    if at == 0:
        return False
    old = i[0, index + INDEX_AT]
    for bucket in range(room):
        block = i[0, old + bucket]
        if block != 0:
            place = hash_of(i, block + offset, words) & (wider - 1)
            while i[0, at + place] != 0:
                place = (place + 1) & (wider - 1)
            i[0, at + place] = block
    if room:
        release(i, old, room)
    i[0, index + INDEX_AT] = at
    i[0, index + INDEX_ROOM] = wider
    return True


@inner
def index_add(i: Ints, index: int, block: int, words: int, offset: int) -> None:
    """Add a block, for which there is room and whose key is new."""
    room, at = i[0, index + INDEX_ROOM], i[0, index + INDEX_AT]
    place = hash_of(i, block + offset, words) & (room - 1)
    while i[0, at + place] != 0:
        place = (place + 1) & (room - 1)
    i[0, at + place] = block
    i[0, index + INDEX_COUNT] += 1


@inner
def index_remove(i: Ints, index: int, block: int, words: int, offset: int) -> None:
    """Take out a block; those behind it that were pushed aside move up."""
    room, at = i[0, index + INDEX_ROOM], i[0, index + INDEX_AT]
    hole = hash_of(i, block + offset, words) & (room - 1)
    while i[0, at + hole] != block:
        hole = (hole + 1) & (room - 1)
    place = hole
    while True:
        place = (place + 1) & (room - 1)
        other = i[0, at + place]
        if other == 0:
            break
        wanted = hash_of(i, other + offset, words) & (room - 1)
        if ((place - wanted) & (room - 1)) >= ((place - hole) & (room - 1)):
            i[0, at + hole] = other
            hole = place
    i[0, at + hole] = 0
    i[0, index + INDEX_COUNT] -= 1
