"""Rows of source streams: as columns that fit, and as the engine takes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cep.engine.columns import finite
from cep.engine.kernels.scalar import NULL
from cep.engine.kernels.state import OUT_KEY, OUT_ORDER, OUT_STREAM, OUT_TIME, Floats, Ints
from cep.engine.layout import Cell
from cep.engine.strings import Coded


@dataclass(frozen=True, slots=True)
class InputRows:
    """Encoded source rows in total order: `ints[n, ..]`, `floats[n, ..]`."""

    ints: Ints
    floats: Floats

    def __len__(self) -> int:
        return len(self.ints)

    def part(self, start: int, stop: int) -> InputRows:
        """Rows of these places, without a copy."""
        return InputRows(self.ints[start:stop], self.floats[start:stop])

    @classmethod
    def merge(cls, parts: Sequence[InputRows]) -> InputRows:
        """One total order of several streams' rows: by order, then by place among the parts."""
        if len(parts) == 1:
            return parts[0]
        ints = np.concatenate([part.ints for part in parts])
        floats = np.concatenate([part.floats for part in parts])
        places = np.argsort(ints[:, OUT_ORDER], kind="stable")
        return cls(ints.take(places, axis=0), floats.take(places, axis=0))


@dataclass(frozen=True, slots=True)
class Given:
    """Rows of one stream, n of them, as columns that fit it: `times[n]` in ms UTC, `orders[n]` or
    places that count on, and what each cell of a row gets, `columns[cells][n]`.
    """

    stream: int
    times: Ints
    orders: Ints | range
    cells: Sequence[Cell]
    columns: Sequence[NDArray[Any] | Coded]
    key: int | None
    """Which of the columns is the key."""

    def __len__(self) -> int:
        return len(self.times)

    def rows(self, widths: tuple[int, int]) -> InputRows:
        """The rows, with key codes and without clocks; `cep.engine.intake` writes the same."""
        n = len(self)
        ints = np.zeros((n, widths[0]), np.int64)
        floats = np.zeros((n, widths[1]), np.float64)
        ints[:, OUT_ORDER] = self.orders
        ints[:, OUT_STREAM] = self.stream
        ints[:, OUT_TIME] = self.times
        ints[:, OUT_KEY] = NULL
        for place, (cell, column) in enumerate(zip(self.cells, self.columns, strict=True)):
            values: NDArray[Any] = column.values() if isinstance(column, Coded) else column
            if cell.is_float:
                floats[:, cell.column] = finite(values)
            else:
                ints[:, cell.column] = values
            if place == self.key:
                ints[:, OUT_KEY] = values
        return InputRows(ints, floats)
