"""Output rows as one Parquet table a stream, for Spark SQL, DuckDB, pandas and the like."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, fields
from pathlib import Path
from shutil import rmtree
from types import TracebackType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from cep.archive.paths import encode_name
from cep.backtest.errors import BacktestError
from cep.backtest.records import ingest_of
from cep.backtest.trades import Trade
from cep.engine.rows import Rows
from cep.inputs.types import ARROW
from cep.plan.nodes import Plan, Stream

TRADES = "trades"
COMMON = ("ingest", "time_msc")
DRAFT = ".part"
_LIST = pa.list_(pa.int64())
_OF_PYTHON = {"str": pa.string(), "int": pa.int64(), "float": pa.float64()}


def schema(stream: Stream) -> pa.Schema:
    """`ingest` of the record that caused a row, `time_msc`, and the stream's attributes."""
    attributes = [(a.name, ARROW.get(str(a.type), _LIST)) for a in stream.schema.attributes]
    return pa.schema([*((name, pa.int64()) for name in COMMON), *attributes])


def file_of(directory: Path, table: str) -> Path:
    """Where a table lies; a stream's name is anybody's, and leads nowhere else."""
    return directory / f"{encode_name(table)}.parquet"


def _check_names(streams: Iterable[str]) -> None:
    """BacktestError when two tables would be one: of files and views, letter case tells none."""
    taken = {TRADES: f"the table `{TRADES}` of the fills"}
    for name in streams:
        if other := taken.get(name.casefold()):
            raise BacktestError(
                f"stream `{name}`: its table would take the place of {other}",
                "give the stream another name, or leave it out with --streams",
            )
        taken[name.casefold()] = f"the one of stream `{name}`"


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


class Tables:
    """Writes `DIRECTORY/STREAM.parquet` for some streams, a row group a call of `take`.

    They appear when all are whole: what fails or is killed leaves no table, and the same folder
    can be named again.
    """

    def __init__(self, directory: Path, plan: Plan, streams: Iterable[str]) -> None:
        self.directory = directory
        self._draft = directory / DRAFT
        streams = list(streams)
        _check_names(streams)
        _check_columns(plan, streams)
        self._schemas = {name: schema(plan.stream(name)) for name in streams}
        if directory.exists() and any(path.name != DRAFT for path in directory.iterdir()):
            raise BacktestError(f"{directory}: not empty", "name a new folder for the tables")
        self._writers: dict[str, pq.ParquetWriter] = {}

    def __enter__(self) -> Tables:
        rmtree(self._draft, ignore_errors=True)  # of a run that was killed
        self._draft.mkdir(parents=True)
        for name, columns in self._schemas.items():
            path = file_of(self._draft, name)
            with _named(path):
                self._writers[name] = pq.ParquetWriter(path, columns, compression="zstd")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        try:
            if error is None:
                self._publish()
        finally:
            for writer in self._writers.values():
                with suppress(OSError):  # of a full disk; what is wrong has been said
                    writer.close()
            rmtree(self._draft, ignore_errors=True)

    def _publish(self) -> None:
        for name, writer in self._writers.items():
            with _named(file_of(self._draft, name)):
                writer.close()
        for name in self._writers:
            file_of(self._draft, name).replace(file_of(self.directory, name))

    def take(self, rows: Rows) -> None:
        """Append rows to the tables of their streams. BacktestError when they cannot be written."""
        found: dict[str, list[Mapping[str, Any]]] = {name: [] for name in self._writers}
        ingest = ingest_of(rows.orders).tolist()
        for number, row in zip(ingest, rows.dicts(), strict=True):
            if row["stream"] in found:
                found[row["stream"]].append({"ingest": number, **row})
        for name, members in found.items():
            if members:
                table = pa.Table.from_pylist(members, schema=self._schemas[name])
                with _named(file_of(self._draft, name)):
                    self._writers[name].write_table(table)


def write_trades(directory: Path, trades: Iterable[Trade]) -> None:
    """Write `DIRECTORY/trades.parquet`, whole or not at all. BacktestError when that fails."""
    columns = pa.schema([(f.name, _OF_PYTHON[str(f.type)]) for f in fields(Trade)])
    table = pa.Table.from_pylist([asdict(trade) for trade in trades], schema=columns)
    path = file_of(directory, TRADES)
    draft = path.with_name(path.name + DRAFT)
    try:
        with _named(draft):
            pq.write_table(table, draft)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Arrow does not name the file that it cannot write."""
    try:
        yield
    except OSError as error:
        raise BacktestError(
            f"{path}: cannot be written ({error})", "make room there, or name another folder"
        ) from error
