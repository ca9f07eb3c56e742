"""`mt5cep archive import` from files, and what it asks of a terminal."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cep.cli import main
from cep.cli.archive_import import wall_msc

TICKS = "time_msc,bid,ask\n1709280000000,1.1,1.2\n1709280000100,1.3,1.4\n"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["archive", "import", *map(str, arguments)])


@pytest.fixture
def ticks(tmp_path: Path) -> Path:
    path = tmp_path / "ticks.csv"
    path.write_text(TICKS, encoding="utf-8")
    return path


def test_files_become_ticks(ticks: Path, tmp_path: Path) -> None:
    result = run(tmp_path / "archive", ticks, "--symbol", "EURUSD")
    assert (result.exit_code, result.stdout) == (0, "2 ticks of EURUSD in 1 file\n"), result.stderr


def test_the_same_times_again_are_refused_unless_asked(ticks: Path, tmp_path: Path) -> None:
    arguments = (tmp_path / "archive", ticks, "--symbol", "EURUSD")
    assert [run(*arguments).exit_code, run(*arguments).exit_code] == [0, 2]
    assert run(*arguments, "--allow-overlap").exit_code == 0


def test_a_broken_line_stops_or_is_left_out(ticks: Path, tmp_path: Path) -> None:
    ticks.write_text(TICKS + "1709280000200,abc,1.5\n", encoding="utf-8")
    arguments = (tmp_path / "archive", ticks, "--symbol", "EURUSD")
    stopped = run(*arguments)
    assert stopped.exit_code == 2 and f"{ticks}:4:" in stopped.stderr
    skipped = run(*arguments, "--skip-broken")
    assert skipped.exit_code == 0 and skipped.stdout.startswith("2 ticks")
    assert "1 broken line left out" in skipped.stderr


def test_missing_file_and_missing_symbol_are_named(ticks: Path, tmp_path: Path) -> None:
    missing = run(tmp_path / "archive", tmp_path / "none.csv", "--symbol", "X")
    assert missing.exit_code == 2 and "none.csv: no such file" in missing.stderr
    assert run(tmp_path / "archive", ticks).exit_code == 2


def test_nothing_to_import(tmp_path: Path) -> None:
    result = run(tmp_path / "archive")
    assert result.exit_code == 2 and "help: name files" in result.stderr


def test_a_terminal_must_be_told_what_to_give(tmp_path: Path) -> None:
    result = run(tmp_path / "archive", "--from-terminal", "--symbol", "EURUSD")
    assert result.exit_code == 2 and "--server-time" in result.stderr


def test_unknown_zone_is_named(ticks: Path, tmp_path: Path) -> None:
    result = run(tmp_path / "archive", ticks, "--server-time", "Mars/Olympus")
    assert result.exit_code == 2 and "Mars/Olympus" in result.stderr


def test_server_time_is_counted_without_a_zone() -> None:
    assert wall_msc(datetime(2024, 3, 1, 8)) == 1_709_280_000_000  # noqa: DTZ001 -- as click gives it
