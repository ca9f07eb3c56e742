"""Dictionary encoding of strings at the engine's edge: codes in order of first appearance."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cep.engine.kernels.scalar import NULL
from cep.engine.kernels.state import Ints


def one_chunk(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """A column in one piece, copied only where it is in several."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


class Coded(NamedTuple):
    """Codes `codes[places[n]]` of a column of texts."""

    codes: Ints
    places: NDArray[np.int32]

    def values(self) -> Ints:
        """The code of each."""
        return self.codes.take(self.places)


class Strings:
    """A growing two-way dictionary; code 0 is the first string interned."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self.values: list[str] = []
        self.codes: dict[str, int] = {}
        self._encoded: dict[str, tuple[pa.Array, Ints]] = {}
        """By column: the texts that it had last, and their codes."""
        for value in values:
            self.code(value)

    def __len__(self) -> int:
        return len(self.values)

    def code(self, value: str | None) -> int:
        """The code of a string, interned on first sight; `NULL` for None. O(1)."""
        if value is None:
            return NULL
        known = self.codes.get(value)
        if known is None:
            known = self.codes[value] = len(self.values)
            self.values.append(value)
        return known

    def known(self, texts: list[Any]) -> Ints | None:
        """Codes of texts, None if there is another value among them, or one that is not known.

        An array of texts takes ten times as long.
        """
        try:
            return np.fromiter(map(self.codes.__getitem__, texts), np.int64, len(texts))
        except (KeyError, TypeError):
            return None

    def coded(self, column: pa.Array | pa.ChunkedArray, name: str = "") -> Coded | Ints:
        """Codes of a column of strings; null is `NULL`. Python work only per distinct value, and
        none where the column of that name comes with the same dictionary again.
        """
        column = one_chunk(column)
        if not isinstance(column, pa.DictionaryArray):
            column = column.dictionary_encode()
        codes = self._codes_of(column.dictionary, name)
        if not column.null_count:
            places = column.indices.to_numpy(zero_copy_only=False)
            if places.dtype.itemsize > 4:
                return codes.take(places)
            return Coded(codes, places.astype(np.int32, copy=False))
        encoded: Ints = codes.take(column.indices.fill_null(0).to_numpy(zero_copy_only=False))
        encoded[column.is_null().to_numpy(zero_copy_only=False)] = NULL
        return encoded

    def _codes_of(self, texts: pa.Array, name: str) -> Ints:
        known = self._encoded.get(name)
        if known is not None and known[0].equals(texts):  # in a hundredth of the time
            return known[1]
        codes = np.array([self.code(text) for text in texts.to_pylist()] or [NULL], np.int64)
        self._encoded[name] = texts, codes
        return codes

    def text(self, code: int) -> str | None:
        return None if code < 0 else self.values[code]

    def texts(self, codes: Iterable[int]) -> list[str | None]:
        """The strings of many codes, None for `NULL`."""
        values = self.values
        return [None if code < 0 else values[code] for code in codes]
