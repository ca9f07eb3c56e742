"""Ticks of an account's symbols, as columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Ticks:
    """Ticks in order: rows of their symbols, and `order`, their places in the total order."""

    symbol: Ints
    order: Ints
    time_msc: Ints
    bid: Floats
    ask: Floats

    def __len__(self) -> int:
        return len(self.order)

    def joined(self, more: Ticks) -> Ticks:
        """These, then more."""
        return Ticks(
            np.concatenate([self.symbol, more.symbol]),
            np.concatenate([self.order, more.order]),
            np.concatenate([self.time_msc, more.time_msc]),
            np.concatenate([self.bid, more.bid]),
            np.concatenate([self.ask, more.ask]),
        )

    def part(self, at: slice | Ints | NDArray[np.bool_]) -> Ticks:
        """Some of them."""
        return Ticks(self.symbol[at], self.order[at], self.time_msc[at], self.bid[at], self.ask[at])

    def by_symbol(self) -> dict[int, Ints]:
        """The places in these columns of each symbol's ticks, by its row."""
        if not len(self):
            return {}
        first = int(self.symbol[0])
        if (self.symbol == first).all():
            return {first: np.arange(len(self))}
        by_row = np.argsort(self.symbol.astype(np.int32), kind="stable")
        rows, starts = np.unique(self.symbol[by_row], return_index=True)
        return dict(zip(rows.tolist(), np.split(by_row, starts[1:]), strict=True))
