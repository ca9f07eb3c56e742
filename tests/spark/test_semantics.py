"""Every case of `tests/semantics` on Spark: the rows that the case says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from cep.engine.native import Compiled
from cep.spark.replay import replay_on_spark
from tests.database.test_semantics import sources
from tests.semantics.back_ends import NATIVE_DIFFERS
from tests.semantics.loader import load_cases

CASES = {one.name: one for one in load_cases() if one.refused is None and one.mode == "sorted"}
"""A replay is of records in the order of time."""


@pytest.mark.spark
@pytest.mark.campaign
@pytest.mark.parametrize("name", CASES)
def test_case(name: str, spark: SparkSession, tmp_path: Path) -> None:
    case = CASES[name]
    rules = Compiled(case.plan(), jit=False)
    made = replay_on_spark(spark, rules, list(sources(case.plan(), case.rows_in)), tmp_path)
    rows = [json.loads(line) for found in made for line in found.json_lines()]
    assert (case.observed(rows) != case.expected) == (name in NATIVE_DIFFERS), case.title
