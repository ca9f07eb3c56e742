"""The tables of a backtest in Spark SQL."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession


def views(spark: SparkSession, directory: Path | str) -> list[str]:
    """A temporary view for every table that a backtest wrote to `directory`; their names."""
    files = sorted(Path(directory).resolve().glob("*.parquet"))
    for file in files:
        spark.read.parquet(str(file)).createOrReplaceTempView(file.stem)
    return [file.stem for file in files]
