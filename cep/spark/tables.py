"""The tables of a backtest in Spark SQL."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from cep.archive.paths import decode_name


def views(spark: SparkSession, directory: Path | str) -> list[str]:
    """A temporary view for every table that a backtest wrote to `directory`; their names."""
    files = sorted(Path(directory).resolve().glob("*.parquet"))
    names = [decode_name(file.stem) for file in files]
    for file, name in zip(files, names, strict=True):
        quoted = name.replace("`", "``")
        spark.read.parquet(str(file)).createOrReplaceTempView(f"`{quoted}`")
    return names
