"""Machine code as Python enters it: for many rows at once, and, by the shortest way, for one."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cep.engine.input_rows import InputRows
from cep.engine.jit import Addressed
from cep.engine.kernels.addressed import (
    ARRAY_WORDS,
    ARRAYS,
    CLOCKS,
    CLOCKS_LENGTH,
    OTHERS,
    ROW_FLOATS,
    ROW_INTS,
    START,
    STOP,
    TABLE,
)

ENTERED = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)


class Entry:
    """Runs machine code on arrays, which must outlive the call: the caller sees to that."""

    def __init__(self, enter: Addressed) -> None:
        self._table = np.zeros(TABLE, np.int64)
        # single cells are written far faster through a memoryview than through an array
        self._cells: memoryview[int] = self._table.data.cast("B").cast("q")
        self._at = address_of(self._table)
        self._arrays: Sequence[NDArray[Any]] = ()
        self._row: InputRows | None = None
        self._clocks: NDArray[np.int64] | None = None
        self._run_row: Callable[[int], int] = _made(enter).entry_point
        """As a call of Python, which keeps the interpreter's lock: no call costs less."""
        self._run = called(enter)

    def run(self, start: int, stop: int, rows: InputRows, arrays: Sequence[NDArray[Any]]) -> int:
        """Run rows whose clocks are known; what the code returns, mostly the first row not done."""
        cells = self._cells
        self._note(rows, arrays)
        cells[START], cells[STOP], cells[CLOCKS] = start, stop, 0
        self._row = None
        return self._run(self._at)

    def run_row(
        self,
        row: InputRows,
        arrays: Sequence[NDArray[Any]],
        clocks: NDArray[np.int64] | None = None,
    ) -> int:
        """Run one row; with `clocks` it is given its own. Fast where all are as they were."""
        if row is not self._row or arrays is not self._arrays or clocks is not self._clocks:
            cells = self._cells
            self._note(row, arrays)
            cells[START], cells[STOP], cells[CLOCKS] = 0, 1, 0
            if clocks is not None:
                cells[CLOCKS], cells[CLOCKS_LENGTH] = address_of(clocks), len(clocks)
            self._row, self._clocks = row, clocks
        return self._run_row(self._at)

    def _note(self, rows: InputRows, arrays: Sequence[NDArray[Any]]) -> None:
        self._note_array(ROW_INTS, rows.ints)
        self._note_array(ROW_FLOATS, rows.floats)
        if arrays is not self._arrays:
            for number, array in enumerate(arrays, OTHERS):
                self._note_array(number, array)
            self._arrays = arrays

    def _note_array(self, number: int, array: NDArray[Any]) -> None:
        assert array.flags.c_contiguous, "machine code takes rows that lie behind each other"
        at = ARRAYS + number * ARRAY_WORDS
        self._cells[at] = address_of(array)
        for dimension, length in enumerate(array.shape, at + 1):
            self._cells[dimension] = length


def called(enter: Addressed) -> Callable[[int], int]:
    """Machine code as a call of C, while other threads of Python go on."""
    made = _made(enter)
    name = made.fndesc.llvm_cfunc_wrapper_name
    return ENTERED(made.library.get_pointer_to_function(name))


def _made(enter: Addressed) -> Any:
    (made,) = enter.code.overloads.values()
    return made


def address_of(array: NDArray[Any]) -> int:
    """The address of an array's first item."""
    return int(array.__array_interface__["data"][0])
