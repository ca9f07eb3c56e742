"""Events on their way in, column by column, and results on their way out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite
from types import NoneType
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cep.database.drivers import Column as Fetched
from cep.database.drivers import values_of
from cep.database.drivers.base import as_list
from cep.database.errors import EventError
from cep.database.packed import columns_of
from cep.database.steps import Fetch
from cep.interpreter.arrow import BEYOND, inferred
from cep.plan.types import Schema, Type

Column: TypeAlias = "NDArray[Any] | Sequence[Any] | pa.Array | pa.ChunkedArray"
Ints: TypeAlias = NDArray[np.int64]

_WHOLE = (Type.INT, Type.LONG)


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Events of one stream: their places among all that come together, times in ms, attributes.

    Places ascend; `columns` stand in the order of the stream's schema, None is null. `own` are
    their own times, where late ones may be among them, whose `times` are the newest before them.
    """

    stream: str
    places: Ints
    times: Ints
    columns: tuple[Column, ...]
    own: Ints | None = None

    def between(self, start: int, stop: int) -> Arrivals:
        """Those whose places are from `start` to before `stop`."""
        first, last = (int(one) for one in np.searchsorted(self.places, (start, stop)))
        columns = tuple(column[first:last] for column in self.columns)
        own = None if self.own is None else self.own[first:last]
        return Arrivals(self.stream, self.places[first:last], self.times[first:last], columns, own)

    def late(self) -> tuple[Ints, Ints]:
        """The places and own times of the late ones."""
        if self.own is None:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        found = self.own < self.times
        return self.places[found], self.own[found]


def checked(arrivals: Arrivals, schema: Schema) -> Arrivals:
    """The events as a table takes them; EventError where a value is not of its type.

    What is no finite number is null, as everywhere.
    """
    columns = []
    for attribute, column in zip(schema.attributes, arrivals.columns, strict=True):
        try:
            columns.append(_stored(attribute.type, column))
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as problem:
            where = f"{arrivals.stream}.{attribute.name}"
            what = BEYOND if isinstance(problem, OverflowError) else problem
            raise EventError(f"{where}: not {attribute.type}: {what}") from problem
    return replace(arrivals, columns=tuple(columns))


def _stored(type_: Type, column: Column) -> Column:
    if isinstance(column, np.ndarray) and column.dtype.kind in "iufb":
        return _number(type_, column)
    if isinstance(column, tuple | list) and _is_plain(type_, column):
        return column
    if isinstance(column, pa.Array | pa.ChunkedArray):
        array = column
    else:
        array = inferred(type_, column)
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if type_ is Type.STRING:
        return _texts(array)
    if type_ is Type.BOOL:
        return array.cast(pa.bool_()).to_pylist()
    if array.null_count == 0:
        return _number(type_, array.to_numpy(zero_copy_only=False))
    if type_ in _WHOLE:
        known = array.cast(pa.int64())
        _number(type_, known.drop_null().to_numpy(zero_copy_only=False))
        return known.to_pylist()
    wide = array.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return _number(type_, wide)


def _is_plain(type_: Type, column: Sequence[Any]) -> bool:
    """Whether all values are of the one Python type, so that they are stored as they are."""
    kind = _PLAIN[type_]
    found = set(map(type, column))
    if found - {kind, NoneType}:
        return False
    known = column if NoneType not in found else [one for one in column if one is not None]
    if kind is float:
        return all(map(isfinite, known))
    if kind is str:
        _need_text(known)
    if kind is int and known:
        half = 2 ** (31 if type_ is Type.INT else 63)
        return bool(min(known) >= -half and max(known) < half)
    return True


_PLAIN = {
    Type.INT: int, Type.LONG: int, Type.DOUBLE: float, Type.STRING: str, Type.BOOL: bool,
    Type.FLOAT: NoneType, Type.LIST: NoneType, Type.OBJECT: NoneType,
}  # fmt: skip


