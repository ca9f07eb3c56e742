"""What the words of the memory, of frames, of rows and of the program mean.

The memory is one buffer of 64-bit words, seen twice: `i` as integers and `f` as doubles, both
`[1, words]`, so that kernels of functions, which take a row and a column, work on it. An address is
a column. It begins with the header; then come the constants of the rules, the home of what is in no
partition, and blocks that `memory` hands out. `p` is the program, which does not change.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

# The header: single words.
TOP = 0
"""The first word that has never been handed out."""
NEED = 1
"""So many words were asked for in vain: the caller makes the memory longer and goes on."""
HOME = 2
"""The home of what is in no partition."""
WORK, WORK_SIZE, WORK_TOP = 3, 4, 5
"""Rows on their way: a stack of chunks. They are named by their distance from its beginning, as it
moves when it grows."""
STACK, STACK_SIZE, DEPTH = 6, 7, 8
"""Frames: what is still to be done, the next on top."""
TURN = 12
"""The number of the next that is put on a heap of what is due."""
NOW = 13
"""Where the clock stands of what is at work; NULL before the first record."""
TO = 14
"""Where the clock goes next, where there is one."""
N, AT, LATE = 15, 16, 17
"""The cause: the record's place, its time or that of the timer, whether it is late."""
PHASE = 18
"""How far the record under way has come: one of these."""
NEXT_RECORD, TIME_PASSES, ARRIVES, AT_WORK = 0, 1, 2, 3
OUT, OUT_SIZE, OUT_ROWS = 19, 20, 21
"""What is put out: rows of one width, so that it is a matrix."""
NEWEST = 22
"""The newest time of a record, or that has passed: what is older is late."""
STARTED = 23
FIRSTS = 24
"""An index of keys; see `keys`."""
UNTIL, UNTIL_N = 27, 28
"""To where time passes without a record, and the place of that among the records."""
RANKS = 32
"""Where the places of texts stand in the order of all texts, by their codes."""
LISTS, LISTS_SIZE, LISTS_USED = 29, 30, 31
"""What is put out of lists, which rows say where they stand."""
HASHES = 33
"""By the codes of texts, Java's hash of each and the power of 31 that its length makes. (No block
is so small that its size class would need this word.)"""
FREE = 32
"""By size class, the first of the blocks that are free; each holds the address of the next."""
EVALUATION = 96
"""Where expressions keep their values on the way: a stack."""
EVALUATION_DEPTH = 160
# What was lived has several clocks; see `clocks`.
CLOCK = 256
"""The clock of what is at work, by the address of its heap; TIMERS where there is one clock."""
COMMON_CLOCKS = 257
"""Where the clocks stand that all keys have in common."""
COMMON_PASSED = 258
"""The time that has passed for what has one clock, without a record; NULL: none has."""
FIRST_KEY = 259
"""The key that came last; each holds the address of the one before."""
REACHED = 260
"""The time that the clocks on their way have reached; NULL before the first timer fires."""
ON_THE_WAY = 261
"""The first of the clocks on their way; 0: none."""
OTHERS_TO = 262
"""Where the clocks go of keys that come meanwhile; NULL: nowhere."""
PASSED = 263
"""The time before which all records of all keys have come; NULL: not known."""
SHOWN = 264
"""The newest of all times: what a clock shows that stands nowhere yet."""
UNTIL_COMMON, UNTIL_IS_COMPLETE = 265, 266
"""Where time passes for some keys: how far for all together (NULL: not at all), and whether all
earlier records have come of those it passes for."""
KEYS_COUNTED = 267
"""How many keys have a number."""
RECORD_LATE = 268
"""Whether the record under way is late; `LATE` is it of what is at work."""
HOST = 269
"""The address of what computes functions that only Python has; see `machine.host`."""
FAILED = 270
"""Whether one of these has failed in this step."""
ASKING = 271
"""The home of the join that asks for rows which Python puts into its ring; see `machine.views`."""
QUIET_BARS = 272
"""By reader of a record's stream, the bar under way that the record goes into; see `quiet`."""
QUIET_READERS = 4
"""So many readers may have one."""
KNOWN, KNOWN_SIZE = 276, 277
"""Which keys need not be looked up any more when a record comes, as they have all that a key has: a
bit for each code of a text, 62 in a word, in front of these one for no key. See `known`."""
FED, FED_TAKES = 278, 279
"""The state of the indicator of the user that Python is called for, and whether a row comes to it;
see `own`."""
TOLD_ROWS, TOLD_COUNT = 280, 281
"""The rows of a chunk that Python is told of, and how many; see `step_tell_chunk`."""
UNTIL_LAG = 282
"""How far clocks stay behind a watermark of keys, as records wait for their order."""
OWNER = 283
"""Where the blocks are linked of the home that is at work, if it may be forgotten; 0: if not. See
`memory`."""
PAUSES = 284
"""Whether the run stops behind a record that puts out a signal, whether this record has, and
whether the run has stopped: these."""
NEVER_PAUSES, PAUSES_AT_SIGNALS, HAS_SIGNALLED, HAS_PAUSED = 0, 1, 2, 3
FIRED_RANK = 285
"""The place in the file of what fired last: see `streams`."""
TIMERS, TIMERS_ROOM, TIMERS_COUNT = 286, 287, 288
"""A heap of what is due. Where there are several clocks, each has a heap, and this one has the
first of each clock that is on its way."""
HEADER = 291

