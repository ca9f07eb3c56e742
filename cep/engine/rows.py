"""Output rows of a run: raw arrays, decoded per stream, in one order.

The order: by input record, then depth first, as the file says. It depends on the records alone, so
runs that split the work by key and merge it again give the same bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from cep.engine.few_rows import FEW, StreamValues
from cep.engine.kernels.scalar import NULL
from cep.engine.kernels.state import (
    OUT_ATTRIBUTES,
    OUT_KEY,
    OUT_ORDER,
    OUT_STREAM,
    OUT_TIME,
    Floats,
    Ints,
)
from cep.engine.layout import Cell, Wide, attribute_cells, is_float, kept_cells, row_cells
from cep.engine.lines import encode, encode_plain
from cep.engine.output_rows import OutputRows, SingleRow
from cep.engine.row_dicts import dictionaries
from cep.engine.row_values import RowValues
from cep.engine.strings import Strings
from cep.plan.nodes import Origin, Plan, Stream
from cep.plan.types import Attribute, Schema, Type

Row = dict[str, Any]


class Rows(msgspec.Struct, eq=False):
    """Output rows in order; `lists` holds arrangement and events of complex events.

    Cells of objects hold places in `objects`. A Struct, as `OutputRows` are.
    """

    decoder: Decoder
    raw: OutputRows
    objects: Sequence[Any] = ()

    def __len__(self) -> int:
        raw = self.raw
        return 1 if type(raw) is SingleRow else len(raw)

    @property
    def ints(self) -> Ints:
        """Whole numbers, codes and places, a row each."""
        return self.raw.ints

    @property
    def floats(self) -> Floats:
        """Reals, a row each."""
        return self.raw.floats

    @property
    def lists(self) -> Ints:
        """What rows name by its place here."""
        return self.raw.lists

    @property
    def orders(self) -> Ints:
        """The place in the total order of the record that caused each row."""
        return self.ints[:, OUT_ORDER]

    def dicts(self) -> list[Row]:
        """The rows as `{"stream", "time_msc", "kind", ...attributes}`."""
        return self.decoder.dicts(self)

    def json_lines(self) -> Iterator[bytes]:
        """The rows as JSON objects, a line each, without line ends."""
        return map(encode if self.objects else encode_plain, self.dicts())

    def places(self, streams: Collection[str]) -> Ints:
        """Where the rows of some streams stand."""
        return np.flatnonzero(self.decoder.mask(streams)[self.ints[:, OUT_STREAM]])

    def of(self, stream: str) -> list[Row]:
        """The rows of one stream."""
        return [row for row in self.dicts() if row["stream"] == stream]


class Decoder:
    """Turns raw rows into values; work per stream is columnar."""

    def __init__(
        self,
        plan: Plan,
        streams: dict[int, str],
        strings: Strings,
        wide: Mapping[int, Wide] | None = None,
    ) -> None:
        self.plan = plan
        self.names = streams
        self.streams = {stream.name: stream for stream in plan.streams}
        self._attributes = {stream.name: stream.schema.names for stream in plan.streams}
        self.strings = strings
        self.wide = wide or {}
        self.key_codes: list[int] = [NULL]
        self._readers: dict[int, RowValues | None] = {}
        """Of single rows, by the number of their stream."""
        self._values: dict[int, StreamValues] = {}
        self._masks: dict[frozenset[str], NDArray[np.bool_]] = {}

    def mask(self, streams: Collection[str]) -> NDArray[np.bool_]:
        """By the number of a stream, whether it is one of these; found once for the same ones."""
        wanted = frozenset(streams)
        if wanted not in self._masks:
            mask = np.zeros(max(self.names, default=0) + 1, np.bool_)
            mask[[number for number, name in self.names.items() if name in wanted]] = True
            self._masks[wanted] = mask
        return self._masks[wanted]

    def dicts(self, rows: Rows) -> list[Row]:
        """The rows as `{"stream", "time_msc", "kind", ...attributes}`."""
        raw = rows.raw
        if type(raw) is SingleRow and (reader := self._reader(raw)):
            return [reader.dict(raw.row, rows.objects)]
        return self._few(rows) if len(rows) <= FEW else self._many(rows)

    def _few(self, rows: Rows) -> list[Row]:
        found, lists, objects = [], rows.lists, rows.objects
        for ints, floats in zip(rows.ints.tolist(), rows.floats.tolist(), strict=True):
            values = self._values.get(ints[OUT_STREAM])
            if values is None:
                stream = self.streams[self.names[ints[OUT_STREAM]]]
                values = StreamValues(stream, self.strings, self.key_codes)
                self._values[ints[OUT_STREAM]] = values
            found.append(values.row(ints, floats, lists, objects))
        return found

    def _many(self, rows: Rows) -> list[Row]:
        found: list[Row] = [{}] * len(rows)
        for stream, places in self._by_stream(rows):
            name, times = stream.name, rows.ints[places, OUT_TIME].tolist()
            names = self._attributes[name]
            empty: Row = {"stream": name, "time_msc": 0, "kind": "current", **dict.fromkeys(names)}
            columns = (times, *self.columns(stream, rows, places))
            made = dictionaries(empty, ("time_msc", *names), columns)
            if len(made) == len(rows):
                return made  # those of one stream stand in order
            for place, row in zip(places.tolist(), made, strict=True):
                found[place] = row
        return found

    def _reader(self, raw: SingleRow) -> RowValues | None:
        """What reads a row that came alone; None where it is none of a source or query."""
        number = memoryview(raw.row).cast("q")[OUT_STREAM]
        if number not in self._readers:
            stream = self.streams[self.names[number]]
            is_plain = stream.origin not in (Origin.EVENT, Origin.COMPLEX)
            reader = RowValues(stream, raw.width, self.strings) if is_plain else None
            self._readers[number] = reader
        return self._readers[number]

    def values(self, rows: Rows) -> list[tuple[Any, ...]]:
        """The attributes of each row."""
        found: list[tuple[Any, ...]] = [()] * len(rows)
        for stream, places in self._by_stream(rows):
            columns = self.columns(stream, rows, places)
            for place, values in zip(places.tolist(), zip(*columns, strict=True), strict=True):
                found[place] = values
        return found

    def _by_stream(self, rows: Rows) -> Iterator[tuple[Stream, Ints]]:
        """Each stream that has rows, and their places."""
        numbers = rows.ints[:, OUT_STREAM]
        is_one = len(numbers) > 0 and bool((numbers == numbers[0]).all())
        for number in [int(numbers[0])] if is_one else set(numbers.tolist()):
            yield self.streams[self.names[number]], np.flatnonzero(numbers == number)

    def columns(self, stream: Stream, rows: Rows, places: Ints) -> list[list[Any]]:
        """The values of each attribute of a stream's rows."""
        match stream.origin:
            case Origin.EVENT:
                return self._event(rows, places)
            case Origin.COMPLEX:
                return self._complex(stream, rows, places)
            case _:
                return self._cells(stream, rows, places)

    def _cells(self, stream: Stream, rows: Rows, places: Ints) -> list[list[Any]]:
        return self._decoded(attribute_cells(stream.schema), rows, places)

    def _decoded(
        self, cells: tuple[tuple[Attribute, Cell], ...], rows: Rows, places: Ints
    ) -> list[list[Any]]:
        """The values of these attributes of rows."""
        return [
            self.decoded(attribute.type, _column(cell, rows, places), rows.objects)
            for attribute, cell in cells
        ]

    def cells(self, schema: Schema, rows: Rows, places: Ints) -> list[NDArray[Any]]:
        """The raw attributes of rows of a source or query stream."""
        return [_column(cell, rows, places) for cell in row_cells(schema)]

    def decoded(self, type_: Type, column: NDArray[Any], objects: Sequence[Any]) -> list[Any]:
        """The values of a column of cells. Mostly none is null, which arrays tell at once."""
        values: list[Any] = column.tolist()
        if is_float(type_):
            if np.isfinite(column).all():
                return values
            return [value if isfinite(value) else None for value in values]
        if type_ is Type.STRING:
            return self.strings.texts(values)
        if type_ in (Type.OBJECT, Type.LIST):
            return [objects[place] for place in values]
        if type_ is Type.BOOL:
            return [None if value == NULL else bool(value) for value in values]
        if not (column == NULL).any():
            return values
        return [None if value == NULL else value for value in values]

    def keys(self, rows: Rows, places: Ints) -> list[str | None]:
        """The key of each row, None where it has none."""
        codes = self.key_codes
        return self.strings.texts(codes[k] for k in rows.ints[places, OUT_KEY].tolist())

    def _event(self, rows: Rows, places: Ints) -> list[list[Any]]:
        number, seq = (rows.ints[places, OUT_ATTRIBUTES + i].tolist() for i in range(2))
        return [self.keys(rows, places), number, seq]

    def _complex(self, stream: Stream, rows: Rows, places: Ints) -> list[list[Any]]:
        number, first, lists, n = (rows.ints[places, OUT_ATTRIBUTES + i].tolist() for i in range(4))
        spans = list(zip(lists, n, strict=True))
        arrangements = [rows.lists[at : at + k].tolist() for at, k in spans]
        events = [rows.lists[at + k : at + 2 * k].tolist() for at, k in spans]
        kept = self._decoded(kept_cells(stream.schema), rows, places)
        return [self.keys(rows, places), number, first, arrangements, events, *kept]


def _column(cell: Cell, rows: Rows, places: Ints) -> NDArray[Any]:
    return (rows.floats if cell.is_float else rows.ints)[places, cell.column]
