"""The memory of a run: made, made longer, read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from cep.engine.buffer import Buffer
from cep.engine.jit import plain
from cep.engine.kernels.scalar import NULL
from cep.engine.machine.kernels.memory import cleared
from cep.engine.machine.kernels.words import (
    CLOCK,
    CLOCK_NOW,
    CLOCK_WORDS,
    COMMON_CLOCKS,
    COMMON_PASSED,
    HASHES,
    HEADER,
    HOME,
    HOST,
    KNOWN_SIZE,
    LISTS,
    LISTS_SIZE,
    LISTS_USED,
    NEED,
    NEWEST,
    NOW,
    OTHERS_TO,
    OUT,
    OUT_ROWS,
    OUT_SIZE,
    PASSED,
    RANKS,
    REACHED,
    SHOWN,
    STACK,
    STACK_SIZE,
    TIMERS,
    TIMERS_ROOM,
    TOP,
    UNTIL_IS_COMPLETE,
    WORK,
    WORK_SIZE,
    Floats,
    Ints,
)
from cep.engine.machine.program import Program

FIRST_BLOCKS = {(WORK, WORK_SIZE): 1024, (STACK, STACK_SIZE): 512, (TIMERS, TIMERS_ROOM): 256,
                (OUT, OUT_SIZE): 4096, (LISTS, LISTS_SIZE): 64}  # fmt: skip
"""By their header words, the blocks that a run begins with, and their words."""
FIRST_WORDS = 2**14
Arrays: TypeAlias = list[Ints]


class Memory:
    """One buffer, as integers `i` and as doubles `f`; see `kernels.words`."""

    def __init__(self, program: Program) -> None:
        self._program, self._out_width = program, program.out_width
        self._ordered = self._hashed = self._hashes_room = self._host = 0
        clocks = 0 if program.clocks is None else len(program.clocks.common) * CLOCK_WORDS
        top = HEADER + program.home_words
        words = max(FIRST_WORDS, 2 * (top + clocks + sum(FIRST_BLOCKS.values())))
        self._take(Buffer(words))
        self._write_constants()
        header = self.i[0]
        header[HOME] = HEADER
        header[NOW] = header[NEWEST] = header[OTHERS_TO] = header[REACHED] = header[PASSED] = NULL
        header[SHOWN] = header[COMMON_PASSED] = NULL
        header[UNTIL_IS_COMPLETE] = 1
        header[CLOCK] = TIMERS
        header[COMMON_CLOCKS] = top
        self.i[0, top + CLOCK_NOW : top + clocks : CLOCK_WORDS] = NULL
        top += clocks
        for (at, size), length in FIRST_BLOCKS.items():
            header[at], header[size] = top, length
            top += length
        header[TOP] = top

    def _write_constants(self) -> None:
        for at, value in self._program.constants:
            (self.f if isinstance(value, float) else self.i)[0, at] = value

    def _take(self, buffer: Buffer) -> None:
        self.buffer, words = buffer, buffer.words()
        self.i: Ints = words.reshape(1, -1)
        self.f: Floats = words.view(np.float64).reshape(1, -1)
        self.arrays: Arrays = [self.i, self._program.words]
        """What machine code is entered with; empty once there are others."""
        words[HOST] = self._host
        # single words are read far faster through a memoryview than through an array
        self._words: memoryview[int] = words.data.cast("B").cast("q")
        self.header = self._words[:HEADER]

    def call_back(self, address: int) -> None:
        """Let machine code call Python at an address."""
        self._host = self.i[0, HOST] = address

    def grow(self) -> None:
        """Make it longer, so that what was asked for in vain is there.

        Copying would keep the signals of a daemon waiting, so nobody here holds on to the words.
        """
        need, length, buffer = int(self.i[0, NEED]), self.i.shape[1], self.buffer
        assert need, "a step went no further, and did not ask for memory"
        self.i[0, NEED] = 0
        del self.i, self.f, self._words, self.header
        self.arrays.clear()
        buffer.lengthen(2 * length + 2 * need)
        self._take(buffer)

    @property
    def top(self) -> int:
        """The first word that has never been handed out."""
        return int(self.i[0, TOP])

    def reserve(self, upto: int) -> None:
        """Hand out all words up to an address, which are 0."""
        while upto > self.i.shape[1]:
            self.i[0, NEED] = upto
            self.grow()
        self.i[0, TOP] = max(self.top, upto)

    def block(self, words: int) -> int:
        """The address of a block of zeros."""
        while (at := plain(cleared)(self.i, words)) == 0:
            self.grow()
        return int(at)

    def know_order(self, texts: Sequence[str]) -> None:
        """Write down the order of all texts, where there are new ones. O(n log n)."""
        if len(texts) == self._ordered:
            return
        self._ordered = len(texts)
        size = 1 << max(2, (len(texts) - 1).bit_length())
        top = self.top
        self.reserve(top + size)  # what was there before is not used again: there are few
        order = sorted(range(len(texts)), key=texts.__getitem__)
        self.i[0, top + np.array(order, np.int64)] = np.arange(len(texts))
        self.i[0, RANKS] = top

    def know_hashes(self, texts: Sequence[str]) -> None:
        """Write down Java's hashes of all texts, where there are new ones. O(n)."""
        if len(texts) == self._hashed:
            return
        known, self._hashed = self._hashed, len(texts)
        at = int(self.i[0, HASHES])
        if len(texts) > self._hashes_room:
            room = self._hashes_room = 1 << max(4, len(texts).bit_length())
            top = self.top
            self.reserve(top + 2 * room)  # what was there before is not used again
            self.i[0, top : top + 2 * known] = self.i[0, at : at + 2 * known]
            self.i[0, HASHES], at = top, top
        for code in range(known, len(texts)):
            self.i[0, at + 2 * code : at + 2 * code + 2] = hash_of_text(texts[code])

    def rows(self) -> int:
        """How many rows were put out."""
        return int(self.i[0, OUT_ROWS])

    def taken(self) -> tuple[Ints, Floats]:
        """The rows that were put out, which are taken out."""
        ints, width = self._program.widths[0], self._program.out_width
        first, count = int(self.i[0, OUT]), self.rows()
        last = first + count * width
        found = self.i[0, first:last].reshape(count, width)[:, :ints].copy()
        reals = self.f[0, first:last].reshape(count, width)[:, ints:].copy()
        self.i[0, OUT_ROWS] = 0
        return found, reals

    def row_taken(self) -> bytearray:
        """The words of the one row that was put out, which is taken out."""
        header, first = self.header, self.header[OUT]
        header[OUT_ROWS] = 0
        return bytearray(self._words[first : first + self._out_width])

    def lists_taken(self) -> Ints:
        """The lists that rows put out name, which are taken out."""
        first, count = int(self.i[0, LISTS]), int(self.i[0, LISTS_USED])
        self.i[0, LISTS_USED] = 0
        return self.i[0, first : first + count].copy()

    def saved(self) -> Ints:
        """What a snapshot keeps between two records: all words that were ever handed out."""
        words = self.i[0, : self.top].copy()
        words[HOST] = 0  # another process has Python elsewhere
        return words

    def restore(self, words: Ints) -> None:
        """Go on from what `saved` gave."""
        longer = Buffer(max(FIRST_WORDS, 2 * len(words)))
        longer.words()[: len(words)] = words
        self._take(longer)

    def go_on(self, other: Memory) -> None:
        """Take over the words of a run of other rules, where the new ones have been reserved."""
        assert other.top >= HEADER + self._program.home_words, "the new words are not reserved"
        self.restore(other.saved())
        self.i[0, KNOWN_SIZE] = 0  # the new rules may ask more of keys
        self._write_constants()


def hash_of_text(text: str) -> tuple[int, int]:
    """The hash that Java gives a text, and the power of 31 that its length makes; 32 bits each."""
    found, power = 0, 1
    units = text.encode("utf-16-be")
    for place in range(0, len(units), 2):
        found = (31 * found + (units[place] << 8 | units[place + 1])) & 0xFFFFFFFF
        power = 31 * power & 0xFFFFFFFF
    return found, power
