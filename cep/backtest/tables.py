"""Output rows as one table a stream, for Spark SQL, DuckDB, pandas and the like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType

import pyarrow as pa
import pyarrow.parquet as pq

from cep.archive.paths import encode_name
from cep.backtest.errors import BacktestError
from cep.backtest.records import ingest_of
from cep.engine.arrow_rows import arrow_columns
from cep.engine.kernels.state import OUT_TIME
from cep.engine.rows import Rows
from cep.inputs.types import ARROW
from cep.plan.nodes import Plan, Stream

COMMON = ("ingest", "time_msc")
GROUP_ROWS = 1 << 16
"""A row group has so many rows, the last one fewer: a file is that of its rows, to the byte."""
_RISING = dict.fromkeys(COMMON, "DELTA_BINARY_PACKED")
"""A third of the size, and of the time, of whole numbers that rise. What of the others is no text
gets no dictionary: of numbers that differ it would be tried in vain."""
_LIST = pa.list_(pa.int64())


def schema(stream: Stream) -> pa.Schema:
    """`ingest` of the record that caused a row, `time_msc`, and the stream's attributes."""
    attributes = [(a.name, ARROW.get(str(a.type), _LIST)) for a in stream.schema.attributes]
    return pa.schema([*((name, pa.int64()) for name in COMMON), *attributes])


def schemas(plan: Plan, streams: Iterable[str]) -> dict[str, pa.Schema]:
    """Those of some streams. BacktestError where columns or files would take each other's place."""
    streams = list(streams)
    _check_names(streams)
    _check_columns(plan, streams)
    return {name: schema(plan.stream(name)) for name in streams}


def file_of(directory: Path, table: str) -> Path:
    """Where a table lies; a stream's name is anybody's, and leads nowhere else."""
    return directory / f"{encode_name(table)}.parquet"


def _check_names(streams: Iterable[str]) -> None:
    """BacktestError when two tables would be one: of files and views, letter case tells none."""
    taken: dict[str, str] = {}
    for name in streams:
        if other := taken.get(name.casefold()):
            raise BacktestError(
                f"stream `{name}`: its table would take the place of the one of stream `{other}`",
                "give the stream another name, or leave it out with --streams",
            )
        taken[name.casefold()] = name


def _check_columns(plan: Plan, streams: Iterable[str]) -> None:
    """BacktestError when an attribute would hide one of our columns, in any letter case."""
    for stream in map(plan.stream, streams):
        for name in stream.schema.names:
            if name.casefold() in COMMON:
                raise BacktestError(
                    f"stream `{stream.name}`: its attribute `{name}` would take the place of the "
                    f"column `{name.casefold()}` of its table",
                    f"select it as another name, as `own_{name}`, or leave the stream out with "
                    "--streams",
                )


def by_stream(rows: Rows, wanted: Mapping[str, pa.Schema]) -> Iterator[tuple[str, pa.Table]]:
    """The rows of streams that are wanted, as a table of each that has any."""
    for name, columns in wanted.items():
        places = rows.places({name})
        if len(places):
            stream = rows.decoder.streams[name]
            common = [ingest_of(rows.orders[places]), rows.ints[places, OUT_TIME]]
            arrays = [*map(pa.array, common), *arrow_columns(rows, stream, places, columns)]
            yield name, pa.Table.from_arrays(arrays, schema=columns)


class Collected:
    """Keeps the rows of some streams in memory."""

    def __init__(self, plan: Plan, streams: Iterable[str]) -> None:
        self._schemas = schemas(plan, streams)
        self._parts: dict[str, list[pa.Table]] = {name: [] for name in self._schemas}

    def take(self, rows: Rows) -> None:
        """The next rows."""
        for name, table in by_stream(rows, self._schemas):
            self._parts[name].append(table)

    @property
    def tables(self) -> dict[str, pa.Table]:
        """By stream; those without a row, too."""
        return {
            name: pa.concat_tables([columns.empty_table(), *self._parts[name]]).combine_chunks()
            for name, columns in self._schemas.items()
        }


class Tables:
    """Writes `DIRECTORY/STREAM.parquet` for some streams.

    Rows may come one by one: they are gathered, as a row group costs as much as thousands of rows.
    """

    def __init__(self, directory: Path, plan: Plan, streams: Iterable[str]) -> None:
        self.directory = directory
        self._schemas = schemas(plan, streams)
        self._writers: dict[str, pq.ParquetWriter] = {}
        self._waiting: dict[str, list[pa.Table]] = {name: [] for name in self._schemas}
        self._rows: Counter[str] = Counter()
        self._thread = ThreadPoolExecutor(1)
        """Writes while the next rows are made: Arrow lets others go on."""
        self._writing: Future[None] | None = None

    def __enter__(self) -> Tables:
        self.directory.mkdir(parents=True, exist_ok=True)
        for name, columns in self._schemas.items():
            path = file_of(self.directory, name)
            texts = [one.name for one in columns if pa.types.is_string(one.type)]
            with named(path):
                self._writers[name] = pq.ParquetWriter(
                    path, columns, compression="zstd", use_dictionary=texts, column_encoding=_RISING
                )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        if error is None:
            try:
                self._end()
                return
            finally:
                self._thread.shutdown()
        self._thread.shutdown()
        for writer in self._writers.values():
            with suppress(OSError):  # of a full disk; what is wrong has been said
                writer.close()

    def _end(self) -> None:
        for name in self._writers:
            self._write(name)
        self._wait()
        for name, writer in self._writers.items():
            with named(file_of(self.directory, name)):
                writer.close()

    def take(self, rows: Rows) -> None:
        """Append rows to the tables of their streams. BacktestError when they cannot be written."""
        for name, table in by_stream(rows, self._schemas):
            self._waiting[name].append(table)
            self._rows[name] += table.num_rows
            while self._rows[name] >= GROUP_ROWS:
                self._write(name)

    def _write(self, name: str) -> None:
        """Write the first that wait of a stream as one row group, whatever pieces they came in."""
        if not self._rows[name]:
            return
        table = pa.concat_tables(self._waiting[name]).combine_chunks()
        rest = table.slice(GROUP_ROWS)
        self._waiting[name], self._rows[name] = [rest], rest.num_rows
        self._wait()
        self._writing = self._thread.submit(self._put, name, table.slice(0, GROUP_ROWS))

    def _put(self, name: str, table: pa.Table) -> None:
        with named(file_of(self.directory, name)):
            self._writers[name].write_table(table)

    def _wait(self) -> None:
        """Until the last row group is written: more than one would only be in memory."""
        if self._writing is not None:
            writing, self._writing = self._writing, None
            writing.result()


def write_table(path: Path, table: pa.Table) -> None:
    """Write a file; BacktestError names it when that fails."""
    with named(path):
        pq.write_table(table, path, compression="zstd")


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Arrow does not name the file that it cannot write."""
    try:
        yield
    except OSError as error:
        raise BacktestError(
            f"{path}: cannot be written ({error})", "make room there, or name another folder"
        ) from error
