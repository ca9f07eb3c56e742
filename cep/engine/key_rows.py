"""The row that each key has in the state of a run, given as keys appear."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from cep.engine.kernels.state import Ints
from cep.engine.strings import Strings


class KeyRows:
    """Rows of keys by the codes of these; 0 for what is no key, or has not been seen.

    `key_codes` has the code of each row and grows with them. `opened` is told of new ones: their
    codes, and for how many codes there has to be room.
    """

    def __init__(
        self, strings: Strings, key_codes: list[int], opened: Callable[[Ints, int], None]
    ) -> None:
        self._strings, self._key_codes, self._opened = strings, key_codes, opened
        self._take(np.zeros(256, np.int64))

    def _take(self, rows: Ints) -> None:
        self._rows = rows
        # single cells are read far faster through a memoryview than through an array
        self._cells: memoryview[int] = rows.data.cast("B").cast("q")

    @property
    def rows(self) -> Ints:
        """The rows by code, another array when there is room for more."""
        return self._rows

    @property
    def room(self) -> int:
        """For how many codes there is room."""
        return len(self._rows)

    def row(self, code: int) -> int:
        """The row of a key, 0 while it has none. O(1)."""
        return int(self._rows[code]) if code < len(self._rows) else 0

    def open(self, codes: Iterable[int]) -> None:
        """Give keys the next rows; those that have one keep it."""
        self._open([code for code in codes if not self.row(code)])

    def of(self, codes: Ints) -> Ints:
        """The rows of codes, opened in order; 0 for NULL."""
        self.fit()
        if len(codes) == 1:  # the rows of one record: a tenth of what follows
            (code,) = codes.tolist()
            if code < 0:
                return np.zeros(1, np.int64)
            self.open([code])
            return self._rows[codes]
        if len(codes) and codes.min() >= 0 and (rows := self._rows.take(codes)).all():
            return rows
        valid = np.maximum(codes, 0)
        rows = self._rows[valid]
        missing = (rows == 0) & (codes >= 0)
        if missing.any():
            new, places = np.unique(codes[missing], return_index=True)
            self._open(new[np.argsort(places)].tolist())
            rows = self._rows[valid]
        return np.where(codes >= 0, rows, 0)

    def of_one(self, code: int) -> int:
        """The row of one code, opened if there is none; 0 for NULL."""
        if 0 <= code < len(self._cells) and (row := self._cells[code]):
            return row
        return int(self.of(np.array([code]))[0])

    def first_places(self, codes: Ints) -> list[int]:
        """Where codes come first that have no row yet, in order."""
        if len(codes) and (codes == codes[0]).all():  # which costs far less than sorting
            return [0] if codes[0] >= 0 and not self.row(int(codes[0])) else []
        new, places = np.unique(codes, return_index=True)
        pairs = zip(new.tolist(), places.tolist(), strict=True)
        return sorted(place for code, place in pairs if code >= 0 and not self.row(code))

    def fit(self) -> None:
        """Have room for every string, also in the kernels, which look up strings of rows."""
        if len(self._strings) >= len(self._rows):
            self._open([])

    def is_even_with(self, other: KeyRows) -> bool:
        """Whether the same codes have the same rows here as there. O(keys)."""
        return self._key_codes == other._key_codes

    def follow(self, other: KeyRows) -> None:
        """Open what others that were even with these have opened since."""
        self.fit()
        if len(other._key_codes) > len(self._key_codes):
            self._open(other._key_codes[len(self._key_codes) :])

    def adopt(self, codes: Ints) -> None:
        """Learn the next keys, which others have opened."""
        first = len(self._key_codes)
        self._rows[codes] = np.arange(first, first + len(codes))
        self._key_codes += codes.tolist()

    def _open(self, codes: list[int]) -> None:
        known = len(self._strings)
        if known >= len(self._rows):
            wider = np.zeros(2 * known, np.int64)
            wider[: len(self._rows)] = self._rows
            self._take(wider)
        own = np.array(codes, np.int64)
        self.adopt(own)
        self._opened(own, len(self._rows))
