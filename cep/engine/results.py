"""Results column by column, as they came out of a run: nothing is decoded that nobody asks for."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import pairwise, repeat
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cep.engine.kernels.state import OUT_ATTRIBUTES, OUT_STREAM, OUT_TIME, Ints
from cep.engine.layout import Wide, is_float
from cep.engine.rows import Rows
from cep.plan.types import Schema

Result: TypeAlias = tuple[str, int, tuple[str, ...], tuple[Any, ...]]
"""A row: its stream, time in ms, names, values."""


@dataclass(frozen=True, slots=True)
class Column:
    """The rows of one stream: places of the records that caused them, times in ms, raw cells.

    `rows` are their places among all, `within` those in a wide row.
    """

    stream: str
    schema: Schema
    rows: Ints
    within: Ints
    orders: Ints
    times: Ints
    cells: tuple[NDArray[Any], ...]


class Results:
    """Rows of a run, wide ones among them; `len` is how many rows these stand for.

    With `streams` they are the rows of these alone.
    """

    def __init__(self, rows: Rows, streams: Collection[str] | None = None) -> None:
        self.rows = rows
        self._streams = streams

    def __len__(self) -> int:
        if self._streams is not None:
            return sum(len(column.rows) for column in self.columns())
        rows = self.rows
        total = len(rows)
        for number, wide in rows.decoder.wide.items():
            places = np.flatnonzero(rows.ints[:, OUT_STREAM] == number)
            more = len(wide) * len(places)
            if wide.packed:
                more = int(rows.lists[rows.ints[places, OUT_ATTRIBUTES]].sum())
            total += more - len(places)
        return total

    def columns(self) -> Iterator[Column]:
        """The rows of each stream, each in order; streams without a row are left out."""
        return (c for c in self._columns() if self._streams is None or c.stream in self._streams)

    def _columns(self) -> Iterator[Column]:
        decoder = self.rows.decoder
        for number in np.unique(self.rows.ints[:, OUT_STREAM]).tolist():
            places = np.flatnonzero(self.rows.ints[:, OUT_STREAM] == number)
            if number in decoder.wide:
                yield from self._wide(decoder.wide[number], places)
                continue
            stream = decoder.streams[decoder.names[number]]
            cells = tuple(decoder.cells(stream.schema, self.rows, places))
            within = np.zeros(len(places), np.int64)
            yield self._column(stream.name, stream.schema, places, within, cells)

    def _wide(self, wide: Wide, places: Ints) -> Iterator[Column]:
        first = self.rows.ints[places, OUT_ATTRIBUTES]
        if wide.packed:
            yield from self._packed(wide, places, first)
            return
        width = len(wide.schema)
        for member, stream in enumerate(wide.streams):
            cells = self._values(wide.schema, first + member * width)
            within = np.full(len(places), member)
            yield self._column(stream, wide.schema, places, within, cells)

    def _packed(self, wide: Wide, places: Ints, first: Ints) -> Iterator[Column]:
        width, counts = 1 + len(wide.schema), self.rows.lists[first]
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        places_within = within
        if wide.backward:
            places_within = np.repeat(counts, counts) - 1 - within
        cells = np.repeat(first + 1, counts) + places_within * width
        places = np.repeat(places, counts)
        members = self.rows.lists[cells]
        order = np.argsort(members, kind="stable")
        ends = np.searchsorted(members[order], np.arange(len(wide) + 1))
        for member, (start, stop) in enumerate(pairwise(ends.tolist())):
            chosen = order[start:stop]
            if len(chosen):
                values = self._values(wide.schema, cells[chosen] + 1)
                stream = wide.streams[member]
                yield self._column(stream, wide.schema, places[chosen], within[chosen], values)

    def _values(self, schema: Schema, first: Ints) -> tuple[NDArray[Any], ...]:
        """The values of wide rows that begin at these places of the lists."""
        columns = (self.rows.lists[first + number] for number in range(len(schema)))
        return tuple(
            column.view(np.float64) if is_float(attribute.type) else column
            for attribute, column in zip(schema.attributes, columns, strict=True)
        )

    def _column(
        self,
        stream: str,
        schema: Schema,
        places: Ints,
        within: Ints,
        cells: tuple[NDArray[Any], ...],
    ) -> Column:
        orders, times = self.rows.orders[places], self.rows.ints[places, OUT_TIME]
        return Column(stream, schema, places, within, orders, times, cells)

    def decoded(self, column: Column) -> list[list[Any]]:
        """The attributes of the rows of a stream as values, None where there is none."""
        decoder, objects = self.rows.decoder, self.rows.objects
        types = [attribute.type for attribute in column.schema.attributes]
        return [
            decoder.decoded(type_, cells, objects)
            for type_, cells in zip(types, column.cells, strict=True)
        ]

    def in_order(self) -> list[Result]:
        """All rows: (stream, time in ms, names, values)."""
        return [row for _, row in self.placed()]

    def placed(self) -> list[tuple[int, Result]]:
        """The same, each with the place of the record that caused it."""
        found = []
        for one in self.columns():
            names = one.schema.names
            rows = zip(*self.decoded(one), strict=True) if names else repeat(())
            keys = zip(one.rows.tolist(), one.within.tolist(), strict=True)
            told = zip(keys, one.orders.tolist(), one.times.tolist(), rows, strict=False)
            for key, order, time, values in told:
                found.append((key, (order, (one.stream, time, names, values))))
        found.sort(key=lambda row: row[0])
        return [row for _, row in found]
