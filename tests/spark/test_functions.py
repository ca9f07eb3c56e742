"""The user's functions on Spark: tasks get the files' text; rows are those of one process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from cep.backtest.parts import Job
from cep.engine.native import Compiled
from cep.functions import load_functions
from cep.plan import compile_rules
from cep.replay import in_order
from cep.spark.replay import replay_on_spark
from tests.functions.own import EXPECTED, FILE, RULES, TICKS, loaded


@pytest.fixture(autouse=True)
def nothing_loaded() -> Iterator[None]:
    yield
    load_functions([])


@pytest.mark.spark
def test_rows_are_those_of_one_process(spark: SparkSession, tmp_path: Path) -> None:
    loaded(tmp_path)
    rules = Compiled(compile_rules(RULES), jit=False)
    times, *columns = zip(*TICKS, strict=True)
    table = {"time_msc": times, **dict(zip(("symbol", "bid", "ask"), columns, strict=True))}
    sources = in_order([(rules.plan.sources[0], pa.table(table))])
    found = [
        row for rows in replay_on_spark(spark, rules, sources, tmp_path) for row in rows.dicts()
    ]
    assert [tuple(row.values())[3:] for row in found] == list(EXPECTED)


def spreads(job: bytes, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """In a Spark worker: the rules of a job at work."""
    for batch in batches:
        run = msgspec.json.decode(job, type=Job).compiled().start()
        found = run.push_rows("Tick", TICKS).dicts()
        yield pa.record_batch({"spread": [row["spread"] for row in found[: len(batch)]]})


@pytest.mark.spark
def test_workers_have_the_files_of_their_job(spark: SparkSession, tmp_path: Path) -> None:
    """They need not see the disk, and the next job's files replace those of the one before."""
    for factor in (1, 2):
        path = loaded(tmp_path, FILE.replace("* scale, 1", f"* scale * {factor}, 1"))
        job = msgspec.json.encode(Job.of(Compiled(compile_rules(RULES), jit=False), ()))
        path.unlink()
        frame = spark.range(0, 2, 1, 1)
        found = frame.mapInArrow(lambda it, job=job: spreads(job, it), "spread double").collect()
        assert [row.spread for row in found] == [1.0 * factor, 2.0 * factor]
