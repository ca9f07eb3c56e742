"""Ticks in Parquet files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from mt5bridge.history.block import HistoryError, TickBlock
from mt5bridge.history.epochs import BadRow
from mt5bridge.history.layout import Layout, of_names
from mt5bridge.history.ticks import Assembler
from mt5bridge.history.zones import ServerTime

BATCH_ROWS = 1 << 18


def read_parquet(path: Path, symbol: str | None, server: ServerTime | None) -> Iterator[TickBlock]:
    """Ticks of a Parquet file, a batch of rows at a time."""
    try:
        with pq.ParquetFile(path) as file:
            raw = tuple(file.schema_arrow.names)
            layout = of_names(path, raw)
            assembler = Assembler(path, layout, symbol, server)
            used = [r for r, name in zip(raw, layout.names, strict=True) if name in layout.used]
            read = 0
            for batch in file.iter_batches(BATCH_ROWS, columns=used):
                yield from _blocks(assembler, _table(batch, raw, layout), read)
                read += batch.num_rows
            assembler.finish()
    except (pa.ArrowException, OSError) as error:
        raise HistoryError(f"{path}: cannot be read ({error}); write the file again") from error


def _blocks(assembler: Assembler, table: pa.Table, read: int) -> Iterator[TickBlock]:
    """Ticks of the rows after the first `read` ones."""

    def place(row: int) -> str:
        return f"{assembler.path}: row {read + row + 1}"

    try:
        yield from assembler.blocks(table, place)
    except BadRow as bad:
        raise bad.at(place(bad.row)) from None


def _table(batch: pa.RecordBatch, raw: tuple[str, ...], layout: Layout) -> pa.Table:
    columns = {}
    for written, name in zip(raw, layout.names, strict=True):
        if name in layout.used:
            column = pa.chunked_array([batch[written]])
            columns[name] = _numbers(column, written) if name in layout.numbers else column
    return pa.table(columns)


def _numbers(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """A column as double; pa.ArrowInvalid names one that holds something else."""
    try:
        return column.cast(pa.float64())
    except pa.ArrowException as error:
        raise pa.ArrowInvalid(f"column {name}: {error}") from error
