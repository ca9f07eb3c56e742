"""One Spark session a process: quiet, local unless told otherwise, with the right Python."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from pyspark.sql import SparkSession

from cep.spark.java import find_java

LOG4J = Path(__file__).with_name("log4j2.properties")

# The JVM mostly waits for Python tasks: a quick start is worth more than peak speed.
FAST_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "8",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.python.worker.reuse": "true",
    "spark.driver.memory": "1g",
}
# Sessions of all open blocks; "active" alone would not do, Spark counts it by thread.
_blocks: list[SparkSession] = []
REPOSITORY = Path(__file__).resolve().parents[2]


def start(
    master: str = "local[*]",
    *,
    app: str = "mt5cep",
    settings: Mapping[str, str] | None = None,
) -> SparkSession:
    """The running session, or a new one on `master`. JavaError when there is no Java.

    A session that is already running is returned as it is: Spark has one a process.
    """
    running = SparkSession.getActiveSession()
    if running is not None:
        return running
    _prepare_environment()
    builder = SparkSession.builder.master(master).appName(app)
    options = {**SETTINGS, "spark.driver.extraJavaOptions": _java_options()}
    for name, value in {**options, **(settings or {})}.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def _java_options() -> str:
    return f"{FAST_START} -Dlog4j2.configurationFile={LOG4J.as_uri()}"


def _prepare_environment() -> None:
    """What Spark reads from the environment: its Java, its Python, and where to import from."""
    os.environ["JAVA_HOME"] = str(find_java().home)
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if str(REPOSITORY) not in paths:
        os.environ["PYTHONPATH"] = os.pathsep.join([str(REPOSITORY), *filter(None, paths)])


@contextlib.contextmanager
def session(
    master: str = "local[*]",
    *,
    app: str = "mt5cep",
    settings: Mapping[str, str] | None = None,
) -> Iterator[SparkSession]:
    """A session for the length of a block; stopped afterwards only if it was started here."""
    mine = not _blocks and SparkSession.getActiveSession() is None
    spark = start(master, app=app, settings=settings)
    _blocks.append(spark)
    try:
        yield spark
    finally:
        _blocks.pop()
        if mine:
            spark.stop()
