"""Archiving a spool with Spark: executors write files, the driver alone changes the manifest."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
from pyspark.sql import SparkSession

from cep.archive.archive import Archive
from cep.archive.ingest import Converted, Ingested, commit, convert, origin_of, pending
from cep.archive.manifest import End, Origin
from cep.archive.specifications import take_told
from cep.archive.store import store_at
from mt5bridge.spool import Segment, SegmentState, mark_archived


class Job(msgspec.Struct, frozen=True):
    """All an executor needs to convert segments; paths must mean the same on every machine."""

    archive: str
    origin: Origin
    ends: tuple[End, ...]

    def run(self, segment: Segment) -> Converted:
        return convert(segment, store_at(self.archive), self.origin, self.ends)


def ingest_spool(
    spark: SparkSession,
    spool: Path | str,
    archive: Archive,
    *,
    include_open: bool = False,
    on_segment: Callable[[int, int], None] | None = None,
) -> Ingested:
    """As `cep.archive.ingest_spool`, one Spark task a segment and one commit for all."""
    with archive.writing():
        segments = pending(Path(spool), include_open=include_open)
        told, problem = take_told(Path(spool), archive)
        total = Ingested(specifications=told)
        origin = origin_of(archive.manifest, segments)
        converted: list[Converted] = []
        if origin is not None:
            job = Job(archive.store.place, origin, archive.manifest.ends)
            converted = _run(spark, job, segments)
            commit(archive, origin, converted)
        for done, segment in enumerate(segments, start=1):
            mark_archived(segment)
            total = total.plus(converted[done - 1])
            if on_segment:
                on_segment(done, len(segments))
    if problem is not None:
        raise problem
    return total


def _run(spark: SparkSession, job: Job, segments: list[Segment]) -> list[Converted]:
    """What each of `segments` became, in their order."""
    encoded = msgspec.json.encode(job)
    rows = [(s.number, str(s.path.resolve()), s.state.value, s.size_bytes) for s in segments]
    tasks = spark.sparkContext.parallelize(rows, len(rows))
    answers = tasks.map(lambda row: _convert(encoded, *row)).collect()
    return [msgspec.json.decode(answer, type=Converted) for answer in answers]


def _convert(job: bytes, number: int, path: str, state: str, size_bytes: int) -> bytes:
    segment = Segment(number, Path(path), SegmentState(state), size_bytes)
    return msgspec.json.encode(msgspec.json.decode(job, type=Job).run(segment))
