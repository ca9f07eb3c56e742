"""Writing and reading one Parquet file of the archive."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cep.archive.errors import ArchiveError
from cep.archive.manifest import File, Mode, SequenceRange, checked
from cep.archive.paths import partition
from cep.archive.schema import DELTA_ENCODED, SCHEMAS
from cep.archive.store import Store, checksum
from mt5bridge.arrow import reader

ROW_GROUP_ROWS = 1 << 20
_GONE = (
    "missing; open the archive again, which may have been compacted since, "
    "or restore the file from a copy"
)


def write_part(
    store: Store, stream: str, symbol: str, date: str, table: pa.Table, mode: Mode, tag: str = ""
) -> File:
    """Write `table`, already in ingest order, durably; the same rows give the same file name."""
    ingest = int64(table, "ingest")
    name = f"{ingest[0]:020d}-{ingest[-1]:020d}{tag}.parquet"
    path = (partition(stream, date, symbol) / name).as_posix()
    data = _parquet(table)
    store.write(path, data)
    times = int64(table, "time_msc")
    return File(
        stream=stream,
        symbol=symbol,
        date=date,
        path=path,
        rows=table.num_rows,
        bytes=len(data),
        checksum=checksum(data),
        first_ingest=int(ingest[0]),
        last_ingest=int(ingest[-1]),
        first_msc=int(times.min()),
        last_msc=int(times.max()),
        sequences=_sequences(table),
        mode=mode,
    )


def _parquet(table: pa.Table) -> bytes:
    out = io.BytesIO()
    pq.write_table(
        table,
        out,
        compression="zstd",
        row_group_size=ROW_GROUP_ROWS,
        use_dictionary=[name for name in table.column_names if name not in DELTA_ENCODED],
        column_encoding=dict.fromkeys(DELTA_ENCODED, "DELTA_BINARY_PACKED"),
    )
    return out.getvalue()


def _sequences(table: pa.Table) -> tuple[SequenceRange, ...]:
    grouped = table.select(["source", "seq"]).group_by("source", use_threads=False).aggregate(
        [("seq", "min"), ("seq", "max")]
    )  # fmt: skip
    rows = zip(*(grouped[name].to_pylist() for name in ("source", "seq_min", "seq_max")),
               strict=True)  # fmt: skip
    return tuple(SequenceRange(*row) for row in sorted(rows))


def read_part(store: Store, file: File) -> pa.Table:
    """All rows of `file`. ArchiveError when it is gone or not what was written."""
    try:
        table = pq.read_table(reader(checked(store, file, gone=_GONE)))
    except (pa.ArrowException, OSError) as error:
        raise ArchiveError(f"{store.address(file.path)}: cannot be read ({error})") from error
    return _conformed(store, file, table, SCHEMAS[file.stream])


def part_batches(
    store: Store, file: File, columns: Sequence[str] | None = None, batch_rows: int = 1 << 16
) -> Iterator[pa.Table]:
    """As `read_part`, in tables of at most `batch_rows`; `columns` None reads all."""
    schema = SCHEMAS[file.stream]
    if columns is not None:
        schema = pa.schema([schema.field(name) for name in columns])
    with pq.ParquetFile(reader(checked(store, file, gone=_GONE))) as parquet:
        for batch in parquet.iter_batches(batch_rows, columns=schema.names):
            yield _conformed(store, file, pa.Table.from_batches([batch]), schema)


def _conformed(store: Store, file: File, table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The columns of `schema`. One that came later than the file has 0 or no text there, as
    MetaTrader has it for what a record does not say. ArchiveError for others.
    """
    if strange := sorted(set(table.column_names) - set(SCHEMAS[file.stream].names)):
        raise ArchiveError(
            f"{store.address(file.path)}: has columns that this program does not know "
            f"({', '.join(strange)}); install the newer release that wrote them"
        )
    if table.schema.equals(schema):
        return table
    for field in schema:
        if field.name not in table.column_names:
            table = table.append_column(field, _unsaid(field.type, table.num_rows))
    try:
        return table.select(schema.names).cast(schema)
    except (pa.ArrowException, ValueError) as error:
        address = store.address(file.path)
        raise ArchiveError(f"{address}: its columns have other types ({error})") from error


def _unsaid(type_: pa.DataType, rows: int) -> pa.Array:
    if pa.types.is_dictionary(type_):
        return pa.DictionaryArray.from_arrays(np.zeros(rows, np.int32), [""]).cast(type_)
    return pa.repeat(pa.scalar("" if pa.types.is_string(type_) else 0).cast(type_), rows)


def int64(table: pa.Table, column: str) -> npt.NDArray[np.int64]:
    values: npt.NDArray[np.int64] = table[column].to_numpy()
    return values


def sorted_by_ingest(table: pa.Table) -> pa.Table:
    """`table` in ingest order; equal numbers keep their order."""
    ingest = int64(table, "ingest")
    if len(ingest) < 2 or bool((np.diff(ingest) >= 0).all()):
        return table
    return table.take(pa.array(np.argsort(ingest, kind="stable")))


def within(table: pa.Table, from_msc: int | None, to_msc: int | None) -> pa.Table:
    """Rows with `from_msc` <= time_msc < `to_msc`."""
    if from_msc is not None:
        table = table.filter(pc.greater_equal(table["time_msc"], from_msc))
    if to_msc is not None:
        table = table.filter(pc.less(table["time_msc"], to_msc))
    return table
