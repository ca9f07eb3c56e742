"""`check`, `fmt` and `explain` on real files."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cep.cli import main
from tests.waiting import LONG_S

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


CIRCLE = """\
define stream Tick (symbol string, bid double);
@info(name='some') from Tick select symbol, bid output last every 3 events insert into Some;
define event Up for each symbol as Some[bid > 1.0] repeat allow;
@info(name='last') from Up select key output last every 3 events insert into Last;
"""


@pytest.fixture
def circle(tmp_path: Path) -> Path:
    """Rules of which a module could run the middle."""
    path = tmp_path / "circle.cep"
    path.write_text(CIRCLE, encoding="utf-8")
    return path


@pytest.mark.parametrize("command", [["check"], ["explain"], ["explain", "--code"]], ids=" ".join)
def test_rules_without_a_module_are_fine_to_every_command(command: list[str], circle: Path) -> None:
    result = run(*command, circle)
    assert result.exit_code == 0, result.output
    if command == ["explain"]:
        assert (
            "everywhere: a program\n  no module of its own, as\n    some: its output"
            in result.stdout
        )


def test_rules_that_no_order_can_run_are_replayed(circle: Path, tmp_path: Path) -> None:
    ticks = tmp_path / "ticks.csv"
    lines = [f"{1000 + n},{'AB'[n % 2]},{0.5 + n % 5}\n" for n in range(60)]
    ticks.write_text("time_msc,symbol,bid\n" + "".join(lines))
    found = run("replay", circle, f"--input=Tick={ticks}")
    meant = run("replay", circle, f"--input=Tick={ticks}", "--backend=reference")
    assert found.exit_code == meant.exit_code == 0, found.output
    assert '"stream":"Last"' in found.stdout and found.stdout == meant.stdout


def test_a_daemon_takes_rules_that_no_order_can_run(circle: Path, tmp_path: Path) -> None:
    settings = tmp_path / "daemon.toml"
    settings.write_text(f"[rules]\nfile = '{circle.name}'\n")
    result = run("daemon", "--config", settings, "--check")
    assert result.exit_code == 0, result.output


def test_checking_rules_without_events_behind_queries_loads_no_engine(good: Path) -> None:
    code = "import sys; from cep.cli.check import checked; from pathlib import Path;"
    code += f"assert checked(Path({str(good)!r}), {{}}); assert 'numba' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=LONG_S)
    assert done.returncode == 0, done.stderr


TIMED = """\
define stream Tick (symbol string, bid double);
from t=Tick -> not Tick for 5 sec select t.symbol as symbol, t.bid as bid insert into Silent;
"""


@pytest.mark.parametrize(
    ("until", "found"), [(None, 0), ("2023-11-14T22:13:25.999", 0), ("2023-11-14T22:13:26", 1)]
)
@pytest.mark.parametrize("trace", [False, True], ids=["rows", "trace"])
def test_replay_lets_time_pass_at_the_end(
    tmp_path: Path, until: str | None, found: int, trace: bool
) -> None:
    rules, ticks = tmp_path / "timed.cep", tmp_path / "ticks.csv"
    rules.write_text(TIMED)
    ticks.write_text("time_msc,symbol,bid\n1700000001000,A,1.5\n")
    options = [f"--until={until}"] if until else []
    result = run("replay", rules, f"--input=Tick={ticks}", "--plain", *options,
                 *(["--trace", "-"] if trace else []))  # fmt: skip
    assert result.exit_code == 0, result.output
    if trace:
        assert result.stdout.count("time passes") == found
    else:
        silent = '{"stream":"Silent","time_msc":1700000006000,"kind":"current",'
        assert result.stdout == (silent + '"symbol":"A","bid":1.5}\n') * found


ORDERED = """\
@reorder(max.delay='2 sec')
define stream Tick (symbol string, bid double);
from Tick select symbol, bid insert into Seen;
"""


@pytest.mark.parametrize(
    "backend", [[], ["--backend=database", "--url=sqlite://"], ["--trace=-"]], ids=len
)
@pytest.mark.parametrize("until", [[], ["--until=1970-01-01T00:01:00"]], ids=len)
def test_at_the_end_of_the_input_nothing_waits_to_be_put_in_order(
    tmp_path: Path, backend: list[str], until: list[str]
) -> None:
    rules, ticks = tmp_path / "ordered.cep", tmp_path / "ticks.csv"
    rules.write_text(ORDERED)
    ticks.write_text("time_msc,symbol,bid\n1000,A,1.5\n3500,A,2.5\n3000,A,3.5\n4000,B,4.5\n")
    result = run("replay", rules, f"--input=Tick={ticks}", "--plain", *backend, *until)
    assert result.exit_code == 0, result.output
    found = re.findall(r"bid\W+(\d\.5)", "".join(re.findall("(?:PUT OUT|Seen).*", result.stdout)))
    assert found == ["1.5", "3.5", "2.5", "4.5"]


@pytest.mark.parametrize(
    "command", [["fmt"], ["fmt", "--check"], ["check"], ["explain"]], ids=" ".join
)
def test_errors_name_the_file(command: list[str], bad: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.cep"
    broken.write_text("define stream (a int);", encoding="utf-8")
    assert run(*command, broken).stderr.startswith(f"{broken}:1:15: error: ")
    assert run(*command, "-", stdin="define stream (a int);").stderr.startswith("<stdin>:1:15: ")


EMPTY = {"empty": "", "blank": "\ufeff\n  \n", "comments": "-- all of it\n/* is comment */\n"}


@pytest.mark.parametrize("text", EMPTY.values(), ids=EMPTY)
def test_a_file_without_rules_is_refused_by_every_command_that_runs_it(
    text: str, tmp_path: Path
) -> None:
    path, ticks = tmp_path / "empty.cep", tmp_path / "ticks.csv"
    path.write_text(text, encoding="utf-8")
    ticks.write_text("time_msc,symbol,bid\n1000,A,1.5\n")
    (tmp_path / "archive").mkdir()
    settings = tmp_path / "daemon.toml"
    settings.write_text(f"[rules]\nfile = '{path.name}'\n")
    for command in (
        ["check", path],
        ["explain", path],
        ["replay", path, f"--input=Tick={ticks}"],
        ["backtest", path, "--archive", tmp_path / "archive"],
        ["daemon", "--config", settings],
        ["daemon", "--config", settings, "--check"],
    ):
        result = run(*command)
        assert result.exit_code == 2, (command, result.output)
        assert f"{path}:1:1: error: " in result.stderr
        assert "help: statements start with `define`" in result.stderr


def test_fmt_leaves_a_file_without_rules_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "notes.cep"
    path.write_text("-- to be written\n", encoding="utf-8")
    result = run("fmt", path)
    assert (result.exit_code, result.stdout) == (0, "-- to be written\n")


@pytest.mark.parametrize("command", ["check", "explain"])
def test_the_condition_of_an_event_may_call_what_python_computes(
    tmp_path: Path, command: str
) -> None:
    path = tmp_path / "rules.cep"
    path.write_text(GOOD.replace("ask - bid > 0.5", "str:length(symbol) > 5"), encoding="utf-8")
    result = run(command, path)
    assert result.exit_code == 0, result.output
    if command == "explain":
        assert "Python computes str:length" in result.stdout
