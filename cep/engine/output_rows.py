"""Raw output rows of one call.

They are Structs, which are made in a third of the time of other objects: it counts where rows come
one by one.
"""

from __future__ import annotations

import msgspec
import numpy as np

from cep.engine.kernels.state import Floats, Ints

NO_LISTS: Ints = np.zeros(0, np.int64)
NO_INTS: Ints = np.zeros((0, 0), np.int64)
NO_FLOATS: Floats = np.zeros((0, 0))


class OutputRows(msgspec.Struct, eq=False):
    """Whole numbers and reals of each row; lists of complex events lie in `lists`."""

    _ints: Ints
    _floats: Floats
    lists: Ints = NO_LISTS

    def __len__(self) -> int:
        return len(self._ints)

    @property
    def ints(self) -> Ints:
        """Whole numbers, a row each."""
        return self._ints

    @property
    def floats(self) -> Floats:
        """Reals, a row each."""
        return self._floats


class SingleRow(OutputRows, eq=False):
    """One row, given as its `width` whole numbers, then its reals.

    Arrays cost more than most rules do with a row, so none are made before they are asked for.
    """

    row: bytearray = msgspec.field(default_factory=bytearray)
    width: int = 0

    def __len__(self) -> int:
        return 1

    @property
    def ints(self) -> Ints:
        """Whole numbers, of one row; what is written there is in `row`."""
        if self._ints is NO_INTS:
            self._unpack()
        return self._ints

    @property
    def floats(self) -> Floats:
        """Reals, of one row."""
        if self._ints is NO_INTS:
            self._unpack()
        return self._floats

    def _unpack(self) -> None:
        words = np.frombuffer(self.row, np.int64)
        self._ints = words[: self.width].reshape(1, -1)
        self._floats = words[self.width :].view(np.float64).reshape(1, -1)
