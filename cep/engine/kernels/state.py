"""The run state: a tuple of NumPy arrays, and the fixed columns of its global header.

Row `k` of the per-key arrays belongs to key slot `k - 1`; row 0 belongs to rows without a key and
to whatever has no key. A kernel stops in front of an input row when an array has no room for all
the row could write (`status`); the caller makes room and calls again: no row is half done.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class State(NamedTuple):
    """All arrays of a run; int64 or float64, C order."""

    ki: Ints  # per key: [key row, column]
    kf: Floats
    ai: Ints  # per hashed group: [group row, column]
    af: Floats
    gi: Ints  # global: [0, column]
    gf: Floats
    wi: Ints  # arena of window rows, flat
    wf: Floats
    ht: Ints  # hash table of groups: [bucket, (group kind, value, group row + 1)]
    qe: Ints  # event queue entries: [place, ENTRY_* columns, bind bits..]
    qb: Ints  # bind list nodes: [node, (complex number, next node + 1)]
    bt: Ints  # binder tables, immutable, flat
    slot: Ints  # key row of a string code, 0 when it has none yet
    me: Ints  # scratch of the matcher: [depth, candidate, mask and pending negations]
    mp: Ints  # scratch of the matcher: [depth, MATCH_COLUMNS]
    mm: Ints  # scratch of the matcher: failed residuals [bucket, (mask, epoch, bound)]
    oi: Ints  # output rows: [row, OUT_* columns, int attributes..]
    of: Floats  # output rows: [row, float attributes]
    ol: Ints  # lists of output rows, flat


# Columns of the header `gi[0]`.
STATUS = 0
ROWS = 1
LISTS = 2
WI_TOP = 3
WF_TOP = 4
WI_LARGEST = 5
WF_LARGEST = 6
ENTRY_TOP = 7
ENTRY_LARGEST = 8
BIND_TOP = 9
BIND_FREE = 10
GROUPS = 11
EPOCH = 12
KEYS = 13
ENTRY_RINGS = 14
WINDOW_RINGS = 15
ROWS_LIMIT = 16
LISTS_LIMIT = 17
BINDS_LIMIT = 18
ENTRIES_SIZE = 19
WI_SIZE = 20
WF_SIZE = 21
GROUPS_LIMIT = 22
KEYS_LIMIT = 23
MATCH_ROOM = 24
MATCH_LIMIT = 25
HELD_ROOM = 26
HELD_LIMIT = 27
CLOCK = 28
LEVEL = 29
HEADER = 30

# Values of STATUS: which array has no room.
READY = 0
ROWS_FULL = 1
ARENA_FULL = 2
ENTRIES_FULL = 3
BINDS_FULL = 4
GROUPS_FULL = 5
MATCHES_FULL = 6
HELD_FULL = 7

# Columns of input and output rows.
OUT_ORDER = 0
OUT_STREAM = 1
OUT_TIME = 2
OUT_KEY = 3
OUT_CLOCK = 4
OUT_ATTRIBUTES = 5
# OUT_CLOCK, and CLOCK while a row is at work, is the clock at the record that the row follows from,
# negated where that record is late: no row is judged by anything that it meets on its way. Behind
# the interpreter it is the time of the record, or of the timer. Other clocks that anything goes by
# stand in the last columns of a row, and from HEADER on in the header (`cep.engine.clock_cells`).

# Columns of a ring (window or deque), from its base column in an int array.
RING_INTS = 0
RING_FLOATS = 1
RING_ROOM = 2
RING_HEAD = 3
RING_TAIL = 4
RING_COLUMNS = 5
