"""Every command that runs rules ends with what was dropped, on standard error."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cep.cli import main

RULES = """\
define stream Tick (symbol string, bid double);
define engine Main (queue = 1 min);
from Tick[bid > 0.0] select symbol, bid * 2.0 as bid insert into Twice;
define event Up in Main for each symbol as every Tick[bid > 1.0];
define event High in Main for each symbol as every Twice[bid > 4.0] repeat allow;
"""
TICKS = """\
ingest,time_msc,symbol,bid
1,1700000000000,A,2.0
2,1700000000100,A,3.0
3,1700000000050,A,3.0
4,1700000000200,B,0.5
"""
SUMMARY = "dropped:\n  event High: 1 late\n  event Up: 2 repeat\n"
WAYS = {
    "native": ["--plain"],
    "reference": ["--backend", "reference"],
    "trace": ["--trace", "A"],
    "database": ["--plain", "--backend", "database", "--url", "sqlite://"],
    "machine code": [],
}


def replay(folder: Path, ticks: str, *options: str) -> Result:
    rules, rows = folder / "r.cep", folder / "ticks.csv"
    rules.write_text(RULES, encoding="utf-8")
    rows.write_text(ticks, encoding="utf-8")
    return CliRunner().invoke(main, ["replay", str(rules), "--input", f"Tick={rows}", *options])


@pytest.mark.parametrize("way", WAYS)
def test_a_replay_ends_with_the_summary(tmp_path: Path, way: str) -> None:
    """Whatever runs it: the same numbers, and none of it on standard output."""
    done = replay(tmp_path, TICKS, *WAYS[way])
    assert done.exit_code == 0, done.output
    assert done.stderr.endswith(SUMMARY) and "dropped:" not in done.stdout
    assert done.stdout


def test_one_line_says_that_nothing_was_dropped(tmp_path: Path) -> None:
    lines = TICKS.splitlines(keepends=True)
    done = replay(tmp_path, "".join((lines[0], lines[1], lines[4])), "--plain")
    assert (done.exit_code, done.stderr) == (0, "dropped: nothing\n")
