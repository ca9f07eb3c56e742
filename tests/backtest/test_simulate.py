"""Fills over archived ticks, from rules to trades, tables and a report."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cep.account.orders import Order
from cep.archive import Archive
from cep.backtest.account_tables import account_tables
from cep.backtest.assumptions import assumptions
from cep.backtest.daily import NO_RETURNS
from cep.backtest.errors import BacktestError
from cep.backtest.metrics import by_signal
from cep.backtest.orders import orders
from cep.backtest.page import CHARTS_MAX, Findings, report
from cep.backtest.results import KEPT_MAX, Results, picked
from cep.backtest.selection import select
from cep.backtest.sequential import sequential
from cep.backtest.simulate import Outcome, simulate, tick_selection
from cep.backtest.tables import Collected, Tables, write_table
from cep.backtest.trades import Trade
from cep.engine.native import Compiled
from cep.engine.output_rows import OutputRows
from cep.engine.rows import Rows
from cep.plan import compile_rules
from cep.report import MarkerKind, render
from tests.backtest.archives import POINTS, recorded
from tests.backtest.naive import Naive
from tests.backtest.rules import CHAINED

PLAN = compile_rules(CHAINED)


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    return recorded(tmp_path_factory.mktemp("archive"))


@pytest.fixture(scope="module")
def results(archive: Archive) -> Results:
    found = Results(PLAN, keep_events=True)
    for rows in sequential(Compiled(PLAN), select(archive, PLAN), found.add_records):
        found.take(rows)
    return found


@pytest.fixture(scope="module")
def made(results: Results) -> list[Order]:
    return orders(results.signals, 60_000)[0]


def naive(archive: Archive, waiting: list[Order], point: float) -> list[dict[str, object]]:
    trades, still_open = [], []
    for symbol in {order.symbol for order in waiting}:
        account = Naive([order for order in waiting if order.symbol == symbol], point)
        for batch in archive.read_batches("ticks", {symbol}):
            for row in batch.to_pylist():
                if row["quality"] & 7 == 0:
                    account.push((2 * row["ingest"], row["time_msc"], row["bid"], row["ask"]))
        count = len(account.trades)
        account.end()
        trades += zip(account.places[:count], account.trades[:count], strict=True)
        still_open += account.trades[count:]
    still_open.sort(key=lambda trade: (trade["closed_msc"], trade["symbol"]))
    return [*(trade for _, trade in sorted(trades, key=lambda pair: pair[0])), *still_open]


def check(trades: list[Trade], expected: list[dict[str, object]]) -> None:
    for trade, other in zip(trades, expected, strict=True):
        assert asdict(trade) == pytest.approx(other)


def test_trades_are_those_of_the_naive_account(archive: Archive, made: list[Order]) -> None:
    ticks = tick_selection(archive, select(archive, PLAN), {order.symbol for order in made})
    outcome = simulate(ticks, made, POINTS)
    assert set(outcome.points.values()) == {1e-05}
    check(outcome.trades, naive(archive, made, 1e-05))
    assert {trade.reason for trade in outcome.trades} >= {"stop", "opposite", "close"}
    assert {trade.signal for trade in outcome.trades} == {"Fade", "Buy"}


def test_points_can_be_given(archive: Archive, made: list[Order]) -> None:
    ticks = tick_selection(archive, select(archive, PLAN), {"EURUSD"})
    outcome = simulate(ticks, made, {"EURUSD": 1e-4})
    assert outcome.points == {"EURUSD": 1e-4}
    expected = naive(archive, [order for order in made if order.symbol == "EURUSD"], 1e-4)
    check(outcome.trades, expected)
    others = sum(order.symbol != "EURUSD" for order in made)
    assert outcome.refused["no later tick"] >= others > 0


def test_counts_and_signals(archive: Archive, results: Results) -> None:
    rows = [
        row for rows in sequential(Compiled(PLAN), select(archive, PLAN)) for row in rows.dicts()
    ]
    assert results.counts.total() == len(rows)
    signals = [row for row in rows if row["stream"] in ("Fade", "Buy", "Out")]
    assert [row for _, row in results.signals] == signals
    own = [row for row in rows if row["stream"] == "Reversal"]
    assert list(results.recent["Reversal"]) == own[-KEPT_MAX:]


def test_picked_rows_are_those_of_their_streams(archive: Archive) -> None:
    for rows in sequential(Compiled(PLAN), select(archive, PLAN)):
        expected = [row for row in rows.dicts() if row["stream"] in ("Mid", "Fade")]
        assert picked(rows, {"Mid", "Fade"}).dicts() == expected


def test_tables_hold_the_rows(archive: Archive, results: Results, tmp_path: Path) -> None:
    streams = ["Band", "Up", "Reversal", "Fade"]
    expected: dict[str, list[dict[str, object]]] = {name: [] for name in streams}
    collected = Collected(PLAN, streams)
    with Tables(tmp_path / "run", PLAN, streams) as tables:
        for rows in sequential(Compiled(PLAN), select(archive, PLAN)):
            tables.take(rows)
            collected.take(rows)
            for row in rows.dicts():
                if row["stream"] in expected:
                    expected[row["stream"]].append(row)
    for name, members in expected.items():
        table = pq.read_table(tmp_path / "run" / f"{name}.parquet")
        assert collected.tables[name] == table
        assert table.column_names[:2] == ["ingest", "time_msc"]
        plain = [{k: v for k, v in row.items() if k not in ("stream", "kind")} for row in members]
        assert table.drop_columns("ingest").to_pylist() == plain
    ingest = pq.read_table(tmp_path / "run" / "Fade.parquet")["ingest"].to_pylist()
    assert ingest == [place >> 1 for place, row in results.signals if row["stream"] == "Fade"]


def test_a_row_group_is_no_single_row(archive: Archive, tmp_path: Path) -> None:
    with Tables(tmp_path, PLAN, ["Band"]) as tables:
        for rows in sequential(Compiled(PLAN), select(archive, PLAN)):
            for place in range(len(rows)):
                raw = OutputRows(rows.ints[[place]], rows.floats[[place]], rows.lists)
                tables.take(Rows(rows.decoder, raw))
    metadata = pq.read_metadata(tmp_path / "Band.parquet")
    assert metadata.num_rows > 100 and metadata.num_row_groups == 1


def test_what_the_account_did_as_tables(archive: Archive, made: list[Order]) -> None:
    ticks = tick_selection(archive, select(archive, PLAN), {"EURUSD"})
    outcome = simulate(ticks, made, POINTS)
    tables = account_tables(outcome, NO_RETURNS)
    rows = tables["trades"].to_pylist()
    assert rows == [asdict(trade) for trade in outcome.trades] and rows
    asked = tables["orders"].to_pylist()
    assert [row["number"] for row in asked] == list(range(1, len(made) + 1))
    assert sorted((row["ingest"], row["signal"]) for row in asked) == sorted(
        (order.order >> 1, order.signal) for order in made
    )
    answers = Counter(row["answer"] for row in asked)
    assert answers.pop("done (10009)") > 0 and answers == +outcome.refused
    deals = tables["deals"].to_pylist()
    assert len(deals) == len(outcome.deals)
    assert sum(row["profit"] for row in deals) == pytest.approx(outcome.money.profit)
    for row in deals:
        of = asked[row["order_number"] - 1] if row["order_number"] else None
        assert (of is None) == (row["reason"] != "signal")
        assert of is None or (of["signal"], of["symbol"]) == (row["signal"], row["symbol"])
        assert of is None or (of["ingest"] < row["ingest"] and of["retcode"] == 10009)
    assert tables["equity"]["equity"].to_pylist()[-1] == pytest.approx(outcome.money.equity)


def test_the_report_shows_everything(archive: Archive, results: Results, made: list[Order]) -> None:
    selection = select(archive, PLAN)
    ticks = tick_selection(archive, selection, set(selection.symbols))
    outcome = simulate(ticks, made, POINTS)
    found = by_signal(outcome.trades, selection.span_ms)
    notes = assumptions(outcome.points, 60)
    page = report(Findings("Bands", "two days", results, outcome, found, notes), ticks)
    tabs = {chart.symbol: chart for chart in page.charts}
    assert set(tabs) == {"Equity", "Points", "EURUSD", "GBPUSD", "^GSPC"}
    assert len(tabs) <= CHARTS_MAX + 2
    assert tabs["Points"].series[0].values[-1] == pytest.approx(found["all"].points)
    assert tabs["Equity"].series[0].values[-1] == pytest.approx(found["all"].net)
    assert tabs["Points"].digits == 1
    assert [len(scatter.dots) for scatter in page.scatters] == [found["all"].trades] * 2
    assert any(dot.x < dot.y for dot in page.scatters[0].dots)
    (histogram,) = page.histograms
    assert list(histogram.values) == [trade.points for trade in outcome.trades]
    held = {queue.engine: {stay.event for stay in queue.stays} for queue in tabs["EURUSD"].queues}
    assert held["Tactical"] >= {"Up", "Down"} and "Reversal" in held["Portfolio"]
    assert any(stay.binds for queue in tabs["EURUSD"].queues for stay in queue.stays)
    equity = tabs["Points"].series[0]
    times = equity.time_msc.tolist()
    assert equity.values[0] == 0.0 and times == sorted(times)
    assert tabs["EURUSD"].digits == 5 and {m.kind for m in tabs["EURUSD"].markers} == set(
        MarkerKind
    )
    tables = {table.title: table for table in page.tables}
    assert len(tables["Trades"].rows) == len(outcome.trades)
    assert len(tables["Signals"].rows) == len(results.signals)
    assert [row[0] for row in tables["Assumptions"].rows] == notes
    html = render(page)
    assert "Market orders fill at the first tick of their symbol" in html and "Bands" in html


def test_of_many_symbols_the_number_is_told() -> None:
    sizes = {f"S{number:02}": 0.01 for number in range(13)}
    assert assumptions(sizes, 60)[-1].endswith("S08 0.01, S09 0.01 and 3 more.")
    assert assumptions(dict(list(sizes.items())[:10]), 60)[-1].endswith("S08 0.01, S09 0.01.")


def test_a_report_without_trades(archive: Archive) -> None:
    selection = select(archive, PLAN)
    none = Findings("None", "", Results(PLAN), Outcome(), by_signal([], 1), [])
    page = report(none, tick_selection(archive, selection, {"EURUSD"}))
    assert [chart.symbol for chart in page.charts] == ["EURUSD"]
    assert ("Trades", "0") in page.summary and ("Win rate", "-") in page.summary


@pytest.mark.parametrize("name", ["ingest", "Ingest", "Time_msc"])
def test_no_attribute_hides_a_column_of_its_table(tmp_path: Path, name: str) -> None:
    """Before the run, and before a folder is made."""
    text = f"define stream Tick (symbol string, bid double);\nfrom Tick select bid as {name}"
    plan = compile_rules(f"{text} insert into O;")
    with pytest.raises(BacktestError, match=f"its attribute `{name}`") as caught:
        Tables(tmp_path / "run", plan, ["O"])
    assert f"as `own_{name}`" in str(caught.value.hint)
    assert not (tmp_path / "run").exists()


def test_a_table_that_cannot_be_written_is_named(
    archive: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **_named: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
    failing = pytest.raises(BacktestError, match=r"parquet: cannot be written .*No space")
    with failing as caught, Tables(tmp_path, PLAN, ["Band"]) as tables:
        for rows in sequential(Compiled(PLAN), select(archive, PLAN)):
            tables.take(rows)
    assert caught.value.hint
    monkeypatch.setattr(pq, "write_table", full)
    with pytest.raises(BacktestError, match=r"x\.parquet.*No space"):
        write_table(tmp_path / "x.parquet", collected_nothing())


def collected_nothing() -> pa.Table:
    return Collected(PLAN, ["Band"]).tables["Band"]
