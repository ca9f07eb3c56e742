"""One Spark session for all tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from cep.spark.session import session


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    with session("local[2]", app="tests") as spark:
        yield spark
