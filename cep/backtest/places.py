"""Where times stand among the records of sorted history.

Imported ticks are numbered by their time (`INGEST_BITS`), so the first one that is not older than a
time is found by its number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from cep.archive.ingest import INGEST_BITS
from cep.archive.parts import int64
from cep.backtest.records import order_of, shown_tables
from cep.backtest.selection import Selection
from cep.engine.kernels.state import Ints
from cep.engine.part import EVER
from cep.plan.nodes import Plan


def at_times(cuts: Sequence[int]) -> list[int]:
    """Cuts of history, each moved to the beginning of its millisecond."""
    return sorted({cut >> INGEST_BITS << INGEST_BITS for cut in cuts})


def ends_msc(cuts: Sequence[int], selection: Selection) -> tuple[int, ...]:
    """Up to when time passes in each slice: to the millisecond in front of the cut, and in the last
    one to the end of what is selected. What comes due there behind the last record has no place.
    """
    return (*((cut >> INGEST_BITS) - 1 for cut in cuts), selection.interval_msc[1])


class Places:
    """The place in the order of the first record that is not older than a time, slice by slice.

    O(records) for all that is asked, of which it reads the numbers alone.
    """

    def __init__(self, selection: Selection, plan: Plan) -> None:
        self._selection, self._plan = selection, plan

    @cached_property
    def _ahead(self) -> list[_Ahead]:
        """Of each stream and symbol; nothing is read before somebody asks."""
        return [
            _Ahead(order_of(int64(table, "ingest"), stream.name) for table in tables)
            for stream in self._plan.sources
            for part in self._selection.by_symbol().values()
            for tables in (shown_tables(part, stream.name, set()),)
        ]

    def __call__(self, times_msc: Ints) -> Ints:
        """Of times in any order, none older than a slice before; `EVER`: no record is."""
        times, back = np.unique(times_msc, return_inverse=True)
        wanted = (times << INGEST_BITS) * 2
        first = np.min([one.first(wanted) for one in self._ahead], axis=0)
        places: Ints = first[back]
        return places


class _Ahead:
    """The places of the records of one stream and symbol, read as far as they are asked for."""

    def __init__(self, orders: Iterator[Ints]) -> None:
        self._rest = orders
        self._read: Ints | None = next(orders, None)

    def first(self, wanted: Ints) -> Ints:
        """The first place at or behind each of the wanted ones, which ascend; `EVER` if none is."""
        found = np.full(len(wanted), EVER)
        done = 0
        while done < len(wanted) and self._read is not None:
            at = np.searchsorted(self._read, wanted[done:])
            within = int(np.count_nonzero(at < len(self._read)))
            found[done : done + within] = self._read[at[:within]]
            done += within
            if done < len(wanted):
                self._read = next(self._rest, None)
        return found
