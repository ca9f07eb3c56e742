"""Words that become more where they are: the operating system moves pages and copies nothing."""

from __future__ import annotations

import contextlib
import mmap
import sys

import numpy as np

from cep.engine.kernels.state import Ints

WORD_BYTES = 8
HUGE_BYTES = 4 << 20
"""So much is kept on huge pages, of which far fewer have to be found."""


class Buffer:
    """Zeros at first; `words` hands out the array, which lives as long as somebody holds it."""

    def __init__(self, count: int) -> None:
        self._map = _mapped(count * WORD_BYTES)
        self.copies = 0
        """How often it could not be made longer where it is."""

    def words(self) -> Ints:
        """All of them, shape (count,)."""
        return np.frombuffer(self._map, np.int64)

    def lengthen(self, count: int) -> None:
        """Make it so many words, the new ones 0; fast where nobody holds an array of the old ones.

        Who does keeps these, and sees nothing of what is written from now on.
        """
        if not self._is_resized(count * WORD_BYTES):
            longer = _mapped(count * WORD_BYTES)
            longer[: len(self._map)] = self._map[:]
            self._map = longer
            self.copies += 1

    def _is_resized(self, size: int) -> bool:
        if sys.platform != "linux":  # others copy, or have no such call
            return False
        with contextlib.suppress(BufferError):  # somebody holds an array
            self._map.resize(size)
            _advise(self._map)
            return True
        return False


def _mapped(size: int) -> mmap.mmap:
    """Private memory: what is shared could not be made longer."""
    if sys.platform == "win32":
        return mmap.mmap(-1, size)
    found = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    _advise(found)
    return found


def _advise(found: mmap.mmap) -> None:
    """Not every kernel has huge pages; it goes without."""
    if sys.platform == "linux" and len(found) >= HUGE_BYTES:
        with contextlib.suppress(OSError):
            found.madvise(mmap.MADV_HUGEPAGE)
