"""Columns of short texts into their codes, of texts that have been met before.

A text of up to 16 bytes is three words: its first bytes, its last ones, its length. Arrow, which
takes any texts, needs four times as long to number those of a column.
"""

from __future__ import annotations

from cep.engine.jit import addressed, inline
from cep.engine.kernels.addressed import byte_at, places_at, word_at, words
from cep.engine.kernels.state import Ints

# The words of a table: how many texts, the addresses of where they begin and of their bytes, how
# many bytes there are, the address of the codes, that and the length of the known texts, a power of
# two, and whether these are to be made known, of which the codes are given.
(COUNT, PLACES, BYTES, BYTES_LENGTH, CODES, KNOWN, KNOWN_LENGTH, LEARNS, HEAD) = range(9)
# A known text: its words, its length plus one (0: none is there), its code.
FIRST, LAST, LENGTH, CODE, TEXT = range(5)
WORD = 8
LONGEST = 2 * WORD
MIX = 0x1E3779B97F4A7C15
MIXED_BITS = 40
"""Above them a product depends on all bits of its factors."""


@inline
def bytes_at(first: int, stop: int) -> int:
    """Less than a word of bytes, where there may be no more to read."""
    found = 0
    for at in range(stop - 1, first - 1, -1):
        found = found << 8 | byte_at(at)
    return found


@inline
def first_word(start: int, stop: int, end: int) -> int:
    """The first bytes of a text; those of all texts lie in front of `end`."""
    if start + WORD > end:
        return bytes_at(start, stop)
    word = word_at(start)
    return word if stop - start >= WORD else word & ((1 << 8 * (stop - start)) - 1)


@inline
def place_of(known: Ints, first: int, last: int, length: int) -> int:
    """Where a text is among the known ones, or where it would be."""
    mask = len(known) // TEXT - 1
    bucket = ((first ^ last) * MIX >> MIXED_BITS) + length & mask
    at = bucket * TEXT
    while known[at + LENGTH] != 0 and (
        known[at + FIRST] != first or known[at + LAST] != last or known[at + LENGTH] != length + 1
    ):
        bucket = bucket + 1 & mask
        at = bucket * TEXT
    return at


@addressed
def look_up(address: int) -> int:
    """Write the codes of the texts that the table at an address tells of, up to the first that is
    too long or not known; how many. O(texts).
    """
    t = words(address, HEAD)
    count, known, codes = t[COUNT], words(t[KNOWN], t[KNOWN_LENGTH]), words(t[CODES], t[COUNT])
    places, begin, learns = places_at(t[PLACES], count + 1), t[BYTES], t[LEARNS] != 0
    end, start = begin + t[BYTES_LENGTH], begin + places[0]
    for n in range(count):
        stop = begin + places[n + 1]
        length = stop - start
        if length > LONGEST:
            return n
        first = first_word(start, stop, end)
        last = word_at(stop - WORD) if length > WORD else 0
        at = place_of(known, first, last, length)
        if learns:
            known[at + FIRST], known[at + LAST] = first, last
            known[at + LENGTH], known[at + CODE] = length + 1, codes[n]
        elif known[at + LENGTH] == 0:
            return n
        codes[n] = known[at + CODE]
        start = stop
    return count
