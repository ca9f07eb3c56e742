"""Calling a compiled stage for one row: by address, without handing over every array.

A call from Python unpacks each of the state's arrays, which takes ten times as long as what most
rules do with a row. Here the addresses and shapes stand in a table that is filled in once, and the
stage is entered through a C function.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numba
import numpy as np
from numba import types

from cep.engine.encode import InputRows
from cep.engine.generated import load_module
from cep.engine.jit import cache_folder
from cep.engine.kernels import addressed
from cep.engine.kernels.state import Ints, State

FULL, DONE, OUTPUT = 0, 1, 2
"""What entering returns: no room for the row, or all done; OUTPUT is added when rows came out."""
WORDS = 4
"""Places of an array in the table: its address and up to three dimensions."""


SOURCE = '''\
"""Entering a stage for one row, by a table of addresses: generated, do not edit."""
from {addressed} import floats_1, floats_2, ints_1, ints_2, ints_3
from cep.engine.kernels.state import ROWS, State
from {module} import {name} as run


def enter(address):
    table = ints_1(address, ({words},))
    state = State({state})
    done = run(0, 1, {ints}, {floats}, state)
    return done + (2 if state.gi[0, ROWS] > 0 else 0)
'''


def _source(kernel: Any, row: InputRows, state: State) -> str:
    """The module whose function `enter` runs a kernel; its one argument is the table."""
    arrays = (*state, row.ints, row.floats)
    places = [_array(array, number * WORDS) for number, array in enumerate(arrays)]
    function = kernel.py_func
    return SOURCE.format(
        addressed=addressed.__name__,
        module=function.__module__,
        name=function.__name__,
        words=len(places) * WORDS,
        state=", ".join(places[:-2]),
        ints=places[-2],
        floats=places[-1],
    )


def _array(array: np.ndarray[Any, Any], first: int) -> str:
    kind = "ints" if array.dtype == np.int64 else "floats"
    shape = ", ".join(f"table[{first + 1 + place}]" for place in range(array.ndim))
    return f"{kind}_{array.ndim}(table[{first}], ({shape},))"


class Entry:
    """A stage that is entered row by row. The arrays must outlive it, which their run sees to."""

    def __init__(self, kernel: Any, row: InputRows, state: State) -> None:
        """Compiles what enters the kernel, or takes it from the cache."""
        enter = load_module(_source(kernel, row, state)).enter
        previous = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(cache_folder())
        try:
            compile_ = numba.cfunc(
                types.int64(types.int64), cache=True, _nrt=False, error_model="numpy"
            )
            self._compiled = compile_(enter)
        finally:
            numba.config.CACHE_DIR = previous
        # PYFUNCTYPE keeps the interpreter's lock: giving it up costs as much as the call
        self._call = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(self._compiled.address)
        self._table: Ints = np.zeros(0, np.int64)
        self._address = 0
        self._state: State | None = None
        self._row: InputRows | None = None

    def __call__(self, row: InputRows, state: State) -> int:
        """Feed one row; FULL or DONE, and whether there is OUTPUT."""
        if row is not self._row or state is not self._state:
            self._note(row, state)
        return self._call(self._address)

    def _note(self, row: InputRows, state: State) -> None:
        arrays = (*state, row.ints, row.floats)
        self._table = np.zeros(len(arrays) * WORDS, np.int64)
        for number, array in enumerate(arrays):
            first = number * WORDS
            self._table[first] = array.ctypes.data
            self._table[first + 1 : first + 1 + array.ndim] = array.shape
        self._address = self._table.ctypes.data
        self._row, self._state = row, state
