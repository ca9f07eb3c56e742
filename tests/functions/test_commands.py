"""Every command that reads rules knows the user's functions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cep.cli import main
from cep.cli.application import COMMANDS
from tests.backtest.archives import exported, recorded
from tests.functions.own import EXPECTED, FILE, RULES, TICKS, written
from tests.live.service import write_settings


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    written(tmp_path)
    written(tmp_path, RULES, "rules.cep")
    rows = [",".join("" if x is None else str(x) for x in tick) for tick in TICKS]
    written(tmp_path, "\n".join(["time_msc,symbol,bid,ask", *rows, ""]), "ticks.csv")
    return tmp_path


def run(folder: Path, command: str, *arguments: object, functions: str = "own.py") -> Result:
    options = ["--functions", str(folder / functions)] if functions else []
    rules = str(folder / "rules.cep")
    return CliRunner().invoke(main, [command, rules, *options, *map(str, arguments)])


def lines(result: Result) -> list[tuple[object, ...]]:
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    return [tuple(row.values())[3:] for row in rows]


def test_check(folder: Path) -> None:
    result = run(folder, "check")
    assert result.exit_code == 0 and "ok, 1 stream, 1 query" in result.stdout
    result = run(folder, "check", functions="")
    assert result.exit_code == 2 and "--functions FILE" in result.stderr


def test_what_is_wrong_with_a_file_is_said_without_a_traceback(folder: Path) -> None:
    written(folder, "import no_such\n", "bad.py")
    result = run(folder, "check", functions="bad.py")
    assert result.exit_code == 2
    assert f"error: {folder / 'bad.py'}:1: ModuleNotFoundError" in result.stderr


def test_explain_names_them_and_their_file(folder: Path) -> None:
    result = run(folder, "explain")
    assert f"functions of your own\n  own:mean  {folder / 'own.py'}\n" in result.stdout
    assert "function own:range(bid) per symbol: adds low, high" in result.stdout
    assert run(folder, "explain", "--code").exit_code == 0
    drawn = run(folder, "explain", "--svg", folder / "plan.svg")
    assert drawn.exit_code == 0 and "own:range" in (folder / "plan.svg").read_text()


@pytest.mark.parametrize("options", [(), ("--plain",)])
def test_replay(folder: Path, options: tuple[str, ...]) -> None:
    result = run(folder, "replay", f"--input=Tick={folder / 'ticks.csv'}", *options)
    assert lines(result) == list(EXPECTED)


def test_replay_traced(folder: Path) -> None:
    result = run(folder, "replay", f"--input=Tick={folder / 'ticks.csv'}", "--trace", "A")
    assert "PUT OUT symbol='A' low=1.0 high=3.0 mean=2.0 spread=null nulls=1" in result.stdout


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_database_calls_functions_and_leaves_indicators_to_our_engine(
    folder: Path, kind: str
) -> None:
    rules = RULES + "from Tick select symbol, own:pips(bid, ask) as spread insert into Pips;\n"
    written(folder, rules, "rules.cep")
    options = ("--backend", "database", "--url", f"{kind}://" + "/:memory:" * (kind == "duckdb"))
    result = run(folder, "explain", *options)
    assert f"on {kind}:\n  query2" in result.stdout
    assert "query1: notimpl: #own:range(): stream functions" in result.stdout
    native = run(folder, "replay", f"--input=Tick={folder / 'ticks.csv'}")
    result = run(folder, "replay", f"--input=Tick={folder / 'ticks.csv'}", *options)
    assert lines(result) == lines(native)


def test_a_server_of_a_database_refuses_a_function_by_name(folder: Path) -> None:
    rules = RULES + "from Tick select symbol, own:pips(bid, ask) as spread insert into Pips;\n"
    written(folder, rules, "rules.cep")
    options = ("--backend", "database", "--url", "postgresql://user@localhost/none")
    result = run(folder, "explain", *options)
    assert "query2: never: own:pips: a server does not call functions of ours" in result.stdout


def test_backtest(folder: Path) -> None:
    rules = (
        "define stream Tick (symbol string, bid double, ask double);"
        "from Tick#own:range(bid) select symbol, low, own:mean(bid, 5) as mean,"
        " own:pips(bid, ask) as spread group by symbol insert into Out;"
    )
    written(folder, rules, "rules.cep")
    inputs = [f"--input={name}={path}" for name, path in exported(recorded(folder), folder)
              if name == "Tick"]  # fmt: skip
    replayed = lines(run(folder, "replay", *inputs))
    where = ("--archive", folder / "archive", "--out", folder / "rows.jsonl")
    result = run(folder, "backtest", *where, "--master", "none")
    assert result.exit_code == 0, result.output
    rows = (folder / "rows.jsonl").read_text().splitlines()
    assert [tuple(json.loads(row).values())[3:] for row in rows] == replayed
    assert len(replayed) > 1_000
    (folder / "rows.jsonl").unlink()
    result = run(folder, "backtest", *where, "--master", "local[2]")
    assert result.exit_code == 0 and (folder / "rows.jsonl").read_text().splitlines() == rows
    note = "note: in this process, without Spark: functions of the user see what all keys"
    assert note in result.stderr


SIGNALS = """
define stream Tick (symbol string, bid double, ask double);
define parameter Least double = 0.0 range 0.0 to 1.0 step 1.0;
from Tick#own:range(bid) select symbol, bid, low, high insert into Range;
define event Top for each symbol as Range[bid >= high - Least];
define event Bottom for each symbol as Range[bid <= low + Least];
define complex Fall for each symbol as Top followed by Bottom within 5 min;
define signal Buy on Fall buy 0.10 lots;
"""


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("lookahead", ("--cuts", "2")),
        ("stress", ("--latency", "0", "--slippage", "0,1", "--spread", "1")),
        ("sweep", ()),
        ("sweep", ("--jobs", "2")),
        ("walkforward", ("--train", "2 h", "--test", "12 h")),
    ],
)
def test_trials_on_an_archive(folder: Path, command: str, options: tuple[str, ...]) -> None:
    written(folder, SIGNALS, "rules.cep")
    recorded(folder)
    given = ("--archive", folder / "archive", *options)
    result = run(folder, command, *given)
    assert result.exit_code == 0, result.output
    refused = run(folder, command, *given, functions="")
    assert refused.exit_code == 2 and "own:range" in refused.stderr


def test_fmt_needs_none(folder: Path) -> None:
    assert run(folder, "fmt", functions="").exit_code == 0


def test_daemon_check(tmp_path: Path) -> None:
    settings = write_settings(tmp_path)
    written(tmp_path, RULES, "rules.cep")
    path = written(tmp_path, FILE, "of_options.py")
    settings.write_text(settings.read_text().replace("streams = ", "# "))

    def checked(*arguments: str) -> Result:
        given = ["daemon", "--check", "--config", str(settings), *arguments]
        return CliRunner().invoke(main, given)

    assert "unknown stream function `own:range`" in checked().stderr
    assert "fine; rules rules: 1 statements" in checked("--functions", str(path)).stdout
    text = settings.read_text().replace("[rules]", '[rules]\nfunctions = ["of_options.py"]')
    settings.write_text(text)
    assert "fine" in checked().stdout
    assert "fine" in checked("--functions", str(path)).stdout
    other = written(tmp_path, FILE, "other.py")
    result = checked("--functions", str(other))
    assert result.exit_code == 2
    assert "other.py" in result.stderr and "of_options.py already" in result.stderr


def test_the_list_of_commands_above_is_whole() -> None:
    """Who adds a command that reads rules gives it the option."""
    with_rules = {"check", "explain", "replay", "backtest", "daemon", "parity"}
    with_rules |= {"lookahead", "stress", "sweep", "walkforward"}
    without = {"fmt", "demo", "simulate", "terminal", "terminals", "orders", "archive"}
    without |= {"alert", "compare", "credential", "rows", "rules", "status"}
    assert with_rules | without == set(COMMANDS)
    for command in with_rules:
        assert "--functions FILE" in CliRunner().invoke(main, [command, "--help"]).stdout
