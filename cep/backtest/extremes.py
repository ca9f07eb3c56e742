"""The lowest and highest quotes of each symbol from one deal to another.

Between two of its deals only the extremes of a symbol's ticks are kept, so that a run over years
takes the room of its deals, and each trade asks for its own span afterwards.
"""

from __future__ import annotations

import numpy as np

from cep.backtest.ticks import Floats, Ints, by_row
from mt5bridge.broker import Table
from mt5bridge.broker.worth import STRETCH


class Extremes:
    """Learns stretches (`STRETCH`) in batches; a span begins and ends where one begins."""

    def __init__(self) -> None:
        self._found: list[Table] = [np.empty(0, STRETCH)]
        self._places: dict[int, Ints] | None = None

    def take(self, stretches: Table) -> None:
        """The next ones: of a symbol the numbers of ticks rise."""
        self._found.append(stretches)
        self._places = None

    def between(
        self, row: int, starts: Ints, ends: Ints, *, is_long: bool
    ) -> tuple[Floats, Floats]:
        """The worst and the best price for a side in each span of ticks, the end excluded.

        Long positions are worth the bid, short ones the ask. Spans without a tick have NaN.
        """
        if self._places is None:
            self._found = [np.concatenate(self._found)]
            self._places = by_row(self._found[0]["symbol"])
        own = self._found[0][self._places.get(row, np.zeros(0, np.int64))]
        first, last = np.searchsorted(own["number"], starts), np.searchsorted(own["number"], ends)
        if is_long:
            return lowest(own["bid_low"], first, last), -lowest(-own["bid_high"], first, last)
        return -lowest(-own["ask_high"], first, last), lowest(own["ask_low"], first, last)


def lowest(values: Floats, starts: Ints, ends: Ints) -> Floats:
    """The least of `values[start:end]` for each pair; NaN where that is empty.

    A span is covered by two windows of a power of two, whose minima are made of those half as wide.
    """
    found = np.full(len(starts), np.nan)
    lengths = ends - starts
    window, wide = values, 1
    while len(window) and (lengths >= wide).any():
        own = np.flatnonzero((lengths >= wide) & (lengths < 2 * wide))
        found[own] = np.minimum(window[starts[own]], window[ends[own] - wide])
        window = np.minimum(window[:-wide], window[wide:])
        wide *= 2
    return found
