"""Raw output rows of one call."""

from __future__ import annotations

import numpy as np

from cep.engine.kernels.state import Floats, Ints

NO_LISTS: Ints = np.zeros(0, np.int64)


class OutputRows:
    """Whole numbers and reals of each row; lists of complex events lie in `lists`."""

    __slots__ = ("_floats", "_ints", "count", "lists", "row", "width")

    def __init__(self, ints: Ints, floats: Floats, lists: Ints = NO_LISTS) -> None:
        self._ints, self._floats, self.width = ints, floats, ints.shape[1]
        self.row: bytearray | None = None
        """The one row there is, until its arrays are asked for."""
        self.lists, self.count = lists, len(ints)

    @classmethod
    def one(cls, row: bytearray, width: int, lists: Ints = NO_LISTS) -> OutputRows:
        """One row, given as its `width` whole numbers, then its reals.

        Arrays cost more than most rules do with a row, so none are made before they are asked for.
        """
        self = cls.__new__(cls)
        self.row, self.width = row, width
        self.lists, self.count = lists, 1
        return self

    @property
    def ints(self) -> Ints:
        """Whole numbers, a row each."""
        if self.row is not None:
            self._unpack(self.row)
        return self._ints

    @property
    def floats(self) -> Floats:
        """Reals, a row each."""
        if self.row is not None:
            self._unpack(self.row)
        return self._floats

    def _unpack(self, row: bytearray) -> None:
        words = np.frombuffer(row, np.int64)
        self._ints = words[: self.width].reshape(1, -1)
        self._floats = words[self.width :].view(np.float64).reshape(1, -1)
        self.row = None
