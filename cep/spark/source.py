"""A Spark data source whose rows are parts: what stage 1 made of a symbol's records in one slice.

Spark schedules lists of files, never ticks. A task opens its Parquet files itself, runs the engine,
and writes what it found to a file; only the place of that goes through Spark.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence

import msgspec
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from cep.backtest.code import PACKAGES, ROOT, code_hash
from cep.backtest.parts import Job, PartRow, Task, run_task

NAME = "mt5cep_parts"
COLUMNS = pa.schema(
    [
        ("place", pa.int64()),
        ("slice", pa.int64()),
        ("symbol", pa.string()),
        ("rows", pa.int64()),
        ("first_ingest", pa.int64()),
        ("last_ingest", pa.int64()),
        ("file", pa.string()),
        ("offset", pa.int64()),
        ("size", pa.int64()),
        ("error", pa.string()),
        ("is_full", pa.bool_()),
    ]
)
SCHEMA = (
    "place long, slice long, symbol string, rows long, first_ingest long, last_ingest long, "
    "file string, offset long, size long, error string, is_full boolean"
)


class Work(msgspec.Struct, frozen=True):
    """The options of the source: a job, groups of its tasks, and the hash of the driver's code."""

    job: Job
    groups: tuple[tuple[Task, ...], ...]
    code: str


class TaskPartition(InputPartition):
    """A group of tasks, as JSON: what Spark takes for one task."""


class PartsSource(DataSource):
    """`spark.read.format("mt5cep_parts").option("work", JSON of Work)`."""

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> str:
        return SCHEMA

    def reader(self, schema: StructType) -> DataSourceReader:
        return PartsReader(self.options["work"])


class PartsReader(DataSourceReader):
    """Runs in Spark's Python workers."""

    def __init__(self, work: str) -> None:
        decoded = msgspec.json.decode(work, type=Work)
        self._code = decoded.code
        self._job = msgspec.json.encode(decoded.job)
        self._groups = [msgspec.json.encode(group) for group in decoded.groups]

    def partitions(self) -> Sequence[InputPartition]:
        return [TaskPartition(group) for group in self._groups]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        if code_hash() != self._code:
            yield as_batch(failed(0, other_code(self._code)))
            return
        job = msgspec.json.decode(self._job, type=Job)
        for task in msgspec.json.decode(partition.value, type=tuple[Task, ...]):
            for row in reported(job, task):
                yield as_batch(row)


def other_code(wanted: str) -> str:
    """What is wrong on a machine whose tasks import other code than the driver."""
    return (
        f"{socket.gethostname()}: tasks import another mt5cep than this one, from {ROOT} (code "
        f"{code_hash()}, here {wanted}): take it out of the PYTHONPATH of Spark's workers"
    )


def failed(place: int, error: str) -> PartRow:
    """The row that tells of an error."""
    return PartRow(place, 0, "", 0, 0, 0, "", 0, 0, error)


def reported(job: Job, task: Task) -> Iterator[PartRow]:
    """Parts of a task; an error of ours becomes a row, so that its text reaches the user."""
    try:
        yield from run_task(job, task)
    except Exception as error:
        if type(error).__module__.split(".")[0] not in PACKAGES:
            raise
        yield failed(task.place, str(error))


def as_batch(row: PartRow) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([msgspec.structs.asdict(row)], schema=COLUMNS)
