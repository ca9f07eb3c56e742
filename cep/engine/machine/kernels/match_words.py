"""What the words of a pattern or sequence mean: of the program, of a home, of a partial match.

A *partial match* has the words of the row that it becomes: its time, its kind, then its slots, in
order. In front of them stands how often it is held: it is given
back when nothing holds it. A *stage* is a state of the text at which partial matches wait.
"""

from __future__ import annotations

from cep.engine.machine.kernels.words import ARGUMENTS, INDEX

NEVER = -1
"""The time of a partial match that holds no row yet, and of a slot without its event."""
HAS_EXPIRED, IS_DONE = 1, 2
"""Bits of the kind of a partial match: it ran out of time; it has matched, or is over."""
REPORTED = 16
"""Set in the kind of a row of a partial match that ran out of time."""
REFS = -1
"""How often a partial match is held."""

# A slot: what it has, the time of its first row, then the values; or, of one that collects, how
# many rows, and those that expressions name: the first ones, then the newest, the newest in front.
MARK, FIRST_MS, SLOT_VALUES = 0, 1, 2
COLLECTED, COLLECTED_ROWS = 2, 3
NOTHING, HAS_ROW, PASSED = 0, 1, 2
"""`PASSED`: the time of `not X for t` is over without X."""

# A node of a stream: its match, the stages that read it, the last first, whether each row goes out
# by itself. A node of a timer has its stage in the place of the second.
MATCH_OF, MATCH_READERS, MATCH_READER_LIST, MATCH_SINGLY = (
    ARGUMENTS, ARGUMENTS + 1, ARGUMENTS + 2, ARGUMENTS + 3,
)  # fmt: skip

# A match: the words of a partial match and an empty one; its stages; whether it is a sequence; the
# place of its state in a home; how many partial matches there may be (a cell), and where those are
# counted that gave way; how much each one may need at most, in words and in timers.
M_WORDS, M_TEMPLATE, M_STAGES, M_STAGE_LIST, M_IS_SEQUENCE, M_STATE = 0, 1, 2, 3, 4, 5
M_MOST, M_DROPPED, M_NEED, M_TIMERS = 6, 7, 8, 9
# The node of the timer by which those are looked for that ran out of time, where they are wanted.
M_EXPIRY, MATCH = 10, 11

# The state of a match: when the latest row was, whether there was one, whether one is complete,
# what is complete and what goes on now that time has passed (queues).
LATEST_MS, HAS_LATEST, SIGNAL, DONE, READY = 0, 1, 2, 3, 6
# Copies of those that ran out of time (a queue); whether the timer for such is set.
OVERDUE, AWAITS_EXPIRY, MATCH_STATE = 9, 12, 13

# A stage: what kind, its match, the place of its state in a home.
S_KIND, S_MATCH, S_STATE = 0, 1, 2
PLAIN_STAGE, COUNTED, LOGICAL, ABSENT, ABSENT_SIDE = 0, 1, 2, 3, 4
# Its slot in a partial match, the words of that, how many values a row has, its condition.
S_SLOT, S_WORDS, S_VALUES, S_CONDITION = 3, 4, 5, 6
# Whether the match begins here; where it goes on; where it starts again; where an `every` around
# it starts; the counted stage in front that begins anew; from where on slots belong to what is
# here and behind.
S_IS_START, S_NEXT, S_AGAIN, S_RESTART, S_STAR, S_FIRST = 7, 8, 9, 10, 11, 12
# Counted: the least and the most (-1: without end) rows, how many first and newest rows are kept,
# marks of the slots behind.
S_LEAST, S_MOST, S_FIRSTS, S_NEWEST, S_BEHIND, S_BEHIND_LIST = 13, 14, 15, 16, 17, 18
# Logical: whether `or`, the other side. Absent: the cell of its time (0: none), whether it is the
# first of the match, the node of its timer.
S_IS_OR, S_PARTNER, S_FOR, S_IS_FIRST, S_NODE = 19, 20, 21, 22, 23
# How old a partial match may become: pairs of the cell of a span and a slot in which it may begin.
S_LIMITS, S_LIMIT_LIST = 24, 25
# By which those that wait are found: a word of a partial match that a word of the row must equal
# (0: by none). Whether the rows that one holds stay the same while it waits. Absent: whether one
# timer is set at a time, that of what is due first, and not one for each that waits or ends.
S_KEY, S_ROW_KEY, S_IS_STEADY, S_ONE_TIMER = 26, 27, 28, 29
STAGE = 30

# The state of a stage: those that wait, those that came with the latest row, whether it has begun,
# begins with the next row, is over; when it is due; when what must be absent came; whether those
# that wait may be in another order than that in which they get too old; the index of their chains.
# With one timer: when it is due, 0 where none is set; the latest due time that there was, and the
# first turn for it.
PENDING, FRESH, HAS_BEGUN, BEGINS_NEXT, IS_OVER, DUE_AT, CAME_MS, IS_MIXED, CHAINS = (
    0, 3, 6, 7, 8, 9, 10, 11, 12,
)  # fmt: skip
AWAITED, LAST_DUE, LAST_TURN, STAGE_STATE = range(CHAINS + INDEX, CHAINS + INDEX + 4)
