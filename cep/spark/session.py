"""One Spark session a process: quiet, local unless told otherwise, the right Python and code."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import SparkSession

from cep.backtest.code import ROOT
from cep.spark.code import packed
from cep.spark.java import find_java
from cep.spark.masters import is_here, is_local, retrying

LOG4J = Path(__file__).with_name("log4j2.properties")

# The JVM mostly waits for Python tasks: a quick start is worth more than peak speed.
FAST_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "8",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.python.worker.reuse": "true",
    "spark.driver.memory": "1g",
}
# Other machines have to reach the driver: there Spark finds its address, or `settings` name it.
SETTINGS_HERE = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
# Sessions of all open blocks; "active" alone would not do, Spark counts it by thread.
_blocks: list[SparkSession] = []
_CODE = "mt5cep-code"
"""The folder in an executor's own that our packages are unpacked into."""


def start(
    master: str = "local[*]",
    *,
    app: str = "mt5cep",
    settings: Mapping[str, str] | None = None,
    code: Path | None = None,
) -> SparkSession:
    """The running session, or a new one on `master`. JavaError when there is no Java.

    A session that is already running is returned as it is: Spark has one a process. `settings` are
    Spark's own and stand over ours. `code` is the zip file of our packages for executors.
    """
    running = SparkSession.getActiveSession()
    if running is not None:
        return running
    given = dict(settings or {})
    _prepare_environment(master, given)
    builder = SparkSession.builder.master(retrying(master)).appName(app)
    for name, value in {**_usual(master, code), **given}.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def _usual(master: str, code: Path | None) -> dict[str, str]:
    """The settings of a run that says nothing of them."""
    options = {**SETTINGS, "spark.driver.extraJavaOptions": _java_options()}
    if is_here(master):
        options |= SETTINGS_HERE
    if code is not None:
        options["spark.archives"] = f"{code.as_uri()}#{_CODE}"
        options["spark.executorEnv.PYTHONPATH"] = _CODE
    return options


def _java_options() -> str:
    return f"{FAST_START} -Dlog4j2.configurationFile={LOG4J.as_uri()}"


def _prepare_environment(master: str, settings: Mapping[str, str]) -> None:
    """What Spark reads from the environment: its Java, its Python, and where to import from.

    Other machines' Python may lie elsewhere: `PYSPARK_PYTHON` or `spark.pyspark.python` say where.
    """
    os.environ["JAVA_HOME"] = str(find_java().home)
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    known = None if is_here(master) else os.environ.get("PYSPARK_PYTHON")
    os.environ["PYSPARK_PYTHON"] = settings.get("spark.pyspark.python") or known or sys.executable
    if is_here(master):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if str(ROOT) not in paths:
        os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, paths)])


@contextlib.contextmanager
def session(
    master: str = "local[*]",
    *,
    app: str = "mt5cep",
    settings: Mapping[str, str] | None = None,
) -> Iterator[SparkSession]:
    """A session for the length of a block; stopped afterwards only if it was started here.

    A cluster's machines get our own code with it; what that imports has to be there.
    """
    mine = not _blocks and SparkSession.getActiveSession() is None
    with contextlib.ExitStack() as stack:
        code = None
        if mine and not is_local(master):
            code = packed(Path(stack.enter_context(TemporaryDirectory(prefix="mt5cep-code-"))))
        spark = start(master, app=app, settings=settings, code=code)
        _blocks.append(spark)
        try:
            yield spark
        finally:
            _blocks.pop()
            if mine:
                spark.stop()