# A row: its time, its kind, then its values. Inside a query more follows them; see `queries`.
TIME, KIND, VALUES = 0, 1, 2
CURRENT, EXPIRED, TIMER, RESET = 0, 1, 2, 3
BREAK = 8
"""Added to the kind of the first row of each of several chunks that one node makes at once: the
node behind it takes them apart; see `split`."""

# A frame: a node of the program, where its state lies, the rows it gets and how far it has come.
NODE, PLACE, CHUNK, COUNT, CURSOR, MADE, MADE_COUNT, FLOOR, FRAME = 0, 1, 2, 3, 4, 5, 6, 7, 8
DUE, START = -1, -2
"""In the place of a number of rows: a timer has fired; the run begins."""

# A node of the program.
OP, NEXT, WIDTH, WIDER, STATE, RANK, ARGUMENTS = 0, 1, 2, 3, 4, 5, 6
"""What it does, the node behind it, the words of rows that it gets and makes, the place of its
state in a home, the place of its part in the file, then what each kind of node says itself."""

# A ring: where its rows lie, for how many there is room, positions of the first and past the last.
RING_AT, RING_ROOM, RING_HEAD, RING_TAIL, RING = 0, 1, 2, 3, 4

# An index by value: where its buckets lie, how many, how many are taken.
INDEX_AT, INDEX_ROOM, INDEX_COUNT, INDEX = 0, 1, 2, 3

# A key: what it is and its word; its number in the order in which keys came first (negative: it has
# none yet), the key before it, the time before which all of its records have come, the time that
# has passed for it without a record, and of what was lived where its clocks stand: see `clocks`.
KEY_TAG, KEY_VALUE, KEY_NUMBER, KEY_BEFORE, KEY_COMPLETE, KEY_PASSED, KEY_CLOCKS, KEY = (
    0, 1, 2, 3, 4, 5, 6, 7,
)  # fmt: skip

# A heap: where its first one is, the words of its block, how many there are, how many have left in
# front of it, whether any stands in front of one that is due earlier: see `timers`.
HEAP_AT, HEAP_ROOM, HEAP_COUNT, HEAP_GONE, HEAP_IS_MIXED = 0, 1, 2, 3, 4
# A clock: a heap of what is due, where it stands, where it goes and whether it is on its way, with
# the next one that is.
CLOCK_NOW, CLOCK_TO, CLOCK_MOVES, CLOCK_NEXT, CLOCK_WORDS = 5, 6, 7, 8, 9

# Something due: when, the place in the file, the number of the key, its turn, then whose it is.
DUE_MS, DUE_RANK, DUE_KEY, DUE_TURN, DUE_NODE, DUE_PLACE, DUE_WORDS = 0, 1, 2, 3, 4, 5, 6
