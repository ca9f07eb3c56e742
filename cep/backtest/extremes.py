"""The lowest and highest quotes of each symbol from one deal to another.

Between two of its deals only the extremes of a symbol's ticks are kept, so that a run over years
takes the room of its deals, and each trade asks for its own span afterwards.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from cep.backtest.ticks import Floats, Ints, Ticks


class _Stretches(NamedTuple):
    """Of consecutive ticks of a symbol: the number of the first, and the extremes of all."""

    number: Ints
    bid_low: Floats
    bid_high: Floats
    ask_low: Floats
    ask_high: Floats


class Extremes:
    """Learns ticks in batches; a span begins and ends where `take` was told of a cut."""

    def __init__(self) -> None:
        self._found: dict[int, list[_Stretches]] = defaultdict(list)

    def take(self, row: int, numbers: Ints, ticks: Ticks, cuts: Ints) -> None:
        """The next ticks of a symbol, at least one: their numbers rise over all batches.

        `cuts` are numbers of any ticks, in order, where a span may begin or end.
        """
        inner = np.searchsorted(numbers, cuts)
        starts = np.unique(np.concatenate([[0], inner[inner < len(numbers)]]))
        self._found[row].append(
            _Stretches(
                numbers[starts],
                np.minimum.reduceat(ticks.bid, starts),
                np.maximum.reduceat(ticks.bid, starts),
                np.minimum.reduceat(ticks.ask, starts),
                np.maximum.reduceat(ticks.ask, starts),
            )
        )

    def between(
        self, row: int, starts: Ints, ends: Ints, *, is_long: bool
    ) -> tuple[Floats, Floats]:
        """The worst and the best price for a side in each span of ticks, the end excluded.

        Long positions are worth the bid, short ones the ask. Spans without a tick have NaN.
        """
        parts = self._found.get(row)
        if not parts:
            nothing = np.full(len(starts), np.nan)
            return nothing, nothing.copy()
        all_ = _Stretches(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
        first, last = np.searchsorted(all_.number, starts), np.searchsorted(all_.number, ends)
        if is_long:
            return lowest(all_.bid_low, first, last), -lowest(-all_.bid_high, first, last)
        return -lowest(-all_.ask_high, first, last), lowest(all_.ask_low, first, last)


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
