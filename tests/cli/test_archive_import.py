"""`mt5cep archive import` from files, and what it asks of a terminal."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cep.archive import Archive, verify
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


def test_a_folder_stands_for_the_files_in_it(ticks: Path, tmp_path: Path) -> None:
    """Those of ticks, in order of their names, also in its folders; hidden ones are not its own."""
    inner = tmp_path / "export" / "2024"
    inner.mkdir(parents=True)
    ticks.rename(inner / "b.CSV")
    (inner / ".part.csv").write_text("nothing", encoding="utf-8")
    (tmp_path / "export" / "2023.csv").write_text(TICKS.replace("17092", "16092"), encoding="utf-8")
    (tmp_path / "export" / "README.md").write_text("my ticks", encoding="utf-8")
    result = run(tmp_path / "archive", tmp_path / "export", "--symbol", "EURUSD")
    assert (result.exit_code, result.stdout) == (0, "4 ticks of EURUSD in 2 files\n"), result.stderr
    assert "left out in" in result.stderr and "1 file of no known format" in result.stderr
    (tmp_path / "empty").mkdir()
    nothing = run(tmp_path / "archive", tmp_path / "empty", "--symbol", "EURUSD")
    assert nothing.exit_code == 2 and "a folder without a file of ticks" in nothing.stderr


def test_the_same_times_again_are_refused_unless_asked(ticks: Path, tmp_path: Path) -> None:
    arguments = (tmp_path / "archive", ticks, "--symbol", "EURUSD")
    assert [run(*arguments).exit_code, run(*arguments).exit_code] == [0, 2]
    assert run(*arguments, "--overlap", "keep").exit_code == 0


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
    nameless = run(tmp_path / "archive", ticks)
    assert nameless.exit_code == 2 and "give the symbol, for example --symbol E" in nameless.stderr
    ticks.write_text("time,bid,ask\n2024-03-01 09:30:00,1.1,1.2\n", encoding="utf-8")
    no_clock = run(tmp_path / "archive", ticks, "--symbol", "EURUSD")
    assert no_clock.exit_code == 2 and "--server-time UTC, +02:00 or Europe/A" in no_clock.stderr


def test_a_first_import_that_fails_leaves_no_folder(ticks: Path, tmp_path: Path) -> None:
    """Also when days before the broken line are written already."""
    days = [f"{1709280000000 + 86_400_000 * day},1.1,1.2\n" for day in range(5)]
    ticks.write_text("time_msc,bid,ask\n" + "".join(days) + "1,x,1\n", encoding="utf-8")
    archive, files = tmp_path / "own" / "archive", [ticks, tmp_path / "none.csv"]
    assert run(archive, ticks, "--symbol", "EURUSD").exit_code == 2
    assert not archive.exists()
    ticks.write_text("time_msc,bid,ask\n" + "".join(days), encoding="utf-8")
    assert run(archive, *files, "--symbol", "EURUSD").exit_code == 2
    assert not archive.exists()
    archive.mkdir()
    (archive / "mine.txt").touch()
    assert run(archive, *files, "--symbol", "EURUSD").exit_code == 2
    assert [one.name for one in archive.iterdir()] == ["mine.txt"]
    (archive / "mine.txt").unlink()
    assert run(archive, ticks, "--symbol", "EURUSD").exit_code == 0
    assert run(archive, *files, "--symbol", "EURUSD", "--overlap", "keep").exit_code == 2
    assert verify(Archive(archive)).ok and len(Archive(archive).files()) == 5


def test_commas_before_three_digits_need_a_word(tmp_path: Path) -> None:
    path = tmp_path / "jpy.csv"
    path.write_text("time_msc;bid;ask\n1709280000000;151,234;151,240\n", encoding="utf-8")
    doubtful = run(tmp_path / "archive", path, "--symbol", "USDJPY")
    assert doubtful.exit_code == 2 and "give --decimal-comma" in doubtful.stderr
    assert run(tmp_path / "archive", path, "--symbol", "USDJPY", "--decimal-comma").exit_code == 0
    [batch] = Archive(tmp_path / "archive").read_batches(columns=["ask"])
    assert batch["ask"].to_pylist() == [151.24]


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


# -- times, quotes and overlaps that are not what they seem ---------------------------------------


def written(folder: Path, name: str, *lines: str, header: str = "time_msc,bid,ask") -> Path:
    path = folder / name
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("header", "line", "message"),
    [
        ("time,bid,ask", "1709280000000,1.1,1.2", "call the column time_msc"),
        ("time_msc,bid,ask", "1709280000,1.1,1.2", "call the column time,"),
        ("time,bid,ask", "2024-10-27 03:30:00,1.1,1.2", "came twice in Europe/Athens"),
        ("time,bid,ask", "2024-03-31 03:30:00,1.1,1.2", "never came in Europe/Athens"),
    ],
)
def test_times_are_refused_by_line(tmp_path: Path, header: str, line: str, message: str) -> None:
    path = written(tmp_path, "a.csv", line, header=header)
    given = (path, "--symbol", "A", "--server-time", "Europe/Athens")
    result = run(tmp_path / "archive", *given)
    assert result.exit_code == 2 and f"{path}:2: " in result.stderr and message in result.stderr
    assert Archive(tmp_path / "archive").manifest.files == ()


def test_nothing_but_broken_lines_is_no_import(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "1709280000,1.1,1.2")
    result = run(tmp_path / "archive", path, "--symbol", "A", "--skip-broken")
    assert result.exit_code == 2 and "no line could be read" in result.stderr


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.csv", "time_msc,bid,ask\n"), ("a.csv", "time_msc,bid,ask\n\n\n"), ("a.jsonl", "\n")],
)
def test_a_file_without_a_tick_is_named(tmp_path: Path, ticks: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    result = run(tmp_path / "archive", path, "--symbol", "A")
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"error: {path}: nothing to import, no tick in it\nhelp: export" in result.stderr
    with_another = run(tmp_path / "archive", path, ticks, "--symbol", "A")
    assert with_another.exit_code == 0 and f"note: no tick in {path}" in with_another.stderr


def test_ticks_that_come_twice_in_one_import_are_counted(tmp_path: Path) -> None:
    lines = [f"170928000000{i},1.1,1.2" for i in (1, 3, 3, 3, 5, 1)]
    other = ["1709280000003,1.1,1.3", "1709366400009,1.1,1.2", "1709366400009,1.1,1.2"]
    path = written(tmp_path, "a.csv", *lines, *other)
    result = run(tmp_path / "archive", path, "--symbol", "A")
    assert result.exit_code == 0 and result.stdout.startswith("9 ticks of A in 2 files")
    assert "note: 4 ticks with the time, prices and volume of another in this" in result.stderr


def test_trades_of_one_quote_are_not_the_same_tick(tmp_path: Path) -> None:
    lines = [f"1709280000001,1.1,1.2,1.1,{volume}" for volume in (1, 2)]
    path = written(tmp_path, "a.csv", *lines, header="time_msc,bid,ask,last,volume")
    assert run(tmp_path / "archive", path, "--symbol", "A").stderr == ""


def test_a_double_hour_is_archived_in_its_order(tmp_path: Path) -> None:
    times = ["02:30", "03:10", "03:50", "03:00", "03:40", "04:10"]
    lines = [f"2024-10-27 {time}:00,1.{i},1.{i}" for i, time in enumerate(times)]
    path = written(tmp_path, "a.csv", *lines, header="time,bid,ask")
    result = run(tmp_path / "archive", path, "--symbol", "A", "--server-time", "Europe/Athens")
    assert (result.exit_code, result.stderr) == (0, "")
    batches = Archive(tmp_path / "archive").read_batches()
    rows = [row for batch in batches for row in batch.to_pylist()]
    assert [row["bid"] for row in rows] == [1.0, 1.1, 1.2, 1.3, 1.4, 1.5]
    minutes = [(row["time_msc"] - rows[0]["time_msc"]) // 60_000 for row in rows]
    assert minutes == [0, 40, 80, 90, 130, 160]
    assert {row["quality"] for row in rows} == {0}


def test_odd_quotes_are_counted(tmp_path: Path) -> None:
    lines = ["1709280000000,1.2,1.1", "1709280000001,0,1.1", "1709280000002,1.1,1.2"]
    path = written(tmp_path, "a.csv", *lines)
    result = run(tmp_path / "archive", path, "--symbol", "A")
    assert "note: odd quotes: 1 crossed, 1 zero; rules do not see" in result.stderr
    good = written(tmp_path, "b.csv", "1709290000000,1.1,1.2")
    assert run(tmp_path / "archive", good, "--symbol", "A").stderr == ""


def test_files_that_overlap_are_refused_unless_asked(tmp_path: Path) -> None:
    first = written(tmp_path, "a.csv", *(f"170928000000{i},1.1,1.2" for i in (1, 3, 5)))
    later = written(tmp_path, "b.csv", *(f"170928000000{i},1.1,1.2" for i in (3, 5, 7)))
    for files in ((first, later), (later, first), (first, first)):
        result = run(tmp_path / "archive", *files, "--symbol", "A")
        assert result.exit_code == 2, result.output
        assert f"error: {files[1]}: has ticks of A from a time that {files[0]}" in result.stderr
        assert "help: give each time in one file only" in result.stderr
    asked = run(tmp_path / "archive", first, later, "--symbol", "A", "--overlap", "keep")
    assert asked.exit_code == 0 and asked.stdout.startswith("6 ticks")
    touching = written(tmp_path, "c.csv", *(f"170929000000{i},1.1,1.2" for i in (1, 3)))
    next_one = written(tmp_path, "d.csv", *(f"170929000000{i},1.1,1.2" for i in (3, 9)))
    assert run(tmp_path / "archive", touching, next_one, "--symbol", "A").exit_code == 0


def test_of_exports_that_overlap_only_what_is_new_is_taken(tmp_path: Path) -> None:
    """Also where the second begins days before the first ends, and quotes come several times."""
    day_ms = 86_400_000
    times = [1_709_280_000_000 + day * day_ms // 2 for day in range(12)]
    lines = [f"{time},1.1,1.2" for time in times for _ in range(2)]
    first = written(tmp_path, "a.csv", *lines[:16])
    later = written(tmp_path, "b.csv", *lines[4:], lines[4])
    asked = ("--symbol", "A", "--overlap", "new")
    result = run(tmp_path / "archive", first, later, *asked)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("25 ticks of A") and "note: 12 ticks with" in result.stderr
    archive = Archive(tmp_path / "archive")
    assert verify(archive).ok
    kept = [row for batch in archive.read_batches() for row in batch["time_msc"].to_pylist()]
    assert kept == sorted([*times, *times, times[2]])
    again = run(tmp_path / "archive", later, first, *asked)
    assert again.exit_code == 0 and "37 ticks" in again.stderr and "nothing is new" in again.stderr
    assert len(Archive(tmp_path / "archive").manifest.files) == len(archive.manifest.files)


def test_ticks_that_are_archived_twice_are_counted(tmp_path: Path) -> None:
    first = written(tmp_path, "a.csv", *(f"170928000000{i},1.1,1.2" for i in (1, 3, 5)))
    given = (tmp_path / "archive", first, "--symbol", "A")
    assert run(*given).stderr == ""
    again = written(tmp_path, "b.csv", "1709280000001,1.1,1.2", "1709280000003,1.1,1.3")
    result = run(tmp_path / "archive", again, "--symbol", "A", "--overlap", "keep")
    assert (
        "note: 1 tick with the same time, prices and volume were archived before" in result.stderr
    )


@pytest.mark.parametrize(
    ("start", "end", "message"),
    [
        ("2024-03-01", "2024-03-01", "ends before it begins"),
        ("2024-03-01T09:30+02:00", "2024-03-02", "has a zone; write the server's own time"),
        ("1709280000000", "2024-03-02", "does not match the format"),
    ],
)
def test_moments_to_ask_a_terminal_for(tmp_path: Path, start: str, end: str, message: str) -> None:
    given = ("--from-terminal", "--symbol", "A", "--server-time", "UTC", "--from", start)
    result = run(tmp_path / "archive", *given, "--to", end)
    assert result.exit_code == 2 and message in result.stderr
