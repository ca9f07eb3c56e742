"""What a sweep has found: all rows, the best, and how much of that is luck."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from cep.sweep.deflated import deflated
from cep.sweep.files import table
from cep.sweep.tried import Tried, ranked


@dataclass(frozen=True, slots=True)
class Found:
    """Rows in the order of their numbers; `wanted` is how many were to be tried."""

    rows: Sequence[Tried]
    wanted: int

    @property
    def run(self) -> list[Tried]:
        """Those whose rules could be run."""
        return [one for one in self.rows if not one.error]

    def best(self, by: str, count: int = 10) -> list[Tried]:
        """The best of them by a measure."""
        return ranked(self.run, by)[:count]

    def luck(self, by: str) -> float | None:
        """The deflated Sharpe ratio of the best, by the points of its trades; None where there is
        too little to tell.
        """
        found = self.best(by, 1)
        sharpes = [value for one in self.run if (value := one.measures["sharpe"]) is not None]
        return deflated(found[0].trade_points, sharpes, len(self.run)) if found else None

    def table(self) -> pa.Table:
        """A row for each, with a column for each parameter and measure."""
        return table([one.row() for one in self.rows])
