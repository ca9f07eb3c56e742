"""A sweep: each row is what a backtest with these values says, however the sweep is run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

import cep.backtest
import cep.sweep
from cep.cli import main
from cep.lang.parameters import Value
from cep.sweep.blocks import swept
from cep.sweep.files import content, table
from cep.sweep.found import Found
from cep.sweep.sweep import Bench, Job
from cep.sweep.trials import axes, grid
from cep.sweep.tried import Tried, columns_of, ranked
from mt5bridge.broker.leap import leap
from tests.backtest.archives import imported, recorded

TICK = "define stream Tick (symbol string, bid double, ask double);"
RULES = f"""
define parameter Width double = 1.0 range 0.5 to 2.0 step 0.25;
define parameter Stop int = 25 range 5 to 45 step 20;
define parameter Wait time = 9 min;
define parameter Symbol string = 'EURUSD' in ('EURUSD', 'GBPUSD');
{TICK}
from Tick#window.time(5 min)
select symbol, bid, avg(bid) as ma, stdDev(bid) as sd group by symbol insert into Band;
define engine Main (queue = 30 min);
define event Up for each symbol as Band[bid > ma + Width * sd];
define event Down for each symbol as Band[bid < ma - Width * sd];
define complex Turn for each symbol as Up followed by Down within Wait;
define complex Own as Up(Symbol) followed by Down(Symbol) within Wait;
define signal Fade on Turn sell 0.10 lots stop Stop points target 30 points for 30 min;
define signal Buy on Own buy Symbol 0.2 lots stop Stop points for 30 min;
"""
FILLS = (
    RULES.replace(TICK, TICK + "define stream Deal (symbol string, lots double);")
    + "from Deal select symbol, lots insert into Seen;"
)
TRIED = {"Width": "0.5,1.25,2", "Stop": "5:25:20", "Symbol": "EURUSD,GBPUSD"}
POINTS = {"EURUSD": 1e-5, "GBPUSD": 1e-5, "^GSPC": 1e-5}


@pytest.fixture(scope="module", params=["lived", "sorted"])
def archive(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sweep")
    (recorded if request.param == "lived" else imported)(folder)
    return folder / "archive"


def said_alone(
    rules: str, archive: Path, values: Mapping[str, Value], **options: Any
) -> dict[str, object]:
    """What `cep.backtest.run` says of the same values."""
    given = {**values, "Wait": f"{values['Wait']} ms"} if "Wait" in values else dict(values)
    found = cep.backtest.run(rules, archive, parameters=given, point=POINTS, **options)
    metrics = found.metrics
    return {
        **metrics["results"]["all"],
        "equity_drawdown": metrics["equity"]["drawdown"],
        "daily_sharpe": metrics["daily"]["sharpe"],
    }


def test_each_row_is_that_of_its_backtest_alone(archive: Path) -> None:
    found = cep.sweep.run(RULES, archive, TRIED, point=POINTS)
    assert len(found.rows) == found.wanted == 12
    assert sum(bool(one.measures["trades"]) for one in found.rows) > 6
    for one in found.rows[::3]:
        alone = said_alone(RULES, archive, one.values)
        assert one.measures == {name: alone[name] for name in one.measures}, one.values


def test_blocks_change_nothing(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = cep.sweep.run(RULES, archive, TRIED, point=POINTS).rows
    monkeypatch.setattr("cep.sweep.blocks.BLOCK", 5)
    assert cep.sweep.run(RULES, archive, TRIED, point=POINTS).rows == expected


def test_a_pool_of_processes_says_the_same(tmp_path: Path) -> None:
    imported(tmp_path, rows=400)
    given = RULES, tmp_path / "archive", {"Width": "0.5,1,1.5,2", "Stop": "5"}
    expected = cep.sweep.run(*given, point=POINTS)
    assert cep.sweep.run(*given, jobs=2, point=POINTS).rows == expected.rows


def test_rules_that_see_their_fills_run_one_by_one(tmp_path: Path) -> None:
    imported(tmp_path, rows=600)
    archive = tmp_path / "archive"
    found = cep.sweep.run(FILLS, archive, {"Width": "0.5,1", "Stop": "5"}, point=POINTS)
    for one in found.rows[::3]:
        alone = said_alone(FILLS, archive, one.values)
        assert one.measures == {name: alone[name] for name in one.measures}


def test_values_that_make_no_rules_are_rows_that_say_why(tmp_path: Path) -> None:
    imported(tmp_path, rows=100)
    found = cep.sweep.run(
        RULES, tmp_path / "archive", {"Wait": "9 min, 2 hour", "Width": "1", "Stop": "5"},
        point=POINTS,
    )  # fmt: skip
    errors = [one.error for one in found.rows]
    assert sum(map(bool, errors)) == 2 and len(found.run) == 2
    assert "`within` is 2 hour, but the queue of engine `Main` holds 30 min" in errors[2]


def test_what_is_ended_early_keeps_what_was_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported(tmp_path, rows=100)
    monkeypatch.setattr("cep.sweep.blocks.BLOCK", 2)
    bench = Bench(Job((RULES, "rules"), str(tmp_path / "archive"), {"point": POINTS}))
    trials = grid(axes(bench.known, TRIED))
    some = swept(bench, trials)
    first = [*next(some), *next(some)]
    some.close()
    assert sorted(one.number for one in first) == [0, 1, 2, 3]


def test_orders_of_all_variants_together_are_worth_machine_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr("cep.sweep.fills.loop_for", lambda *n: asked.append(n) or leap)
    imported(tmp_path, rows=400)
    given = RULES, tmp_path / "archive", {"Width": "0.5", "Symbol": "EURUSD"}
    cep.sweep.run(*given, point=POINTS)
    cep.sweep.run(*given[:2], {**given[2], "Stop": "5"}, point=POINTS)
    (together, new), (alone, _) = asked
    assert together == new == 3 * alone > 0, "stops change no order's moment"


def command(tmp_path: Path, *more: str) -> Result:
    imported(tmp_path, rows=300)
    (tmp_path / "rules.cep").write_text(RULES, encoding="utf-8")
    given = ["sweep", str(tmp_path / "rules.cep"), "--archive", str(tmp_path / "archive")]
    points = [text for name, size in POINTS.items() for text in ("--point", f"{name}={size}")]
    return CliRunner().invoke(main, [*given, *points, *more])


def test_the_command_lists_the_best_and_warns(tmp_path: Path) -> None:
    out = tmp_path / "rows.parquet"
    given = ("--param", "Width=0.5:1:0.25", "--param", "Wait=5 min,9 min", "--by", "points")
    found = command(tmp_path, *given, "--out", str(out), "--top", "3")
    assert found.exit_code == 0, found.output
    rows = pq.read_table(out).to_pylist()
    assert len(rows) == 3 * 2 * 3 * 2 and "best by points:" in found.output
    assert "the best of 36 tries is biased" in found.output
    assert "deflated Sharpe ratio" in found.output
    best = max(rows, key=lambda row: row["points"])
    line = found.output.splitlines()[2].split()
    assert line[0] == f"{best['Width']}" and float(line[-6]) == pytest.approx(best["net"], rel=1e-5)
    assert len(found.output.splitlines()) == 1 + 1 + 3 + 2


def test_rows_as_json_have_all_values(tmp_path: Path) -> None:
    out = tmp_path / "rows.json"
    found = command(tmp_path, "--random", "4", "--seed", "7", "--out", str(out))
    assert found.exit_code == 0, found.output
    rows = json.loads(out.read_text())
    assert [row["variant"] for row in rows] == [0, 1, 2, 3]
    assert all({"Width", "Stop", "Symbol", "net", "sharpe"} <= row.keys() for row in rows)


@pytest.mark.parametrize(
    ("more", "text"),
    [
        (["--limit", "10"], "42 combinations (Width 7 x Stop 3 x Symbol 2) are more than --limit"),
        (["--param", "Width=0.5:9"], "Width: 2.25 is not within 0.5 and 2.0"),
        (["--param", "Wdth=1"], "the rules have no parameter Wdth\nhelp: did you mean `Width`?"),
        (["--param", "Stop=9:5"], "Stop=9:5: no values"),
        (["--fills", "none"], "a sweep of nothing that is filled"),
        (["--out", "rows.txt"], "rows.txt: no format\nhelp: name it with one of .csv, .parquet"),
    ],
)
def test_what_cannot_be_is_told(tmp_path: Path, more: list[str], text: str) -> None:
    found = command(tmp_path, *more)
    assert found.exit_code == 2 and text in found.output


def test_the_best_come_first_and_those_without_a_measure_last() -> None:
    def tried(number: int, net: float | None) -> Tried:
        return Tried(number, {}, {"net": net, "drawdown": net}, np.zeros(0))

    rows = [tried(0, 1.0), tried(1, None), tried(2, 3.0), tried(3, 3.0)]
    assert [one.number for one in ranked(rows, "net")] == [2, 3, 0, 1]
    assert [one.number for one in ranked(rows, "drawdown")] == [0, 2, 3, 1]
    assert Found([replace(rows[0], error="x"), rows[1]], 2).run == [rows[1]]


@pytest.mark.parametrize("currency", ["", "EUR"])
def test_an_account_with_costs_nights_and_partial_fills_is_the_same(
    archive: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, currency: str
) -> None:
    """Ticks are passed over while nothing is open: whatever nights and waiting orders do."""
    file = tmp_path / "account.toml"
    file.write_text(
        f"[account]\ncurrency = '{currency}'\nbalance = 5000\nfills = [0.5, 0.5]\n"
        "hedging = true\n[symbols.'*']\nprofit_currency = 'USD'\n"
        "contract_size = 1000\nswap_mode = 'points'\nswap_long = -7.0\n"
        "swap_short = 2.0\ncommission_per_lot = 3.5\n",
        encoding="utf-8",
    )
    monkeypatch.setattr("cep.sweep.fills.CHUNK_TICKS", 3)
    monkeypatch.setattr("cep.sweep.fills.CHUNK_MAX", 7)
    tried = {"Width": "0.5,1.25", "Stop": "45", "Symbol": "GBPUSD"}
    found = cep.sweep.run(RULES, archive, tried, account=file, latency=900, point=POINTS)
    for one in found.rows:
        alone = said_alone(RULES, archive, one.values, account=file, latency=900)
        assert one.measures == {name: alone[name] for name in one.measures}
    assert any(one.measures["costs"] for one in found.rows)


def test_a_sweep_ended_before_its_first_variant_has_its_columns(tmp_path: Path) -> None:
    """A program that reads the file finds the columns, and no row."""
    columns = columns_of(["Width"])
    assert columns == list(Tried(0, {"Width": 1.0}, {}, np.zeros(0)).row())
    data = content([], tmp_path / "rows.csv", columns)
    assert data.decode().splitlines() == [",".join(f'"{name}"' for name in columns)]
    assert table([], columns).num_rows == 0
