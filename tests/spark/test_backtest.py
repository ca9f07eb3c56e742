"""A backtest on Spark gives the bytes that one run in one process gives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from cep.archive import Archive, import_history
from cep.backtest.account_tables import trades_table
from cep.backtest.divided import Divided, Wanted
from cep.backtest.errors import BacktestError
from cep.backtest.selection import Selection, select
from cep.backtest.sequential import sequential
from cep.backtest.tables import Tables, write_table
from cep.dropped import Dropped, Ended, nobody
from cep.engine.native import Compiled
from cep.plan import compile_rules
from cep.replay import read_sources, replay
from cep.spark.backtest import backtest, parts_frame
from cep.spark.tables import views
from mt5bridge.history import TickBlock
from tests.backtest import test_by_time as by_time
from tests.backtest import told
from tests.backtest.archives import exported, imported, recorded
from tests.backtest.rules import ACROSS, CHAINED, KEYED, TICK
from tests.backtest.test_programs_apart import PROGRAMS
from tests.data.real_ticks import SYMBOLS, needs_real_ticks, ticks

pytestmark = [pytest.mark.spark, pytest.mark.slow]
PLAN = compile_rules(CHAINED)


@pytest.fixture(scope="module", params=[recorded, imported], ids=["recorded", "imported"])
def archive(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Archive:
    build: Callable[[Path], Archive] = request.param
    return build(tmp_path_factory.mktemp("archive"))


days = by_time.archive
"""Days of two symbols, each with a session and a night."""


def lines_in_sequence(rules: Compiled, selection: Selection, ended: Ended = nobody) -> list[bytes]:
    found = sequential(rules, selection, ended=ended)
    return [line for rows in found for line in rows.json_lines()]


@pytest.mark.parametrize("slice_rows", [1 << 20, 900])
def test_spark_is_sequential_is_replay(
    spark: SparkSession, archive: Archive, slice_rows: int, tmp_path: Path
) -> None:
    rules, selection = Compiled(PLAN), select(archive, PLAN)
    dropped: list[Dropped] = []
    found = backtest(spark, rules, selection, slice_rows=slice_rows, ended=dropped.append)
    lines = [line for rows in found for line in rows.json_lines()]
    assert lines == lines_in_sequence(rules, selection, dropped.append)
    assert dropped[0] and dropped[0] == dropped[1]
    replayed = replay(rules, read_sources(PLAN, exported(archive, tmp_path)))
    assert lines == [line for rows in replayed for line in rows.json_lines()]
    assert any(b'"stream":"Fade"' in line for line in lines)


def test_candles_are_run_apart(spark: SparkSession, archive: Archive) -> None:
    plan = compile_rules(TICK + PROGRAMS["candles to signals"])
    rules, selection = Compiled(plan), select(archive, plan)
    assert not rules.is_generated("sorted")
    found = backtest(spark, rules, selection, slice_rows=900)
    lines = [line for rows in found for line in rows.json_lines()]
    assert lines == lines_in_sequence(rules, selection)
    assert any(b'"stream":"Fade"' in line for line in lines)


@pytest.mark.parametrize("name", ["a window", "events that turn true", "candles"])
def test_one_symbol_is_run_in_parts_of_time(
    spark: SparkSession, days: Archive, name: str, tmp_path: Path
) -> None:
    rules = by_time.rules_of(name)
    selection = select(days, rules.plan, ["EURUSD"])
    divided = Divided.of(rules, selection, str(tmp_path), Wanted(slice_rows=300))
    assert len(divided.tasks) > 3
    dropped: list[Dropped] = []
    found = backtest(spark, rules, selection, slice_rows=300, ended=dropped.append)
    lines = [line for rows in found for line in rows.json_lines()]
    assert lines == lines_in_sequence(rules, selection, dropped.append)
    assert lines and dropped[0] == dropped[1]


def test_what_was_lived_keeps_its_watermarks(spark: SparkSession, tmp_path: Path) -> None:
    plan = compile_rules(told.RULES)
    archive = told.lived(tmp_path, told.any_life(1))
    told.history(archive, begin=1_000)
    rules, selection = Compiled(plan, jit=False), select(archive, plan)
    assert selection.clock
    dropped: list[Dropped] = []
    found = backtest(spark, rules, selection, slice_rows=40, ended=dropped.append)
    lines = [line for rows in found for line in rows.json_lines()]
    assert lines == lines_in_sequence(rules, selection, dropped.append)
    assert dropped[0] == dropped[1]
    assert any(reason.value == "late" for _, reason, _ in dropped[0])


def test_records_and_tasks_are_reported(spark: SparkSession, archive: Archive) -> None:
    rules, selection = Compiled(PLAN, outputs=["Fade"]), select(archive, PLAN)
    expected: list[int] = []
    signals = [line for rows in sequential(rules, selection, expected.append)
               for line in rows.json_lines()]  # fmt: skip
    seen: list[int] = []
    reached: list[tuple[int, int]] = []
    found = backtest(
        spark, rules, selection, slice_rows=500, advance=seen.append,
        on_task=lambda *done: reached.append(done),
    )  # fmt: skip
    assert [line for rows in found for line in rows.json_lines()] == signals
    assert sum(seen) == sum(expected) > 0
    assert all(0 <= done <= total for done, total in reached)


def test_the_parts_are_a_table(spark: SparkSession, archive: Archive, tmp_path: Path) -> None:
    rules, selection = Compiled(PLAN, outputs=["Fade"]), select(archive, PLAN)
    divided = Divided.of(rules, selection, str(tmp_path), Wanted(slice_rows=900))
    keys, bounds = divided.keys, divided.job.cuts
    frame = parts_frame(spark, divided, 4)
    frame.createOrReplaceTempView("parts")
    rows = spark.sql("select * from parts where rows > 0").collect()
    assert {row["symbol"] for row in rows} == set(keys)
    assert {row["slice"] for row in rows} == set(range(len(bounds) + 1))
    edges = [0, *bounds, 1 << 62]
    for row in rows:
        assert edges[row["slice"]] <= row["first_ingest"] <= row["last_ingest"]
        assert row["last_ingest"] < edges[row["slice"] + 1]


def test_what_crosses_symbols_is_refused(spark: SparkSession, archive: Archive) -> None:
    plan = compile_rules(ACROSS)
    with pytest.raises(BacktestError, match="cannot be run apart"):
        next(backtest(spark, Compiled(plan), select(archive, plan)))


def test_a_damaged_file_is_named(spark: SparkSession, tmp_path: Path) -> None:
    archive = recorded(tmp_path)
    plan = compile_rules(KEYED)
    selection = select(archive, plan)
    victim = archive.path(selection.files[-1])
    victim.write_bytes(victim.read_bytes()[:-1] + b"!")
    with pytest.raises(BacktestError, match="its checksum is wrong; restore it from a copy"):
        list(backtest(spark, Compiled(plan), selection))


def test_tables_become_views(spark: SparkSession, archive: Archive, tmp_path: Path) -> None:
    rules, selection = Compiled(PLAN, outputs=["Fade", "Reversal"]), select(archive, PLAN)
    expected = 0
    with Tables(tmp_path / "run" / "rows", PLAN, ["Fade", "Reversal"]) as tables:
        for rows in backtest(spark, rules, selection):
            tables.take(rows)
            expected += len(rows.of("Fade"))
    assert views(spark, tmp_path / "run") == ["Fade", "Reversal"]
    query = "select count(*) as n from Fade join Reversal using (ingest, key)"
    assert spark.sql(query).collect()[0]["n"] == expected > 0


def test_a_stream_that_would_hide_a_table_has_no_view(spark: SparkSession, tmp_path: Path) -> None:
    plan = compile_rules(TICK + "from Tick select symbol, bid insert into Trades;")
    with Tables(tmp_path / "run" / "rows", plan, ["Trades"]):
        pass
    write_table(tmp_path / "run" / "trades.parquet", trades_table([]))
    with pytest.raises(BacktestError, match="would be one view: Trades, trades"):
        views(spark, tmp_path / "run")


def test_views_have_the_names_of_streams(spark: SparkSession, tmp_path: Path) -> None:
    plan = compile_rules(TICK + "from Tick select symbol, bid insert into `../a.b`;")
    with Tables(tmp_path / "run" / "rows", plan, ["../a.b"]):
        pass
    write_table(tmp_path / "run" / "trades.parquet", trades_table([]))
    assert views(spark, tmp_path / "run") == ["../a.b", "trades"]
    assert spark.sql("select symbol from `../a.b`").count() == 0


@needs_real_ticks
def test_real_ticks(spark: SparkSession, tmp_path: Path) -> None:
    archive = Archive(tmp_path / "archive")
    for source in ("oanda_eurusd", "oanda_xauusd", "dukascopy_btcusd"):
        import_history(archive, [TickBlock(SYMBOLS[source], ticks(source, 1))], source)
    plan = compile_rules(KEYED)
    rules, selection = Compiled(plan), select(archive, plan)
    found = backtest(spark, rules, selection, slice_rows=50_000)
    lines = [line for rows in found for line in rows.json_lines()]
    assert lines == lines_in_sequence(rules, selection)
    assert sum(b'"stream":"Fade"' in line for line in lines) > 100
