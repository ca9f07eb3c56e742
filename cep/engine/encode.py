"""Source rows, columnar, to the engine's input rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set, Sized
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cep.engine.kernels.scalar import NULL
from cep.engine.kernels.state import (
    OUT_KEY,
    OUT_ORDER,
    OUT_STREAM,
    OUT_TIME,
    Floats,
    Ints,
)
from cep.engine.layout import StreamIds, row_cells
from cep.engine.strings import Strings, one_chunk
from cep.interpreter.arrow import BEYOND, inferred
from cep.plan.nodes import Plan, Stream
from cep.plan.types import Attribute, Type

Column: TypeAlias = pa.Array | pa.ChunkedArray | NDArray[Any] | Sequence[Any]
ARRAYS = (pa.ChunkedArray, pa.Array, np.ndarray)
REALS, WHOLES = (Type.FLOAT, Type.DOUBLE), (Type.INT, Type.LONG)


class InputError(ValueError):
    """Rows that do not fit their stream; the message names stream, column and remedy."""


@dataclass(frozen=True, slots=True)
class InputRows:
    """Encoded source rows in total order: `ints[n, ..]`, `floats[n, ..]`."""

    ints: Ints
    floats: Floats

    def __len__(self) -> int:
        return len(self.ints)

    def part(self, start: int, stop: int) -> InputRows:
        """Rows of these places, without a copy."""
        return InputRows(self.ints[start:stop], self.floats[start:stop])

    @classmethod
    def merge(cls, parts: Sequence[InputRows]) -> InputRows:
        """One total order of several streams' rows: by order, then by place among the parts."""
        if len(parts) == 1:
            return parts[0]
        ints = np.concatenate([part.ints for part in parts])
        floats = np.concatenate([part.floats for part in parts])
        places = np.argsort(ints[:, OUT_ORDER], kind="stable")
        return cls(ints.take(places, axis=0), floats.take(places, axis=0))


def need_times(stream: str, time_msc: Column) -> None:
    """InputError when there are times, in ms UTC, that records cannot have."""
    if len(time_msc) and np.min(time_msc) < 0:
        raise InputError(f"{stream}: times before 1970; give milliseconds UTC since 1970")


class Encoder:
    """Encodes columns by the schemas of a plan's source streams."""

    def __init__(
        self,
        plan: Plan,
        ids: StreamIds,
        strings: Strings,
        keys: Mapping[str, str],
        widths: tuple[int, int],
    ) -> None:
        """`keys` are the key attributes by source; rows of other sources have no key. `widths` are
        the columns of int and float rows.
        """
        self.plan = plan
        self.ids = ids
        self.strings = strings
        self.keys = keys
        self.widths = widths
        self.sources = {stream.name: stream for stream in plan.sources}
        self._cells = {stream.name: row_cells(stream.schema) for stream in plan.sources}
        self.objects: list[Any] = []
        """Values that are objects, until their rows are done; their cells hold places here."""

    def encode(
        self, stream: str, columns: Mapping[str, Column], time_msc: Column, order: Column
    ) -> InputRows:
        """Rows of one stream: a column per attribute, times in ms UTC, places in the total order.

        InputError when the stream is unknown or a column is missing or of another type or length.
        """
        source = self.source(stream)
        n = len(time_msc)
        need_times(stream, time_msc)
        ints = np.zeros((n, self.widths[0]), np.int64)
        floats = np.zeros((n, self.widths[1]), np.float64)
        ints[:, OUT_ORDER] = order
        ints[:, OUT_STREAM] = self.ids.of(stream)
        ints[:, OUT_TIME] = time_msc
        ints[:, OUT_KEY] = NULL
        key = self.keys.get(stream)
        for attribute, cell in zip(source.schema.attributes, self._cells[stream], strict=True):
            values = self._values(source, attribute, columns, n)
            (floats if cell.is_float else ints)[:, cell.column] = values
            if attribute.name == key:
                ints[:, OUT_KEY] = values
        return InputRows(ints, floats)

    def source(self, stream: str) -> Stream:
        """The source stream of that name; InputError when there is none."""
        if not isinstance(stream, str) or stream not in self.sources:
            known = ", ".join(self.sources) or "none"
            raise InputError(f"no source stream {stream!r}; the rules define: {known}")
        return self.sources[stream]

    def _values(
        self, stream: Stream, attribute: Attribute, columns: Mapping[str, Column], n: int
    ) -> NDArray[Any]:
        where = f"{stream.name}.{attribute.name}"
        if attribute.name not in columns:
            raise InputError(f"{where}: the input has no such column; it has {', '.join(columns)}")
        column = columns[attribute.name]
        if not is_column(column):
            kind = type(column).__name__
            raise InputError(
                f"{where}: a column of type {kind}; give a list, an array or one of Arrow"
            )
        if len(column) != n:
            raise InputError(f"{where}: {len(column)} values for {n} rows")
        try:
            return self._convert(attribute.type, column, where)
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as problem:
            what = BEYOND if isinstance(problem, OverflowError) else problem
            raise InputError(f"{where}: not {attribute.type}: {what}") from problem

    def object(self, value: Any) -> int:
        """The cell of a value that is an object."""
        self.objects.append(value)
        return len(self.objects) - 1

    def _convert(self, type_: Type, column: Column, where: str) -> NDArray[Any]:
        if type_ is Type.OBJECT:
            return np.array([self.object(value) for value in column], np.int64)
        if type_ is Type.STRING:
            if isinstance(column, list) and (codes := self.strings.known(column)) is not None:
                return codes
            array = column if isinstance(column, pa.Array | pa.ChunkedArray) else pa.array(column)
            if not _is_text(array.type):
                raise ValueError(f"a column of {array.type}")
            return self.strings.encode(array, where)
        if isinstance(column, np.ndarray) and column.dtype.kind in "iufb":
            return _from_numpy(type_, column)
        if isinstance(column, pa.Array | pa.ChunkedArray):
            return _from_arrow(type_, column)
        return _from_arrow(type_, inferred(type_, column))


