"""Every command that runs rules ends with what was dropped, on standard error."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from loguru import logger

from cep.cli import daemon as daemon_command
from cep.cli import main
from cep.daemon import DaemonFailedError
from cep.dropped import Dropped, Reason
from mt5bridge.server import Sink
from tests.live.service import write_settings

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


@pytest.mark.parametrize("fails", [False, True])
def test_the_daemon_logs_it_at_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    class Short:
        """A daemon that ends at once."""

        sink, dropped = Sink(), Dropped([(("event", "Up"), Reason.LATE, 3)])

        def run(self, _stop: object) -> None:
            if fails:
                raise DaemonFailedError("the daemon has ended: disk: full")

    monkeypatch.setattr(daemon_command, "_made", lambda *_, **__: Short())
    monkeypatch.setattr("signal.signal", lambda *_: None)
    done = CliRunner().invoke(main, ["daemon", "--config", str(write_settings(tmp_path))])
    logger.remove()  # it writes to this run's standard error
    logger.add(sys.stderr)
    assert done.exit_code == (DaemonFailedError.exit_code if fails else 0), done.output
    assert "dropped:\n      event Up: 3 late\n" in done.stderr  # one record of the log


@pytest.mark.parametrize("way", WAYS)
def test_input_that_is_not_what_it_seems_is_noted(tmp_path: Path, way: str) -> None:
    """A note on standard error names a file without rows, and one that is not in order."""
    rules, ticks = tmp_path / "r.cep", tmp_path / "t.csv"
    rules.write_text(RULES)
    call = ["replay", str(rules), "--input", f"Tick={ticks}", *WAYS[way]]
    ticks.write_text("time_msc,symbol,bid\n")
    nothing = CliRunner().invoke(main, call)
    assert f"note: Tick: {ticks}: no rows\n" in nothing.stderr
    ticks.write_text("time_msc,symbol,bid\n5,A,2.0\n3,A,2.0\n4,A,2.0\n1,A,2.0\n")
    found = CliRunner().invoke(main, call)
    assert (
        f"note: Tick: {ticks}: row 2 is older than the one before it, the first of 2 "
        in found.stderr
    )
    ticks.write_text(TICKS)  # which carries its own order
    assert "note: " not in CliRunner().invoke(main, call).stderr
