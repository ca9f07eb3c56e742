"""Ticks that an account has not passed yet, read as they are asked for."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cep.backtest.ticks import Ticks


class TickQueue:
    """Ticks in the total order, from the first that is not forgotten."""

    def __init__(self, ticks: Iterator[Ticks]) -> None:
        self._source = ticks
        self._held = _nothing()

    def between(self, after: int, until: int, most: int | None = None) -> Ticks:
        """The ticks behind a place, up to another: all, or the next `most` and those at the place
        of the last of them.
        """
        self._read(until)
        start, end = self._count(after), self._count(until)
        if most is not None and end - start > most:
            end = self._count(int(self._held.order[start + most - 1]))
        return self._held.part(slice(start, end))

    def forget(self, until: int) -> None:
        """Nobody asks for ticks up to this place any more."""
        self._held = self._held.part(slice(self._count(until), None))

    def _read(self, until: int) -> None:
        while not len(self._held) or self._held.order[-1] <= until:
            more = next(self._source, None)
            if more is None:
                return
            self._held = Ticks.joined([self._held, more])

    def _count(self, until: int) -> int:
        return int(self._held.order.searchsorted(until, side="right"))


def _nothing() -> Ticks:
    none = np.empty(0, np.int64)
    return Ticks(none, none, none, np.empty(0), np.empty(0))