def _texts(array: pa.Array) -> list[Any]:
    """Texts, perhaps of a dictionary."""
    values = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    kinds = (pa.types.is_null, pa.types.is_string, pa.types.is_large_string)
    if not any(is_kind(values) for is_kind in kinds):
        raise ValueError(f"a column of {array.type}")
    found: list[Any] = array.to_pylist()
    return found


def _need_text(column: Sequence[Any]) -> None:
    """ValueError for half a character, which no database stores (nor does it store NUL alike)."""
    together = "".join(one for one in column if one is not None)
    together.encode()
    if "\0" in together:
        raise ValueError("a text with a NUL character")


def _number(type_: Type, column: NDArray[Any]) -> Column:
    """A column of numbers without nulls; nulls appear where they are not finite."""
    if type_ is Type.BOOL:
        return column.astype(np.bool_)
    if type_ is Type.STRING:
        raise ValueError(f"a column of {column.dtype}")
    if type_ in _WHOLE:
        if column.dtype.kind not in "iub":
            raise ValueError("a column that is not of whole numbers")
        if column.dtype == np.uint64 and len(column) and column.max() > 2**63 - 1:
            raise ValueError("a value beyond 64 bits")
        whole = column.astype(np.int64)
        if type_ is Type.INT and len(whole) and not _fit(whole):
            raise ValueError("a value beyond 32 bits")
        return whole
    values = column.astype(np.float32 if type_ is Type.FLOAT else np.float64).astype(np.float64)
    finite = np.isfinite(values)
    if finite.all():
        return values
    return [one if known else None for one, known in zip(values.tolist(), finite, strict=True)]


def _fit(column: Ints) -> bool:
    return bool(column.min() >= -(2**31) and column.max() < 2**31)


@dataclass(frozen=True)
class Found:
    """Results of one batch as a database gave them; nothing of them is decoded before it is read.

    `times` are those of the batch's events, whose numbers begin at `first`.
    """

    fetch: Fetch
    fetched: Sequence[Fetched]
    times: Ints
    first: int

    def __len__(self) -> int:
        """How many results there are; a wide row has one of each member."""
        if self.fetch.is_grouped:
            return sum(values_of(self.fetched[1]))
        rows = len(self.fetched[0])
        return rows * len(self.fetch.members) if self.fetch.is_wide else rows

    @cached_property
    def columns(self) -> tuple[Fetched, ...]:
        """Values: `seq`, `member` if any, then a column each: lists, NumPy or Arrow arrays."""
        return columns_of(self.fetch, self.fetched)

    def rows(self) -> Iterator[tuple[int, int, tuple[Any, ...]]]:
        """(number of the event, member, values) for each result."""
        seqs, *values = (values_of(as_list(column)) for column in self.columns)
        members: Sequence[int] | None = values.pop(0) if self.fetch.has_member else None
        width = len(self.fetch.types)
        for place, type_ in enumerate(self.fetch.types * (len(values) // max(width, 1))):
            if type_ is Type.BOOL:
                values[place] = [None if one is None else bool(one) for one in values[place]]
        for place, row in enumerate(zip(*values, strict=True)):
            if self.fetch.is_wide:
                for member in range(len(self.fetch.members)):
                    yield seqs[place], member, row[member * width : (member + 1) * width]
            else:
                yield seqs[place], 0 if members is None else members[place], row


def in_order(
    found: Sequence[Found], ranks: Mapping[str, int]
) -> Iterator[tuple[str, int, int, tuple[str, ...], tuple[Any, ...]]]:
    """All results of a batch: (stream, number of the event, time in ms, names, values).

    By the event, and of one event by the stream's rank.
    """
    rows = []
    for one in found:
        members, names = one.fetch.members, one.fetch.names
        places = [ranks.get(member, 0) for member in members]
        for seq, member, values in one.rows():
            time = int(one.times[seq - one.first])
            rows.append((seq, places[member], members[member], time, names[member], values))
    rows.sort(key=lambda row: row[:2])
    return ((stream, seq, time, names, values) for seq, _, stream, time, names, values in rows)
