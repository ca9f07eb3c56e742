"""Raw output rows of one call."""

from __future__ import annotations

import numpy as np

from cep.engine.kernels.state import Floats, Ints

NO_LISTS: Ints = np.zeros(0, np.int64)


class OutputRows:
    """Whole numbers and reals of each row; lists of complex events lie in `lists`."""

    __slots__ = ("_floats", "_ints", "count", "lists", "width")

    def __init__(self, ints: Ints, floats: Floats, lists: Ints = NO_LISTS) -> None:
        self._ints, self._floats, self.width = ints, floats, ints.shape[1]
        self.lists, self.count = lists, len(ints)

    @property
    def ints(self) -> Ints:
        """Whole numbers, a row each."""
        return self._ints

    @property
    def floats(self) -> Floats:
        """Reals, a row each."""
        return self._floats


class SingleRow(OutputRows):
    """One row, given as its `width` whole numbers, then its reals.

    Arrays cost more than most rules do with a row, so none are made before they are asked for.
    """

    __slots__ = ("row",)

    def __init__(self, row: bytearray, width: int, lists: Ints = NO_LISTS) -> None:
        self.row, self.width, self.lists, self.count = row, width, lists, 1

    @property
    def ints(self) -> Ints:
        """Whole numbers, of one row; what is written there is in `row`."""
        try:
            return self._ints
        except AttributeError:
            self._unpack()
            return self._ints

    @property
    def floats(self) -> Floats:
        """Reals, of one row."""
        try:
            return self._floats
        except AttributeError:
            self._unpack()
            return self._floats

    def _unpack(self) -> None:
        words = np.frombuffer(self.row, np.int64)
        self._ints = words[: self.width].reshape(1, -1)
        self._floats = words[self.width :].view(np.float64).reshape(1, -1)
