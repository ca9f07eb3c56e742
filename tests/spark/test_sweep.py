"""Sweeps and walk-forwards on Spark: the rows of one process, byte for byte."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from pyspark.sql import SparkSession

from cep.archive import Archive
from cep.backtest.errors import BacktestError
from cep.backtest.options import Options
from cep.cli import main
from cep.functions import load_functions
from cep.functions.files import load_texts
from cep.spark.helpers import SparkHelpers
from cep.sweep import apart
from cep.sweep.search import Wish
from cep.sweep.sweep import Bench, Job
from cep.sweep.tried import Tried
from cep.sweep.walk import Walk, walked, windows
from tests.backtest import test_by_time as by_time
from tests.backtest.archives import imported
from tests.sweep.test_apart import PROGRAM
from tests.sweep.test_sweep import FILLS, POINTS, RULES, TRIED

pytestmark = [pytest.mark.spark, pytest.mark.slow]
HOUR_MS = 3_600_000
days = by_time.archive
ACCOUNT = """
[account]
currency = ''
balance = 5000
[symbols.'*']
contract_size = 1000
commission_per_lot = 3.5
"""
OWN = """
from cep.functions import function

@function(name="own:up")
def up(value: float) -> float:
    return value + 1.0
"""


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sweep")
    imported(folder, rows=400)
    return folder / "archive"


def bench_of(archive: Path, rules: str = RULES, **options: Any) -> Bench:
    given: Options = {"point": POINTS}
    given.update(options)  # type: ignore[typeddict-item]
    return Bench(Job((rules, "rules"), str(archive), given))


def rows(
    bench: Bench, helpers: SparkHelpers | None, wish: Wish, tried: dict[str, str]
) -> list[Tried]:
    found = wish.search(bench, tried).rows(bench, helpers)
    return sorted((one for block in found for one in block), key=lambda one: one.number)


@pytest.mark.parametrize("wish", [Wish(), Wish(random=5), Wish(optuna=6)], ids=repr)
def test_rows_are_those_of_one_process(spark: SparkSession, archive: Path, wish: Wish) -> None:
    found = rows(bench_of(archive), SparkHelpers(spark), wish, TRIED)
    assert repr(found) == repr(rows(bench_of(archive), None, wish, TRIED))
    assert sum(bool(one.measures["trades"]) for one in found) > 3


def test_few_variants_are_cut_by_time(
    spark: SparkSession, days: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, each = list[int](), SparkHelpers.each

    def counted(helpers: SparkHelpers, work: Any, common: Any, tasks: Sequence[Any]) -> Any:
        asked.append(len(tasks))
        return each(helpers, work, common, tasks)

    monkeypatch.setattr(SparkHelpers, "each", counted)
    monkeypatch.setattr(apart, "ROWS_MIN", 1)
    bench = bench_of(days.directory, PROGRAM, symbols=["EURUSD"], point={"EURUSD": 1e-5})
    tried = {"Width": "1", "Stop": "10,40"}
    found = rows(bench, SparkHelpers(spark), Wish(), tried)
    assert repr(found) == repr(rows(bench, None, Wish(), tried))
    assert all(one.measures["trades"] for one in found)
    assert asked[0] > 3 and asked[1:] == [2]


def test_what_an_account_costs_is_known_in_tasks(
    spark: SparkSession, archive: Path, tmp_path: Path
) -> None:
    """They need not see its file, nor any that the archive gets meanwhile."""
    file = tmp_path / "account.toml"
    file.write_text(ACCOUNT, encoding="utf-8")
    bench = bench_of(archive, FILLS, account=file)
    expected = rows(bench, None, Wish(), {"Width": "0.5,1", "Stop": "5", "Symbol": "EURUSD"})
    file.unlink()
    tried = {"Width": "0.5,1", "Stop": "5", "Symbol": "EURUSD"}
    found = rows(bench, SparkHelpers(spark), Wish(), tried)
    assert repr(found) == repr(expected)
    assert all(one.measures["costs"] for one in found)


def test_functions_of_the_user_go_with_the_tasks(
    spark: SparkSession, archive: Path, tmp_path: Path
) -> None:
    file = tmp_path / "own.py"
    file.write_text(OWN, encoding="utf-8")
    load_functions([file])
    try:
        rules = RULES.replace("Band[bid > ma", "Band[own:up(bid) > 1.0 + ma")
        tried = {"Width": "0.5,1", "Stop": "5", "Symbol": "EURUSD"}
        expected = rows(bench_of(archive, rules), None, Wish(), tried)
        assert repr(rows(bench_of(archive, rules), SparkHelpers(spark), Wish(), tried)) == repr(
            expected
        )
    finally:
        load_texts([])


def test_a_task_says_what_is_wrong(spark: SparkSession, tmp_path: Path) -> None:
    archive = imported(tmp_path, rows=200)
    bench = bench_of(archive.directory)
    victim = archive.path(bench.asked.selection.files[0])
    victim.write_bytes(victim.read_bytes()[:-1] + b"!")
    with pytest.raises(BacktestError, match="its checksum is wrong; restore it from a copy"):
        rows(bench, SparkHelpers(spark), Wish(), TRIED)


def test_windows_are_those_of_one_process(spark: SparkSession, archive: Path) -> None:
    bench = bench_of(archive)
    some = windows(*bench.asked.selection.interval_msc, HOUR_MS, HOUR_MS)
    search = Wish().search(bench, {**TRIED, "Symbol": "EURUSD"})
    found = list(walked(Walk(bench, search, "net"), some, SparkHelpers(spark)))
    expected = list(walked(Walk(bench_of(archive), search, "net"), some))
    assert [(one.row(), one.trades) for one in found] == [
        (one.row(), one.trades) for one in expected
    ]
    assert len(some) > 2 and any(one.trades for one in found)


def command(archive: Path, *given: str) -> Result:
    points = [text for name, size in POINTS.items() for text in ("--point", f"{name}={size}")]
    verb, rules, *more = given
    return CliRunner().invoke(main, [verb, rules, "--archive", str(archive), *points, *more])


def test_the_commands_write_the_same_bytes(
    spark: SparkSession, archive: Path, tmp_path: Path
) -> None:
    rules = tmp_path / "rules.cep"
    rules.write_text(RULES, encoding="utf-8")
    tried = ("--param", "Width=0.5,1", "--param", "Stop=5", "--param", "Symbol=EURUSD")
    said = {
        "sweep": ((), "an account of 3 symbols is one task"),
        "walkforward": (("--train", "1h", "--test", "1h"), "windows, each a task"),
    }
    for verb, (lengths, text) in said.items():
        files = [tmp_path / f"{verb}-{name}.csv" for name in ("alone", "spark")]
        given = [
            (verb, str(rules), *lengths, *tried, "--out", str(file), *where)
            for file, where in zip(files, ((), ("--master", "local[2]")), strict=True)
        ]
        alone, on_spark = (command(archive, *one) for one in given)
        assert alone.exit_code == on_spark.exit_code == 0, on_spark.output
        assert alone.stdout == on_spark.stdout and files[0].read_bytes() == files[1].read_bytes()
        assert text in on_spark.stderr and "on Spark local[2]" in on_spark.stderr


def test_options_of_one_place_only(archive: Path, tmp_path: Path) -> None:
    rules = tmp_path / "rules.cep"
    rules.write_text(RULES, encoding="utf-8")
    found = command(archive, "sweep", str(rules), "--master", "local[2]", "--jobs", "2")
    assert found.exit_code == 2 and "--jobs 2: Spark has tasks of its own" in found.stderr
    found = command(archive, "sweep", str(rules), "--conf", "spark.ui.port=1")
    assert found.exit_code == 2 and "--conf: this run is not on Spark" in found.stderr
