"""`mt5cep lookahead`: what it says of honest rules, and of those that are not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cep.cli import main
from cep.functions import load_functions
from tests.backtest.archives import imported
from tests.backtest.rules import KEYED
from tests.backtest.test_lookahead import HEAD, LEAKY, TRADED


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lookahead")
    imported(folder, rows=200)
    (folder / "keyed.cep").write_text(KEYED)
    (folder / "own.cep").write_text(TRADED)
    (folder / "leaky.py").write_text(HEAD + LEAKY)
    random = "import random\n@function(name='own:value')\n"
    random += "def value(symbol: str, bid: float) -> float:\n    return random.random()\n"
    (folder / "random.py").write_text(HEAD + random)
    reads = "from pathlib import Path\n@function(name='own:value')\n"
    reads += "def value(symbol: str, bid: float) -> float:\n"
    reads += f"    return float(len(Path({str(folder / 'future.csv')!r}).read_text()))\n"
    (folder / "reads.py").write_text(HEAD + reads)
    (folder / "future.csv").write_text("1.1\n")
    return folder


@pytest.fixture(autouse=True)
def no_functions() -> Iterator[None]:
    yield
    load_functions([])


def run(folder: Path, rules: str, *arguments: object) -> Result:
    given = ["lookahead", str(folder / f"{rules}.cep"), "--archive", str(folder / "archive")]
    return CliRunner().invoke(main, [*given, *map(str, arguments)])


def test_honest_rules_end_with_0(folder: Path) -> None:
    found = run(folder, "keyed", "--cuts", 2, "--symbols", "EURUSD", "--latency", 20)
    assert found.exit_code == 0, found.output
    assert found.stdout.startswith("2 cuts: nothing made before one changes with what comes later")
    (line,) = found.stdout.splitlines()
    assert " rows, " in line and " orders, " in line and " deals)" in line


def test_a_function_that_looks_ahead_is_caught(folder: Path) -> None:
    """Stream, both values, the record of the cut, and what to do."""
    found = run(folder, "own", "--functions", folder / "leaky.py", "--cuts", 7)
    lines = found.stdout.splitlines()
    assert found.exit_code == 1
    assert lines[0].startswith("looks ahead at 7 of 7 cuts (") and lines[0].endswith(": Seen 7")
    assert lines[1].startswith("cut behind the record of 2023-11-15 ")
    assert ", ingest 1" in lines[1]
    assert lines[2].startswith("  first: row ") and ", made by the record with ingest 1" in lines[2]
    assert lines[3].startswith('    with all records: {"stream":"Seen"')
    assert lines[4].startswith('    up to the cut:    {"stream":"Seen"')
    assert lines[3].split(": ", 1)[1] != lines[4].split(": ", 1)[1].strip()
    assert lines[-2] == "and 2 cuts more"
    assert "sees what is still to come" in lines[-1] and "attributes of an @indicator" in lines[-1]


def test_chance_is_told_from_foresight(folder: Path) -> None:
    found = run(folder, "own", "--functions", folder / "random.py", "--cuts", 1)
    assert found.exit_code == 1
    assert "give other rows each time" in found.stdout.splitlines()[-1]


def test_a_file_that_a_function_reads_is_named_until_it_is_known(folder: Path) -> None:
    given = ["--functions", folder / "reads.py", "--cuts", 1]
    found = run(folder, "own", *given)
    assert found.exit_code == 1
    assert found.stdout.startswith("1 cut: nothing made before one changes")
    place, file = folder / "reads.py", folder / "future.csv"
    assert f"  {place}:5 reads {file}" in found.stdout.splitlines()
    assert "--known FILE" in found.stdout
    known = run(folder, "own", *given, "--known", folder / "future.csv")
    assert known.exit_code == 0 and "reads" not in known.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--cuts", 9_999], "9,999 cuts are more than there are records to cut behind, "),
        (["--from", "2023-11-16", "--to", "2023-11-15"], "the range of time ends before it begins"),
        (["--symbols", "EURUS"], "did you mean EURUSD?"),
        (["--streams", "Sen"], "--streams: no stream Sen"),
        (["--from", "2030-01-01"], "no records in the range"),
    ],
)
def test_what_cannot_be_is_refused(folder: Path, arguments: list[object], said: str) -> None:
    found = run(folder, "keyed", *arguments)
    assert found.exit_code == 2 and said in found.stderr and "help: " in found.stderr


def test_an_archive_that_is_not_there_is_named(folder: Path, tmp_path: Path) -> None:
    given = ["lookahead", str(folder / "keyed.cep"), "--archive", str(tmp_path / "none")]
    found = CliRunner().invoke(main, given)
    assert found.exit_code == 2 and "no such archive" in found.stderr


def test_marks_that_look_ahead_are_a_note(folder: Path) -> None:
    found = run(folder, "keyed", "--cuts", 1, "--reject", "outlier")
    assert found.exit_code == 0
    assert found.stderr.startswith("note: --reject outlier: `archive doctor` has marked these")
