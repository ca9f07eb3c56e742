"""Ticks of an account's symbols, as columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cep.account.harsher import Harsher
from mt5bridge.broker import Record, Table

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
NOISE = 1e-6
"""Of a point: what a difference of prices may have lost."""
PRICE_DIGITS = 10
"""No price has more decimals."""


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

    def with_spreads(self, harsher: Harsher, points: Floats) -> Ticks:
        """The same bids, and asks as far above them as `harsher` says; `points` are sizes by row.

        A spread that becomes wider is rounded up to whole points; one that is not above 0 only
        gets the points that are added. Where a side is missing nothing changes.
        """
        point = points if len(points) == 1 else points[self.symbol]  # one is the same for all
        has_point = point > 0.0  # a pair that is only quoted has none, and stays
        point = np.where(has_point, point, 1.0)
        found = self.ask - self.bid
        found /= point
        if harsher.spread_factor != 1.0:
            wider = found * harsher.spread_factor
            wider -= NOISE
            np.copyto(found, np.ceil(wider, out=wider), where=found > NOISE)
        found += harsher.spread_points
        found *= point
        found += self.bid
        np.round(found, PRICE_DIGITS, out=found)
        is_quote = (self.bid > 0.0) & (self.ask > 0.0) & has_point
        if not is_quote.all():
            np.copyto(found, self.ask, where=~is_quote)
        return Ticks(self.symbol, self.order, self.time_msc, self.bid, found)


def joined(tables: Sequence[Table]) -> Table:
    """The rows of all, one at least: NumPy's way looks at each field of their type, which costs
    more than few rows do.
    """
    if len(tables) == 1:
        return tables[0]
    found = np.empty(sum(map(len, tables)), tables[0].dtype)
    at = 0
    for table in tables:
        found[at : at + len(table)] = table
        at += len(table)
    return found


def as_rows(table: Table) -> Iterator[Record]:
    """The rows, by the names of fields: plain values, which are read far faster than records'."""
    names = table.dtype.names or ()
    return (dict(zip(names, values, strict=True)) for values in table.tolist())


def by_row(rows: Ints) -> dict[int, Ints]:
    """The places in a column of each row number that it has."""
    if not len(rows):
        return {}
    first = int(rows[0])
    if (rows == first).all():
        return {first: np.arange(len(rows))}
    small = np.int16 if rows.max() <= np.iinfo(np.int16).max else np.int32
    places = np.argsort(rows.astype(small), kind="stable")  # 16 bits need no comparing
    found = rows[places]
    starts = np.flatnonzero(np.diff(found, prepend=found[0] - 1))
    return dict(zip(found[starts].tolist(), np.split(places, starts[1:]), strict=True))
