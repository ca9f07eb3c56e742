"""Rows that another engine has made of the records: they have the clocks of those.

Both stand in one batch, each made row under the place of its record in the order of all. A run may
give the rows of a batch numbers of their own, so that what follows from each stays behind it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from cep.engine.clocks import Clocks
from cep.engine.kernels.state import OUT_CLOCK, OUT_ORDER, OUT_STREAM, Ints
from cep.engine.layout import StreamIds
from cep.engine.machine.kernels.streams import OF_TIME
from cep.engine.stages import KEYED, TIMED
from cep.plan.nodes import Plan

Bools = NDArray[np.bool_]


class Elsewhere:
    """What other engines make of the records of one run, and the numbers of its rows."""

    def __init__(self, plan: Plan, ids: StreamIds, cells: int) -> None:
        """`cells` is how many clocks a row has beside its own, in its last columns."""
        self._is_made = np.zeros(len(ids), np.bool_)
        made = [ids.of(one.name) for one in plan.sources if one.elsewhere is not None]
        self._is_made[made] = True
        self._is_any = bool(made)
        self._cells = cells
        self._orders: Ints | None = None
        self._first = 0

    @contextmanager
    def numbered(self, orders: Ints, first: int) -> Iterator[None]:
        """Meanwhile rows have numbers from `first` on, and in `orders` their places."""
        self._orders, self._first = orders, first
        try:
            yield
        finally:
            self._orders = None

    def _places(self, numbers: Ints) -> Ints:
        """The places in the order of all of rows that have numbers."""
        return numbers if self._orders is None else self._orders[numbers - self._first]

    def mark(self, clocks: Clocks, ints: Ints) -> None:
        """Write the clocks of rows; those that are made take them from their record."""
        is_made = self._among(ints)
        if is_made is None:
            clocks.mark(ints)
            return
        records = ints[~is_made]
        clocks.mark(records)
        ints[~is_made] = records
        orders = self._places(ints[:, OUT_ORDER])
        causes = np.searchsorted(orders[~is_made], orders[is_made])
        columns = [OUT_CLOCK, *range(ints.shape[1] - self._cells, ints.shape[1])]
        ints[np.ix_(is_made, columns)] = records[np.ix_(causes, columns)]

    def records(self, ints: Ints, numbers: Ints) -> tuple[Ints, Ints]:
        """The records among rows, and which of them the rows of `numbers` follow from.

        A record has the number of the first row that has its place.
        """
        is_made = self._among(ints)
        if is_made is None:
            return ints, np.searchsorted(ints[:, OUT_ORDER], numbers)
        records, orders = ints[~is_made], self._places(ints[:, OUT_ORDER])
        records[:, OUT_ORDER] = ints[np.searchsorted(orders, orders[~is_made]), OUT_ORDER]
        return records, np.searchsorted(orders[~is_made], self._places(numbers))

    def phases(self, ints: Ints) -> Ints:
        """The stage of each row that one engine has made of all rules: whether time alone did, for
        those who put rows of other engines in between.
        """
        if not self._is_any:
            return np.full(len(ints), KEYED)
        return np.where(ints[:, OUT_CLOCK] == OF_TIME, TIMED, KEYED)

    def _among(self, ints: Ints) -> Bools | None:
        """Which rows are made; None where no row is."""
        if not self._is_any:
            return None
        is_made: Bools = self._is_made[ints[:, OUT_STREAM]]
        return is_made if is_made.any() else None
