"""Codes of columns of texts: of those that have been met before, by machine code.

Mostly a column has few texts, each of them many times: symbols, sides, names of sources.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from cep.engine.entry import address_of, called
from cep.engine.kernels import texts as kernels
from cep.engine.kernels.state import Ints
from cep.engine.kernels.texts import look_up
from cep.engine.machine_code import MachineCode
from cep.engine.strings import Coded, Strings, one_chunk

FEW = 64
"""Fewer texts are as fast by Arrow."""
MOST = 256
"""So many texts of a column are known at most: who has more of them mostly has ever new ones."""
CODE = MachineCode(look_up)


class TextCodes:
    """Finds the codes of the columns of one run; unless it `waits`, by Arrow alone until there is
    machine code.
    """

    def __init__(self, strings: Strings, *, waits: bool) -> None:
        self._strings = strings
        self._waits = waits
        self._look_up: Callable[[int], int] | None = None
        self._known: dict[str, KnownTexts] = {}

    def coded(self, column: pa.Array | pa.ChunkedArray, name: str) -> Coded | Ints:
        """What `Strings.coded` gives, or the codes as they are."""
        column = one_chunk(column)
        if column.type != pa.string() or column.null_count or not self._is_there(len(column)):
            return self._strings.coded(column, name)
        assert self._look_up is not None
        known = self._known.setdefault(name, KnownTexts(self._look_up))
        codes = known.codes(column)
        if codes is not None:
            return codes
        coded = self._strings.coded(column, name)
        assert isinstance(coded, Coded)
        known.learn(coded.codes, self._strings)
        return coded

    def _is_there(self, n: int) -> bool:
        """Whether there is machine code, and texts enough for it."""
        if n < FEW:
            return False
        if self._look_up is None and (self._waits or CODE.is_there(n)):
            CODE.make()
            self._look_up = called(CODE.enter)
        return self._look_up is not None


class KnownTexts:
    """Texts of a column, at most `MOST` and none of them long, and their codes."""

    def __init__(self, look_up: Callable[[int], int]) -> None:
        self._look_up = look_up
        self._codes: set[int] = set()
        self._is_used = True
        self._known: Ints = np.zeros(4 * MOST * kernels.TEXT, np.int64)

    def codes(self, column: pa.StringArray) -> Ints | None:
        """The code of each; None where one is not known."""
        if not self._is_used or not self._codes:
            return None
        codes = np.empty(len(column), np.int64)
        return codes if self._run(column, codes, learns=False) == len(column) else None

    def learn(self, codes: Ints, strings: Strings) -> None:
        """Know the texts of some codes, too; of a column that has other texts none any more."""
        new = sorted({*codes.tolist()} - self._codes)
        self._codes.update(new)
        if len(self._codes) > MOST:
            self._is_used = False
        elif self._is_used:
            texts = pa.array(strings.texts(new), pa.string())
            self._is_used = self._run(texts, np.array(new, np.int64), learns=True) == len(new)

    def _run(self, column: pa.StringArray, codes: Ints, *, learns: bool) -> int:
        """Run the kernel on a column without nulls; how many texts it got through."""
        _, places, texts = column.buffers()
        first = column.offset * np.dtype(np.int32).itemsize
        table = np.array([
            len(column), places.address + first,
            0 if texts is None else texts.address, 0 if texts is None else texts.size,
            address_of(codes), address_of(self._known), len(self._known), learns,
        ], np.int64)  # fmt: skip
        return self._look_up(address_of(table))
