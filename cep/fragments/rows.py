"""The rows that go between records, a database and our engine; no database is needed for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from cep.engine.columns import Column
from cep.engine.kernels.state import Ints
from cep.engine.rows import Row

DerivedRow: TypeAlias = tuple[str, int, int, tuple[Any, ...]]
"""A row that the database has made: stream, place of the event behind it, time in ms, values."""

Line: TypeAlias = tuple[tuple[int, int, int], Row]
"""A row of output and its place: the record behind it, whether time made it in front of that
(0) or the record did (1), the stream's rank."""


@dataclass(frozen=True, slots=True)
class StreamRows:
    """Rows of one source stream: places in the total order, times in ms, attributes by name."""

    stream: str
    orders: Ints
    times: Ints
    columns: Mapping[str, Column]

    def between(self, after: int, last: int | None = None) -> StreamRows:
        """The rows that come after a place, up to the last one if that is given."""
        first = int(np.searchsorted(self.orders, after, side="right"))
        stop = None if last is None else int(np.searchsorted(self.orders, last, side="right"))
        columns = {name: column[first:stop] for name, column in self.columns.items()}
        return StreamRows(self.stream, self.orders[first:stop], self.times[first:stop], columns)
