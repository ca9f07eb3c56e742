"""Tasks of Spark that open an archive in an object store themselves."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from cep.archive import Archive
from cep.archive.publish import publish
from cep.archive.remote import remote_at
from cep.backtest.selection import select
from cep.engine.native import Compiled
from cep.plan import compile_rules
from cep.spark.backtest import backtest
from cep.spark.helpers import SparkHelpers
from cep.sweep.search import Wish
from cep.sweep.sweep import Bench, Job
from tests.backtest.archives import imported
from tests.backtest.rules import CHAINED
from tests.object_store import object_store
from tests.spark.test_backtest import lines_in_sequence
from tests.sweep.test_sweep import POINTS, RULES

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Archive, Archive]]:
    """An archive in a folder, and the same in an object store."""
    here = imported(tmp_path_factory.mktemp("archive"), rows=400)
    with object_store() as store:
        address = store.new()
        publish(here, remote_at(address))
        yield here, Archive(address)


def test_rows_are_those_of_the_folder(
    spark: SparkSession, archives: tuple[Archive, Archive]
) -> None:
    here, there = archives
    plan = compile_rules(CHAINED)
    rules = Compiled(plan)
    found = backtest(spark, rules, select(there, plan), slice_rows=900)
    lines = [line for rows in found for line in rows.json_lines()]
    assert lines == lines_in_sequence(rules, select(here, plan))
    assert any(b'"stream":"Fade"' in line for line in lines)


@pytest.mark.campaign
def test_fills_of_a_sweep_are_those_of_the_folder(
    spark: SparkSession, archives: tuple[Archive, Archive]
) -> None:
    found = []
    for archive, helpers in zip(archives, (None, SparkHelpers(spark)), strict=True):
        bench = Bench(Job((RULES, "rules"), archive.store.place, {"point": POINTS}))
        search = Wish().search(bench, {"Width": "0.5,1,1.5,2", "Stop": "5"})
        rows = [one for block in search.rows(bench, helpers) for one in block]
        found.append(repr(sorted(rows, key=lambda one: one.number)))
    assert found[0] == found[1] and "'trades': 0" not in found[0]
