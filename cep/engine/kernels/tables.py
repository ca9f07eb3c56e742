"""Columns of the binder's immutable tables (`State.bt`) and of queues, entries and counts.

`bt` starts with the offsets of its parts; every part is an array of fixed-size records. Keys in the
tables are key rows; `OWN` stands for the key of the complex event being matched.
"""

from __future__ import annotations

OWN = -1

# Header of bt.
STRIDE = 0
ENGINES = 1
DEFINITIONS = 2
RULES = 3
STREAM_RULE = 4
STREAM_DEF = 5
CLOCK_CELLS = 6
TABLE_HEADER = 7

# An engine.
ENGINE_SPAN = 0
ENGINE_VALIDATE = 1
ENGINE_ACCEPT = 2
ENGINE_MAX = 3
ENGINE_KEYED = 4
ENGINE_QUEUE = 5
ENGINE_ENTERED = 6
ENGINE_CHAIN = 7

# A simple event definition (or a chained complex event).
DEF_NUMBER = 0
DEF_STREAM = 1
DEF_REPEAT = 2
DEF_ENGINE = 3
DEF_CHAIN = 4
DEF_OPPOSITES = 5
DEF_OPPOSITES_N = 6
DEF_ENDS = 7
DEF_ENDS_N = 8
DEF_DROPPED = 9
DEF_CLOCK = 10
DEF_SIZE = 11

# The entries of one number in a queue, in ki from DEF_CHAIN: links to two, and how many they are.
NUMBER_OLDEST = 0
NUMBER_NEWEST = 1
NUMBER_HELD = 2
NUMBER_COLUMNS = 3

# What was dropped of a definition, in gi from DEF_DROPPED.
DROPPED_LATE = 0
DROPPED_REPEAT = 1
DROPPED_OPPOSITE = 2
DROPPED_BOUND = 3
DROPPED_COLUMNS = 4

REJECT = 0
REFRESH = 1
ALLOW = 2

# A rule that can end in a definition: (rule, whether every key is an instance).
END_SIZE = 2

# A complex event.
RULE_NUMBER = 0
RULE_STREAM = 1
RULE_WITHIN = 2
RULE_KEYED = 3
RULE_ALL = 4
RULE_LEAVES = 5
RULE_LEAVES_N = 6
RULE_FORBID = 7
RULE_FORBID_N = 8
RULE_ABSENT = 9
RULE_ABSENT_N = 10
RULE_SIMPLE = 11
RULE_CHAIN = 12
RULE_CHAIN_N = 13
RULE_HANDED = 14
RULE_HANDED_N = 15
RULE_SIZE = 16

# A leaf of a pattern; masks have one bit per leaf, or per `[not ..]`.
LEAF_DEF = 0
LEAF_KEY = 1
LEAF_AFTER = 2
LEAF_DROPS = 3
LEAF_WORD = 4
LEAF_BIT = 5
LEAF_ENDS_ABSENT = 6
LEAF_STARTS_ABSENT = 7
LEAF_SIZE = 8

# A `[not ..]` between two parts: offset and number of its references.
ABSENT_REFS = 0
ABSENT_N = 1
ABSENT_SIZE = 2

# A reference to an event: (definition, key).
REF_SIZE = 2

# A queue, in ki (keyed engines) or gi from ENGINE_QUEUE.
QUEUE_BASE = 0
QUEUE_ROOM = 1
QUEUE_HEAD = 2
QUEUE_TAIL = 3
QUEUE_ALIVE = 4
QUEUE_UNSORTED = 5
QUEUE_COLUMNS = 6

# The entries of one key in a queue of all keys, in ki from ENGINE_CHAIN: keys expire by themselves.
# Negative where there is but one key, so that the queue itself is the chain.
CHAIN_OLDEST = 0
CHAIN_NEWEST = 1
CHAIN_UNSORTED = 2
CHAIN_COLUMNS = 3

# An entry of a queue. Links are positions + 1 of the alive entries before (PREVIOUS, OLDER) and
# behind it (next column), of its number and, in a queue of all keys, of its key.
ENTRY_TIME = 0
ENTRY_DEF = 1
ENTRY_KEY = 2
ENTRY_SEQ = 3
ENTRY_ALIVE = 4
ENTRY_BINDS = 5
ENTRY_BINDS_LAST = 6
ENTRY_PREVIOUS = 7
ENTRY_NEXT = 8
ENTRY_OLDER = 9
ENTRY_NEWER = 10
ENTRY_BITS = 11
