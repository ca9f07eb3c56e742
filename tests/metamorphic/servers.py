"""A PostgreSQL server and a Spark session, started when a way first asks for them."""

from __future__ import annotations

import atexit
from contextlib import ExitStack
from functools import cache

from pyspark.sql import SparkSession

from cep.spark.session import session
from tests.database.servers import running

_started = ExitStack()


@cache
def postgresql() -> str:
    """The URL of a server that runs until they are stopped."""
    return _started.enter_context(running()).url


@cache
def spark() -> SparkSession:
    """A session on this machine."""
    return _started.enter_context(session("local[2]", app="tests"))


@atexit.register
def stop() -> None:
    """Stop what runs; who asks again gets another."""
    postgresql.cache_clear()
    spark.cache_clear()
    _started.close()
