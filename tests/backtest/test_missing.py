"""A backtest says what it did not find, where silence could be taken for an answer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from cep.archive import Archive, import_history
from cep.cli import main
from mt5bridge.history import TickBlock
from mt5bridge.records import TICK, Records
from tests.backtest.archives import with_points

START_MSC = 1_709_285_400_000
RULES = """
define stream Tick (symbol string, bid double, ask double);
define event High for each symbol as Tick[bid > 1.5];
define event Low for each symbol as Tick[bid > 1.0];
define complex Both as High('EURUSD') and Low('GBPUSDX') within 1 min;
define complex Once for each symbol as Low within 1 min;
define signal Never on Both buy 'EURUSD' 0.10 lots;
define signal Gold on Once sell 'XAUUSD' 0.10 lots;
"""


def run(folder: Path, rules: str, *options: str) -> Result:
    path = folder / "rules.cep"
    path.write_text(rules, encoding="utf-8")
    given = ("backtest", path, "--archive", folder / "archive", "--master", "none", *options)
    return CliRunner().invoke(main, [*map(str, given)])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    ticks: Records = np.zeros(50, TICK)
    ticks["time_msc"] = START_MSC + 1000 * np.arange(50)
    ticks["bid"] = 1.1 + 1e-5 * np.arange(50)
    ticks["ask"] = ticks["bid"] + 1e-4
    blocks = [TickBlock("EURUSD", ticks), TickBlock("GBPUSD", ticks)]
    import_history(Archive(tmp_path / "archive"), blocks)
    late = ticks.copy()
    late["time_msc"] += 86_400_000
    archive = Archive(tmp_path / "archive")
    import_history(archive, [TickBlock("XAUUSD", late)])
    with_points(archive)
    return tmp_path


def test_symbols_that_rules_name_and_signals_that_never_came_are_told(folder: Path) -> None:
    told = run(folder, RULES, "--to", "2024-03-02", "--fills", "none")
    assert told.exit_code == 0, told.output
    notes = [line for line in told.stderr.splitlines() if line.startswith("note: ")]
    assert notes == [
        "note: the rules name GBPUSDX, and the archive has no tick of it; it has GBPUSD",
        "note: the rules name XAUUSD, and no tick of it is in what this run reads",
        "note: no signal Never: what it waits for never happened",
    ]
    assert "rows: Gold 2" in told.stdout


def test_rows_that_nobody_asked_for_are_not_called_none(folder: Path) -> None:
    rules = "\n".join(RULES.splitlines()[:4])
    asked = run(folder, rules, "--out", str(folder / "rows.jsonl"), "--streams", "High")
    assert "rows: none\n" in asked.stdout, asked.output
    assert "rows: not asked for; --out and --run write them" in run(folder, rules).stdout


def test_signals_that_came_to_nothing_are_told_with_their_reasons(folder: Path) -> None:
    told = run(folder, RULES, "--to", "2024-03-02")
    assert "note: no order of the signal Gold was filled: no later tick 2" in told.stderr
    rules = RULES.replace("sell 'XAUUSD'", "buy 'EURUSD'")
    assert "was filled" not in run(folder, rules, "--to", "2024-03-02").stderr
    (folder / "account.toml").write_text("[risk]\nsymbols = ['GBPUSD']\n")
    refused = run(folder, rules, "--to", "2024-03-02", "--account", str(folder / "account.toml"))
    assert "note: no signal became an order: limit symbols 2" in refused.stderr, refused.output


def test_a_stream_without_records_is_told(folder: Path) -> None:
    rules = RULES.splitlines()[:4]
    rules.append("define stream Deal (symbol string, price double);")
    rules.append("define event Filled for each symbol as Deal[price > 0.0];")
    told = run(folder, "\n".join(rules))
    assert "note: no record of the stream Deal is in what this run reads" in told.stderr


def test_risk_needs_an_account_that_has_money(folder: Path) -> None:
    """docs/backtest.md: `risk X percent` needs an account's file."""
    rules = RULES.replace("sell 'XAUUSD' 0.10 lots", "buy 'EURUSD' risk 1 percent stop by 0.001")
    told = run(folder, rules)
    assert told.exit_code == 2 and "signal Gold risks a share of the account" in told.stderr
    assert "--account FILE" in told.stderr
    assert run(folder, rules, "--fills", "none").exit_code == 0
    specified = (
        "[account]\nbalance = 1000.0\n[symbols.EURUSD]\ncontract_size = 100000.0\npoint = 0.00001\n"
    )
    (folder / "account.toml").write_text(specified, encoding="utf-8")
    traded = run(folder, rules, "--account", str(folder / "account.toml"))
    assert traded.exit_code == 0 and "invalid volume" not in traded.stderr, traded.output
