"""`mt5cep stress`: the table, what breaks first, and mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cep.cli import main
from tests.backtest.test_stress import BIDS, history

GAINS = """
define stream Tick (symbol string, bid double);
define event Any for each symbol as Tick[bid > 0.0];
define complex One for each symbol as Any within 1 min;
define signal Long on One buy 1.0 lots for 1 hour;
"""
"""One long position, from the second tick to the end."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stress")
    history(folder / "archive", rows=150)
    (folder / "bids.cep").write_text(BIDS)
    return folder


def run(folder: Path, rules: str, *arguments: object) -> Result:
    given = ["stress", str(folder / f"{rules}.cep"), "--archive", str(folder / "archive")]
    return CliRunner().invoke(main, [*given, *map(str, arguments)])


def test_a_table_of_all_cells(folder: Path) -> None:
    found = run(folder, "bids", "--latency", "0,9", "--slippage", "0,1", "--spread", "1, 2,+3")
    assert found.exit_code == 0, found.output
    head, *rows = found.stdout.splitlines()
    assert head.split() == ["latency", "slippage", "spread", "trades", "not", "filled", "net",
                            "drawdown", "profit", "factor", "sharpe"]  # fmt: skip
    cells = [tuple(row.split()[:3]) for row in rows[:12]]
    assert cells == [(a, b, c) for a in "09" for b in "01" for c in ("1", "2", "+3")]


def test_what_breaks_first_is_said(tmp_path: Path) -> None:
    """A long that gains 40 points: a spread of 100 takes all, slippage of 1 does not."""
    (tmp_path / "gains.cep").write_text(GAINS)
    ticks = [f"{1_700_006_400_000 + 1000 * n},{1.1 + n / 1e5:.5f}," for n in range(50)]
    rows = [f"{tick}{float(tick.split(',')[1]) + 8e-5:.5f}" for tick in ticks]
    (tmp_path / "rising.csv").write_text("\n".join(["time_msc,bid,ask", *rows, ""]))
    given = ["archive", "import", str(tmp_path / "archive"), str(tmp_path / "rising.csv")]
    assert CliRunner().invoke(main, [*given, "--symbol", "EURUSD"]).exit_code == 0
    axes = ("--latency", "0,2000", "--slippage", "0,1", "--spread", "1,+92")
    found = run(tmp_path, "gains", *axes, "--point", "EURUSD=0.00001")
    assert found.exit_code == 0, found.output
    assert found.stdout.splitlines()[9:] == [
        "breaks first: spread +92 alone, net -0.00052 of 0.0004",
        "latency alone leaves net 0.00039 of 0.0004 at its harshest",
        "slippage alone leaves net 0.00039 of 0.0004 at its harshest",
    ]


def test_what_is_lost_already_cannot_break(folder: Path) -> None:
    found = run(folder, "bids", "--latency", 0, "--slippage", 50, "--spread", 1)
    assert found.stdout.splitlines()[-1].startswith("nothing is left to break: net -")


def test_cells_as_json(folder: Path) -> None:
    found = run(folder, "bids", "--latency", "0,5", "--slippage", 0, "--spread", "1.5,+2", "--json")
    cells = [json.loads(line) for line in found.stdout.splitlines()]
    names = ("latency_ms", "slippage_points", "spread_factor", "spread_points")
    assert [tuple(cell[name] for name in names) for cell in cells] == [
        (0, 0, 1.5, 0), (0, 0, 1, 2), (5, 0, 1.5, 0), (5, 0, 1, 2),
    ]  # fmt: skip
    assert all(cell["trades"] > 0 for cell in cells)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--latency", "fast"], "--latency fast: no numbers"),
        (["--latency", "1.5"], "--latency 1.5: no numbers"),
        (["--slippage", "-1"], "slippage: -1.0 is out of its range"),
        (["--slippage", ","], "slippage: no value"),
        (["--spread", "1,x"], "spread 'x': no factor"),
        (["--fills", "none"], "nothing is traded"),
        (["--symbols", "EURUS"], "did you mean EURUSD?"),
    ],
)
def test_what_cannot_be_is_refused(folder: Path, arguments: list[str], said: str) -> None:
    found = run(folder, "bids", *arguments)
    assert found.exit_code == 2 and said in found.stderr and "help: " in found.stderr


def test_a_backtest_always_says_what_doubled_costs_leave(folder: Path, tmp_path: Path) -> None:
    given = ["backtest", str(folder / "bids.cep"), "--archive", str(folder / "archive"),
             "--master", "none", "--run", str(tmp_path / "run")]  # fmt: skip
    found = CliRunner().invoke(main, given)
    assert found.exit_code == 0, found.output
    (line,) = (one for one in found.stdout.splitlines() if one.startswith("with doubled costs: "))
    told = json.loads((tmp_path / "run" / "metrics.json").read_text())["doubled_costs"]
    assert f"net {told['results']['net']:.6g}, trades {told['results']['trades']}," in line
    assert line.endswith("(spread, slippage, commission and swap twice as high)")
    assert "Net, costs doubled" in (tmp_path / "run" / "report.html").read_text()


def test_parameters_of_the_rules_can_be_given(folder: Path) -> None:
    """Of `stress` and `lookahead` as of `backtest`."""
    text = "define parameter High double = 9.0;\n" + BIDS.replace("bid > ma", "bid > High")
    (folder / "param.cep").write_text(text)
    axes = ("--latency", 0, "--slippage", 0, "--spread", 1, "--json")
    none, some = (
        json.loads(run(folder, "param", *axes, *more).stdout)["trades"]
        for more in ((), ("--param", "High=0.5"))
    )
    assert none == 0 < some
    given = ["lookahead", str(folder / "param.cep"), "--archive", str(folder / "archive")]
    found = CliRunner().invoke(main, [*given, "--cuts", "1", "--param", "High=0.5"])
    assert found.exit_code == 0 and " 0 orders" not in found.stdout, found.output
    assert CliRunner().invoke(main, [*given, "--param", "Low=1"]).exit_code == 2
