"""Columns of one stream into encoded rows, by machine code: what `Given.rows` does, in a fraction
of its time, and, where that is settled, key rows and clocks with it.

The code is the same for all rules and made once, within a second or two.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cep.engine.clocks import Clocks
from cep.engine.entry import address_of, called
from cep.engine.input_rows import Given, InputRows
from cep.engine.kernels import intake as kernels
from cep.engine.kernels.intake import take_in
from cep.engine.kernels.state import OUT_ATTRIBUTES, Floats, Ints
from cep.engine.key_rows import KeyRows
from cep.engine.machine_code import MachineCode
from cep.engine.strings import Coded

FEW = 64
"""Fewer rows are as fast by NumPy."""
CODE = MachineCode(take_in)


class Intake:
    """Writes the rows of one run, `widths` ints and floats wide.

    Unless it `waits`, NumPy writes them until there is machine code.
    """

    def __init__(self, widths: tuple[int, int], *, waits: bool) -> None:
        self._widths = widths
        self._waits = waits
        self._take_in: Callable[[int], int] | None = None
        self._table: Ints = np.zeros(kernels.HEAD, np.int64)
        self._room = InputRows(np.zeros((0, widths[0]), np.int64), np.zeros((0, widths[1])))

    def rows(self, given: Given) -> InputRows:
        """The rows, with key codes and without clocks."""
        rows = self._empty(len(given))
        is_written = self._is_there(len(given)) and self._write(given, rows) != kernels.REFUSED
        return rows if is_written else given.rows(self._widths)

    def assigned(
        self, given: Given, key_rows: KeyRows, clocks: Clocks | None
    ) -> tuple[InputRows, bool]:
        """The rows, and whether they have their key rows and clocks, of which the `clocks` then
        know; they stay until others are written.
        """
        n = len(given)
        if not self._is_there(n):
            return given.rows(self._widths), False
        if len(self._room) < n:
            self._room = self._empty(n)
        rows = self._room.part(0, n)
        key_rows.fit()
        made = self._write(given, rows, key_rows.rows, None if clocks is None else clocks.words)
        if made == kernels.REFUSED:
            return given.rows(self._widths), False
        return rows, made == kernels.ASSIGNED

    def _empty(self, n: int) -> InputRows:
        ints, floats = self._widths
        return InputRows(np.empty((n, ints), np.int64), np.empty((n, floats)))

    def _is_there(self, n: int) -> bool:
        """Whether there is machine code, and rows enough for it."""
        if n < FEW:
            return False
        if self._take_in is None and (self._waits or CODE.is_there(n)):
            CODE.make()
            self._take_in = called(CODE.enter)
        return self._take_in is not None

    def _write(
        self,
        given: Given,
        rows: InputRows,
        key_rows: Ints | None = None,
        clocks: Ints | None = None,
    ) -> int:
        """Write rows; with `key_rows` they are assigned, with `clocks` these are told."""
        table = self._head(given, rows, key_rows, clocks)
        kept = []  # what the table has addresses of
        for cell, column in zip(given.cells, given.columns, strict=True):
            if isinstance(column, Coded):
                values, codes = np.ascontiguousarray(column.places), column.codes
                table += [
                    kernels.TEXT,
                    address_of(values),
                    cell.column,
                    address_of(codes),
                    len(codes),
                ]
            else:
                values = column
                kind = kernels.REAL if cell.is_float else kernels.WHOLE
                table += [kind, address_of(values), cell.column, 0, 0]
            kept.append(values)
        if len(self._table) < len(table):
            self._table = np.zeros(len(table), np.int64)
        self._table[: len(table)] = table
        assert self._take_in is not None
        return self._take_in(address_of(self._table))

    def _head(
        self, given: Given, rows: InputRows, key_rows: Ints | None, clocks: Ints | None
    ) -> list[int]:
        reals = sum(cell.is_float for cell in given.cells)
        key = -1 if given.key is None else kernels.HEAD + given.key * kernels.COLUMN_WORDS
        orders = given.orders
        return [
            len(given), given.stream,
            orders.start if isinstance(orders, range) else 0,
            0 if isinstance(orders, range) else address_of(orders),
            address_of(given.times),
            address_of(rows.ints), rows.ints.shape[1],
            OUT_ATTRIBUTES + len(given.cells) - reals,
            address_of(rows.floats), rows.floats.shape[1], reals,
            key_rows is not None, key, *_place(key_rows), *_place(clocks), len(given.cells),
        ]  # fmt: skip


def _place(array: Ints | Floats | None) -> tuple[int, int]:
    """The address and the length of an array; nothing of none."""
    return (0, 0) if array is None else (address_of(array), len(array))