def is_column(column: Any) -> bool:
    """Whether it has one value for each row."""
    if isinstance(column, ARRAYS):  # the usual ones, found in a tenth of the time
        return True
    is_one_value = isinstance(column, str | bytes | Mapping | Set)
    return not is_one_value and isinstance(column, Sized) and isinstance(column, Iterable)


def _is_text(type_: pa.DataType) -> bool:
    if pa.types.is_dictionary(type_):
        return _is_text(type_.value_type)
    text = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return pa.types.is_null(type_) or any(is_text(type_) for is_text in text)


def _from_numpy(type_: Type, column: NDArray[Any]) -> NDArray[Any]:
    if type_ in REALS:
        if type_ is Type.FLOAT:
            with np.errstate(over="ignore"):  # what is beyond its largest is not finite, then
                column = column.astype(np.float32)
        values = column.astype(np.float64, copy=False)
        finite = np.isfinite(values)
        return values if finite.all() else np.where(finite, values, np.nan)
    if column.dtype.kind == "f":
        raise ValueError("a fractional column")
    if type_ is Type.BOOL:
        return (column != 0).astype(np.int64)
    _need_bits(column, 32 if type_ is Type.INT else 64)
    return column.astype(np.int64, copy=False)


def _need_bits(column: NDArray[Any], bits: int) -> None:
    largest = 2 ** (bits - 1) - 1
    if column.dtype.kind == "i" and 8 * column.dtype.itemsize <= bits:
        return
    if len(column) and not -largest - 1 <= int(column.min()) <= int(column.max()) <= largest:
        raise ValueError(f"a value beyond {bits} bits")


def _is_plain(type_: Type, column: pa.Array) -> bool:
    """Whether the very memory of a column has its numbers as NumPy reads them."""
    if column.null_count:
        return False
    is_real = type_ in REALS and pa.types.is_float64(column.type)
    return is_real or (type_ in WHOLES and pa.types.is_signed_integer(column.type))


def _from_arrow(type_: Type, column: pa.Array | pa.ChunkedArray) -> NDArray[Any]:
    column = one_chunk(column)
    if _is_plain(type_, column):
        return _from_numpy(type_, column.to_numpy())
    if _is_text(column.type) and not pa.types.is_null(column.type):  # Arrow would read them
        wanted = "True and False" if type_ is Type.BOOL else "numbers"
        raise ValueError(f"a column of texts; give {wanted}")
    if pa.types.is_temporal(column.type) and column.type != pa.timestamp("ms", column.type.tz):
        raise ValueError(f"a column of {column.type}; give times as ms UTC, whole numbers")
    if type_ in REALS:
        return _from_numpy(type_, column.cast(pa.float64()).to_numpy(zero_copy_only=False))
    null = column.is_null().to_numpy(zero_copy_only=False)
    whole = column.cast(pa.bool_() if type_ is Type.BOOL else pa.int64()).cast(pa.int64())
    filled = whole.fill_null(NULL).to_numpy(zero_copy_only=False).astype(np.int64)
    if type_ is Type.INT:
        _need_bits(filled[~null], 32)
    return filled
