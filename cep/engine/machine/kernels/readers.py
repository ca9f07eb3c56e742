"""Whom a row concerns, of many readers that ask whether one attribute equals a constant.

Of a thousand alerts, one for each symbol, a tick concerns one. The conditions of the others are
false, whatever else they ask, so they need not be looked at: a hash table leads from the value to
the readers that ask for it, and to all that ask for none, in their order. It is made with the
program (`cep.engine.machine.readers`), and never changes.
"""

from __future__ import annotations

from cep.engine.machine.jit import inline
from cep.engine.machine.kernels.words import Ints

# The table: the word of the row that is asked for, how many buckets there are less one, the list of
# the readers that take any value, where the age of the stream is (0: nobody asks), and the buckets.
# A list is how many readers, then these; or it is a table by itself: see `limits`.
INDEX_WORD, INDEX_MASK, INDEX_OTHERS, INDEX_AGE, INDEX_BUCKETS = 0, 1, 2, 3, 4
# A bucket: a value, and its list; 0: the bucket is free.
BUCKET_VALUE, BUCKET_LIST, BUCKET_WORDS = 0, 1, 2


@inline
def bucket_of(value: int, mask: int) -> int:
    """The first bucket where a value may stand; texts have consecutive codes, which do not meet."""
    return (value ^ (value >> 17) ^ (value >> 34)) & mask


@inline
def readers_of(i: Ints, p: Ints, index: int, row: int) -> int:
    """The list of the readers that a row concerns. O(1)."""
    value, mask = i[0, row + p[index + INDEX_WORD]], p[index + INDEX_MASK]
    place = bucket_of(value, mask)
    while True:
        bucket = index + INDEX_BUCKETS + place * BUCKET_WORDS
        found = p[bucket + BUCKET_LIST]
        if found == 0:
            return p[index + INDEX_OTHERS]
        if p[bucket + BUCKET_VALUE] == value:
            return found
        place = (place + 1) & mask
