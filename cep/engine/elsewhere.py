"""Rows that another engine has made of the records: they have the clocks of those.

Both stand in one batch, each made row under the place of its record in the order of all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cep.engine.clocks import Clocks
from cep.engine.kernels.state import OUT_CLOCK, OUT_ORDER, OUT_STREAM, Ints
from cep.engine.layout import StreamIds
from cep.plan.nodes import Plan

Bools = NDArray[np.bool_]


class Elsewhere:
    """What other engines make of the records of one run."""

    def __init__(self, plan: Plan, ids: StreamIds, cells: int) -> None:
        """`cells` is how many clocks a row has beside its own, in its last columns."""
        self._is_made = np.zeros(len(ids), np.bool_)
        made = [ids.of(one.name) for one in plan.sources if one.elsewhere is not None]
        self._is_made[made] = True
        self._is_any = bool(made)
        self._cells = cells

    def mark(self, clocks: Clocks, ints: Ints) -> None:
        """Write the clocks of rows; those that are made take them from their record."""
        is_made = self._among(ints)
        if is_made is None:
            clocks.mark(ints)
            return
        records = ints[~is_made]
        clocks.mark(records)
        ints[~is_made] = records
        orders = ints[:, OUT_ORDER]
        causes = np.searchsorted(orders[~is_made], orders[is_made])
        columns = [OUT_CLOCK, *range(ints.shape[1] - self._cells, ints.shape[1])]
        ints[np.ix_(is_made, columns)] = records[np.ix_(causes, columns)]

    def _among(self, ints: Ints) -> Bools | None:
        """Which rows are made; None where no row is."""
        if not self._is_any:
            return None
        is_made: Bools = self._is_made[ints[:, OUT_STREAM]]
        return is_made if is_made.any() else None
