"""Ticks of an account's symbols, as columns."""

from __future__ import annotations

from collections.abc import Sequence
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

    @classmethod
    def joined(cls, parts: Sequence[Ticks]) -> Ticks:
        """Those of several parts, at least one, in their order."""
        if len(parts) == 1:
            return parts[0]
        columns = ([getattr(part, name) for part in parts] for name in cls.__slots__)
        return cls(*map(np.concatenate, columns))

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
