"""`mt5cep archive specify` and `specifications`: what people tell an archive, and see of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from cep.archive import Archive, import_history
from cep.cli import main
from mt5bridge.history import TickBlock
from tests.backtest.archives import DAY_MS, START_MSC, walk
from tests.cli.test_archive_command import archive, run

__all__ = ["archive"]

RULES = """
define stream Tick (symbol string, bid double, ask double);
define event Up for each symbol as Tick[bid > 1.0];
define complex Go for each symbol as Up within 1 min;
define signal Buy on Go buy 0.1 lots stop 20 points target 20 points for 1 min;
"""
FILE = """
[account]
currency = "EUR"
hedging = true
[symbols.EURUSD]
point = 0.00001
filling_modes = ["ioc", "return"]
[risk]
lots_per_order = 1.0
"""


def test_what_a_file_says_is_told_once_and_listed(archive: Path, tmp_path: Path) -> None:
    (tmp_path / "account.toml").write_text(FILE)
    assert "none; tell some" in run("specifications", archive).stdout
    first = run("specify", archive, tmp_path / "account.toml", "--point", "XAUUSD=0.01")
    assert first.exit_code == 0, first.stderr
    assert "EURUSD     always  a file  point 0.00001, filling_modes ioc/return\n" in first.stdout
    again = run("specify", archive, tmp_path / "account.toml")
    assert again.stdout == "nothing new: all of it is known\n"
    later = run("specify", archive, "--point", "EURUSD=0.0001", "--since", "2024-03-01")
    assert later.stdout == "EURUSD  2024-03-01 00:00:00.000  a file  point 0.0001\n"
    assert run("specifications", archive).stdout.splitlines() == [
        "symbol     since                    from    told",
        "(account)  always                   a file  currency EUR, hedging true",
        "EURUSD     always                   a file  point 0.00001, filling_modes ioc/return",
        "EURUSD     2024-03-01 00:00:00.000  a file  point 0.0001",
        "XAUUSD     always                   a file  point 0.01",
    ]


def test_a_symbol_that_the_archive_lacks_is_noted(archive: Path) -> None:
    """It may come later; a slip of a name would be told in vain."""
    found = run("specify", archive, "--point", "EURUSDD=0.00001")
    assert found.exit_code == 0 and "EURUSDD" in found.stdout
    assert "the archive has no tick of EURUSDD yet; did you mean EURUSD?" in found.stderr
    assert not run("specify", archive, "--point", "EURUSD=0.00001").stderr


def test_prices_show_points_to_who_asks_and_a_run_with_signals_asks_for_them(
    tmp_path: Path,
) -> None:
    """Nothing is taken from prices without being told: not even where they show it."""
    ticks = walk(np.random.default_rng(1), START_MSC, DAY_MS, 400)
    few = ticks[:1].copy()
    place, rules = tmp_path / "archive", tmp_path / "rules.cep"
    import_history(Archive(place), [TickBlock("EURUSD", ticks), TickBlock("FEW", few)])
    rules.write_text(RULES)
    command = ("backtest", str(rules), "--archive", str(place), "--master", "none")
    refused = CliRunner().invoke(main, command)
    assert refused.exit_code == 2 and "rows:" not in refused.stdout
    assert "EURUSD: perhaps 0.00001, from 5 decimals of" in refused.stderr
    assert "--point EURUSD=0.00001 --point FEW=SIZE" in refused.stderr
    assert CliRunner().invoke(main, [*command, "--fills", "none"]).exit_code == 0
    told = run("specify", place, "--from-prices")
    assert told.stdout == "EURUSD  always  a file  point 0.00001\n"
    assert told.stderr.startswith("not told: FEW: ") and "--point FEW=SIZE" in told.stderr
    assert run("specify", place, "--from-prices", "--point", "FEW=0.1").exit_code == 0
    found = CliRunner().invoke(main, command)
    assert found.exit_code == 0, found.stderr
    assert "EURUSD 1e-05 (the archive has it from a file)" in found.stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[symbols.EURUSD]\npoin = 1", "poin`: no such key; did you mean `point`?"),
        ('[symbols."*"]\ncontract_size = 1', "name each symbol, or give the file to runs"),
        ("", "nothing is told"),
    ],
)
def test_what_is_no_specification_is_refused(
    archive: Path, tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "account.toml").write_text(text)
    refused = run("specify", archive, tmp_path / "account.toml")
    assert refused.exit_code == 2 and said in refused.stderr
    assert run("specify", tmp_path / "nowhere", "--point", "A=1").exit_code == 2
    assert not (tmp_path / "nowhere").exists()
