"""The tables of a backtest in Spark SQL."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from pyspark.sql import SparkSession

from cep.archive.paths import decode_name
from cep.backtest.errors import BacktestError
from cep.backtest.run_folder import ROWS


def views(spark: SparkSession, directory: Path | str) -> list[str]:
    """A temporary view for every table in the folder of a run: those of streams, then `deals`,
    `equity`, `orders` and `trades`; their names. BacktestError for a stream of one of these names.
    """
    folder = Path(directory).resolve()
    files = [*sorted((folder / ROWS).glob("*.parquet")), *sorted(folder.glob("*.parquet"))]
    names = [decode_name(file.stem) for file in files]
    counts = Counter(name.casefold() for name in names)
    if twice := {name for name in names if counts[name.casefold()] > 1}:
        raise BacktestError(
            f"{directory}: stream and table would be one view: {', '.join(sorted(twice))}",
            "read the files themselves, or give the stream another name",
        )
    for file, name in zip(files, names, strict=True):
        quoted = name.replace("`", "``")
        spark.read.parquet(str(file)).createOrReplaceTempView(f"`{quoted}`")
    return names
