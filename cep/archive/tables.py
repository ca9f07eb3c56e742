"""Records as Arrow tables, split by day and symbol."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cep.archive.paths import date_of, days_of
from cep.archive.schema import CLOCK, DEALS, FIELDS, SCHEMAS, TICKS
from mt5bridge.records import text_of
from mt5bridge.spool import Group, RecordKind
from mt5bridge.validate import each

Ints = npt.NDArray[np.int64]
STREAMS = {RecordKind.TICKS: TICKS, RecordKind.DEALS: DEALS, RecordKind.CLOCK: CLOCK}
_TEXT_FIELDS = ("comment", "external_id")


@dataclass(frozen=True, slots=True)
class Slice:
    """The rows of one day and symbol, in ingest order."""

    stream: str
    symbol: str
    date: str
    table: pa.Table
    name: str = ""
    """What the source calls the symbol, where it has another name there."""


def slices(groups: Sequence[Group], base: int) -> Iterator[Slice]:
    """Rows of `groups`, which are in order; `base` is added to their ingest numbers."""
    by_stream: dict[tuple[RecordKind, tuple[str, ...]], list[Group]] = {}
    for group in groups:
        names = group.stream[1:] if group.kind is RecordKind.TICKS else ("",)
        by_stream.setdefault((group.kind, names), []).append(group)
    for (kind, (symbol, *name)), members in by_stream.items():
        for part in _split(STREAMS[kind], symbol, members, base):
            yield replace(part, name=name[0]) if name else part


def _split(stream: str, symbol: str, groups: list[Group], base: int) -> Iterator[Slice]:
    records = np.concatenate([group.records for group in groups])
    columns = _columns(groups, records, base)
    sources = [group.source for group in groups]
    days = days_of(columns["time_msc"])
    for name, of_symbol in _by_symbol(stream, symbol, records):
        for day in np.unique(days[of_symbol]).tolist():
            rows = of_symbol[days[of_symbol] == day]
            part = {column: values[rows] for column, values in columns.items()}
            table = as_table(stream, name, part, records[rows], sources)
            yield Slice(stream, name, date_of(day), table)


def _by_symbol(
    stream: str, symbol: str, records: npt.NDArray[Any]
) -> Iterator[tuple[str, npt.NDArray[np.intp]]]:
    """Symbols of `records` and their rows; only deals carry the symbol in each record."""
    if stream != DEALS:
        yield symbol, np.arange(len(records))
        return
    symbols, codes = np.unique(records["symbol"], return_inverse=True)
    for code, raw in enumerate(symbols):
        yield text_of(bytes(raw)), np.flatnonzero(codes == code)


def _columns(groups: list[Group], records: npt.NDArray[Any], base: int) -> dict[str, Ints]:
    """Columns that are not fields of the records, one value a record."""
    widths = [len(group.records) for group in groups]
    steps = np.concatenate([np.arange(width) for width in widths])

    def spread(value: Callable[[Group], int]) -> Ints:
        return np.repeat(np.array([value(group) for group in groups], np.int64), widths)

    offsets = spread(lambda group: group.utc_offset_ms)
    raw = records["time_msc"].astype(np.int64)
    quality = [each(group.quality, len(group.records)) for group in groups]
    return {
        "ingest": spread(lambda group: group.ingest + base) + steps,
        "seq": spread(lambda group: group.sequence) + steps,
        "time_msc": raw - offsets,
        "raw_time_msc": raw,
        "utc_offset_ms": offsets,
        "quality": np.concatenate(quality).astype(np.int64),
        "source": np.repeat(np.arange(len(groups)), widths),
    }


def as_table(
    stream: str,
    symbol: str,
    columns: dict[str, Ints],
    records: npt.NDArray[Any],
    sources: Sequence[str],
) -> pa.Table:
    """One table; `columns["source"]` indexes `sources`, which may repeat."""
    names = sorted(set(sources))
    codes = np.array([names.index(source) for source in sources], np.int32)
    arrays: dict[str, Any] = {
        **{name: records[name] for name in FIELDS[stream] if name not in _TEXT_FIELDS},
        **{name: _texts(records[name]) for name in FIELDS[stream] if name in _TEXT_FIELDS},
        **columns,
        "source": pa.DictionaryArray.from_arrays(codes[columns["source"]], names),
        "symbol": pa.DictionaryArray.from_arrays(np.zeros(len(records), np.int32), [symbol]),
    }
    schema = SCHEMAS[stream]
    return pa.table([_array(arrays[field.name], field.type) for field in schema], schema=schema)


def _texts(raw: npt.NDArray[np.bytes_]) -> list[str]:
    return [text_of(bytes(value)) for value in raw]


def _array(values: Any, type_: pa.DataType) -> pa.Array:
    if isinstance(values, np.ndarray) and pa.types.is_integer(type_):
        # Tickets are unsigned 64-bit in MetaTrader; one above 2^63 keeps its bits.
        values = values.astype(type_.to_pandas_dtype(), casting="unsafe")
    return pa.array(values, type_) if not isinstance(values, pa.Array) else values
