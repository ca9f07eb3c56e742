"""`check`, `fmt` and `explain` on real files."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cep.cli import main

GOOD = """\
define stream Tick (symbol string, bid double, ask double);

-- raised when the spread opens
define event Wide for each symbol as Tick[ask - bid > 0.5];
define complex TwiceWide for each symbol as Wide followed by Wide within 1 min;
"""
GOOD = GOOD.replace("0.5]", "0.5] repeat allow")
BAD = "define stream Tick (symbol string, bid double);\ndefine event Wide as Tik[bid > 1.0];\n"


def run(*arguments: str | Path, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.cep"
    path.write_text(GOOD, encoding="utf-8")
    return path


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    path = tmp_path / "bad.cep"
    path.write_text(BAD, encoding="utf-8")
    return path


def test_check_counts_what_a_file_defines(good: Path) -> None:
    result = run("check", good)
    assert result.exit_code == 0, result.stderr
    assert result.stdout == f"{good}: ok, 1 stream, 1 event, 1 complex event\n"


def test_check_goes_on_after_a_bad_file(bad: Path, good: Path) -> None:
    result = run("check", bad, good)
    assert result.exit_code == 2
    assert f"{bad}:2:22: error: " in result.stderr and "did you mean `Tick`?" in result.stderr
    assert f"{good}: ok" in result.stdout


def test_check_reads_standard_input() -> None:
    result = run("check", "-", stdin=GOOD)
    assert result.exit_code == 0 and result.stdout.startswith("<stdin>: ok")


def test_missing_rule_file_names_the_others(good: Path) -> None:
    result = run("check", good.parent / "goood.cep")
    assert result.exit_code == 2
    assert "goood.cep: no such file" in result.stderr and "good.cep" in result.stderr


def test_rule_file_that_is_not_text(tmp_path: Path) -> None:
    path = tmp_path / "latin.cep"
    path.write_bytes("-- für\n".encode("latin-1"))
    result = run("check", path)
    assert result.exit_code == 2 and f"{path}: not UTF-8 at byte 4" in result.stderr


def test_fmt_prints_and_keeps_comments(good: Path) -> None:
    result = run("fmt", good)
    assert result.exit_code == 0 and "-- raised when the spread opens" in result.stdout
    assert good.read_text(encoding="utf-8") == GOOD


def test_fmt_check_and_write(tmp_path: Path) -> None:
    path = tmp_path / "ugly.cep"
    path.write_text("DEFINE stream   S(a int)\n;", encoding="utf-8")
    assert (run("fmt", "--check", path).exit_code, run("fmt", "--write", path).exit_code) == (1, 0)
    again = run("fmt", "--check", path)
    assert (again.exit_code, again.stdout) == (0, "")
    assert path.read_text(encoding="utf-8").startswith("define stream S")


def test_fmt_refuses_what_cannot_be_parsed(tmp_path: Path) -> None:
    path = tmp_path / "broken.cep"
    path.write_text("define stream (a int);", encoding="utf-8")
    result = run("fmt", "--write", path)
    assert result.exit_code == 2 and ":1:15: error:" in result.stderr
    assert path.read_text(encoding="utf-8") == "define stream (a int);"


def test_explain_shows_numbers_and_arrangements(good: Path) -> None:
    result = run("explain", good)
    assert result.exit_code == 0, result.stderr
    assert "Wide" in result.stdout and "TwiceWide" in result.stdout
    assert "separable by symbol" in result.stdout


def test_explain_shows_the_error_of_a_bad_file(bad: Path) -> None:
    result = run("explain", bad)
    assert result.exit_code == 2 and f"{bad}:2:22: error: " in result.stderr


def test_explain_shows_the_generated_code(good: Path) -> None:
    result = run("explain", "--code", good)
    assert result.exit_code == 0, result.stderr
    names = {node.name for node in ast.walk(ast.parse(result.stdout)) if hasattr(node, "name")}
    assert names, "the engine's code defines functions"
