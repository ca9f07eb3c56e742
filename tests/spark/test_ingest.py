"""Archiving with Spark gives the files and the manifest that archiving without it gives."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from pyspark.sql import SparkSession

from cep.archive import Archive, compact, verify
from cep.archive import ingest_spool as ingest_alone
from cep.spark.ingest import ingest_spool
from cep.spark.session import start
from mt5bridge.spool import Spool
from tests.spool.groups import START_MSC, tick_group

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def fill(directory: Path, segments: int = 4) -> None:
    spool = Spool(directory, segment_bytes=1)
    spool.recover()
    for number in range(segments):
        for symbol in ("EURUSD", "XAUUSD"):
            times = START_MSC + number * 40_000_000 + np.arange(50)
            spool.append(tick_group(spool, symbol, 1 + 50 * number, times))
        spool.commit()
    spool.close()


def test_both_ways_give_the_same_archive(spark: SparkSession, tmp_path: Path) -> None:
    fill(tmp_path / "one")
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    alone, distributed = Archive(tmp_path / "a"), Archive(tmp_path / "b")
    ingest_alone(tmp_path / "one", alone)
    done = ingest_spool(spark, tmp_path / "two", distributed)
    assert (done.segments, done.rows) == (4, 400)
    assert set(alone.manifest.files) == set(distributed.manifest.files)
    assert alone.manifest.origins == distributed.manifest.origins
    assert verify(distributed).ok
    assert ingest_spool(spark, tmp_path / "two", distributed).rows == 0


def test_spark_reads_the_archive_as_a_table(spark: SparkSession, tmp_path: Path) -> None:
    fill(tmp_path / "spool")
    archive = Archive(tmp_path / "archive")
    ingest_alone(tmp_path / "spool", archive)
    compact(archive)
    table = spark.read.parquet(str(archive.directory / "ticks"))
    assert {"ingest", "time_msc", "bid", "date", "symbol"} <= set(table.columns)
    counts = {row["symbol"]: row["count"] for row in table.groupBy("symbol").count().collect()}
    assert counts == {"EURUSD": 200, "XAUUSD": 200}


def test_there_is_one_session_a_process(spark: SparkSession) -> None:
    assert start() is spark
