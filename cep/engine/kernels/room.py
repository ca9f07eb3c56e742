"""Whether the state can take all that one input row could cause: asked in front of every row."""

from __future__ import annotations

from cep.engine.jit import inline
from cep.engine.kernels.state import (
    ARENA_FULL,
    BIND_TOP,
    BINDS_FULL,
    BINDS_LIMIT,
    ENTRIES_FULL,
    ENTRIES_SIZE,
    ENTRY_LARGEST,
    ENTRY_RINGS,
    ENTRY_TOP,
    GROUPS,
    GROUPS_FULL,
    GROUPS_LIMIT,
    HELD_FULL,
    HELD_LIMIT,
    HELD_ROOM,
    KEYS,
    KEYS_LIMIT,
    LISTS,
    LISTS_LIMIT,
    MATCH_LIMIT,
    MATCH_ROOM,
    MATCHES_FULL,
    ROWS,
    ROWS_FULL,
    ROWS_LIMIT,
    STATUS,
    WF_LARGEST,
    WF_SIZE,
    WF_TOP,
    WI_LARGEST,
    WI_SIZE,
    WI_TOP,
    WINDOW_RINGS,
    Ints,
)


@inline
def has_room(gi: Ints) -> bool:
    """False, and why in STATUS, when an array is too small for the worst the row can do."""
    if gi[0, ROWS] > gi[0, ROWS_LIMIT] or gi[0, LISTS] > gi[0, LISTS_LIMIT]:
        gi[0, STATUS] = ROWS_FULL
        return False
    rings = 2 * gi[0, WINDOW_RINGS]
    if (
        gi[0, WI_TOP] + rings * gi[0, WI_LARGEST] > gi[0, WI_SIZE]
        or gi[0, WF_TOP] + rings * gi[0, WF_LARGEST] > gi[0, WF_SIZE]
    ):
        gi[0, STATUS] = ARENA_FULL
        return False
    if gi[0, ENTRY_TOP] + 2 * gi[0, ENTRY_RINGS] * gi[0, ENTRY_LARGEST] > gi[0, ENTRIES_SIZE]:
        gi[0, STATUS] = ENTRIES_FULL
        return False
    if gi[0, BIND_TOP] > gi[0, BINDS_LIMIT]:
        gi[0, STATUS] = BINDS_FULL
        return False
    if gi[0, GROUPS] > gi[0, GROUPS_LIMIT] or gi[0, KEYS] > gi[0, KEYS_LIMIT]:
        gi[0, STATUS] = GROUPS_FULL
        return False
    if gi[0, MATCH_ROOM] > gi[0, MATCH_LIMIT]:
        gi[0, STATUS] = MATCHES_FULL
        return False
    if gi[0, HELD_ROOM] > gi[0, HELD_LIMIT]:
        gi[0, STATUS] = HELD_FULL
        return False
    return True
