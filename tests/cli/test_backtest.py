"""`mt5cep backtest`: the same rows as `replay`, results, files, and mistakes."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from cep.archive import Archive, import_history
from cep.archive.paths import decode_name
from cep.backtest import choice
from cep.cli import main
from cep.engine.machine_code import MachineCode
from mt5bridge.history import TickBlock
from tests.backtest.archives import DAY_MS, START_MSC, exported, recorded, walk, with_points
from tests.backtest.rules import ACROSS, CHAINED, KEYED, TICK
from tests.cli.test_rules_commands import CIRCLE


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("backtest")
    archive = recorded(folder)
    for name, text in (("chained", CHAINED), ("keyed", KEYED), ("across", ACROSS)):
        (folder / f"{name}.cep").write_text(text)
    inputs = [f"--input={name}={path}" for name, path in exported(archive, folder)]
    result = CliRunner().invoke(
        main, ["replay", str(folder / "chained.cep"), *inputs, "--out", str(folder / "replayed")]
    )
    assert result.exit_code == 0, result.output
    return folder


def run(folder: Path, *arguments: object, rules: str = "chained", master: str = "none") -> Result:
    given = [str(folder / f"{rules}.cep"), "--archive", str(folder / "archive")]
    return CliRunner().invoke(main, ["backtest", *given, "--master", master, *map(str, arguments)])


def fresh(folder: Path, *arguments: object, **options: str) -> tuple[Result, Path]:
    """A run that writes its rows to a file."""
    out = folder / "rows.jsonl"
    out.unlink(missing_ok=True)
    return run(folder, "--out", out, *arguments, **options), out


def test_rows_are_those_of_replay(folder: Path) -> None:
    result, out = fresh(folder)
    assert result.exit_code == 0, result.output
    assert out.read_bytes() == (folder / "replayed").read_bytes()


@pytest.mark.campaign
@pytest.mark.spark
@pytest.mark.slow
def test_rows_of_spark_are_those_of_replay(folder: Path) -> None:
    result, out = fresh(folder, master="local[2]")
    assert result.exit_code == 0, result.output
    assert out.read_bytes() == (folder / "replayed").read_bytes()
    assert result.stdout == run(folder).stdout.replace(rows_line(run(folder)), rows_line(result))


def rows_line(result: Result) -> str:
    return next(line for line in result.stdout.splitlines() if line.startswith("rows:"))


def test_a_run_says_where_it_runs_and_why(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result, out = fresh(folder, "--symbols", "EURUSD,^GSPC", rules="keyed", master="auto")
    assert result.exit_code == 0, result.output
    assert "note: in this process: several pay from 500,000 records, these are " in result.stderr
    rows = out.read_bytes()
    monkeypatch.setattr(choice, "ROWS_MIN", 1)
    monkeypatch.setattr(choice, "POOL_PAYS_SECONDS", 0.0)
    monkeypatch.setattr(choice, "cores_here", lambda: 2)
    monkeypatch.setattr(MachineCode, "is_ready", True)  # it may still be made for the first time
    result, out = fresh(folder, "--symbols", "EURUSD,^GSPC", rules="keyed", master="auto")
    assert result.exit_code == 0, result.output
    assert "note: in 2 processes: the first records tell of about " in result.stderr
    assert "note: in 2 processes, symbols apart, each in one piece" in result.stderr
    assert out.read_bytes() == rows and rows


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--conf", "spark.executor.memory=4g"], "--conf: this run is not on Spark"),
        (["--work", "somewhere"], "--work: this run is not on Spark"),
    ],
)
def test_options_of_spark_need_it(folder: Path, given: list[str], said: str) -> None:
    for master in ("auto", "none"):
        result = run(folder, *given, master=master)
        assert result.exit_code == 2
        assert said in result.stderr and "name its --master: local[*]" in result.stderr


def test_a_run_says_why_processes_have_nothing_to_share(folder: Path) -> None:
    (folder / "ever.cep").write_text(
        TICK + "from Tick select symbol, avg(bid) as mean group by symbol insert into Means;"
    )
    result, out = fresh(folder, "--jobs", "2", "--symbols", "EURUSD", rules="ever")
    assert result.exit_code == 0, result.output
    assert "in this process alone: there is one symbol, and of what was lived" in result.stderr
    rows = out.read_bytes()
    assert rows
    _, out = fresh(folder, "--symbols", "EURUSD", rules="ever")
    assert out.read_bytes() == rows


def test_spark_and_processes_are_two_ways(folder: Path) -> None:
    result = run(folder, "--jobs", "2", master="local[2]")
    assert result.exit_code == 2
    assert "--jobs 2: Spark has tasks of its own" in result.stderr
    result = run(folder, "--kept", folder / "kept", master="local[2]")
    assert result.exit_code == 2
    assert "--kept: Spark has tasks of its own" in result.stderr


def test_streams_range_and_symbols(folder: Path) -> None:
    result, out = fresh(
        folder, "--streams", "Fade,Reversal", "--symbols", "EURUSD,GBPUSD",
        "--from", "2023-11-15T12:00", "--to", "2023-11-16",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert {row["stream"] for row in rows} == {"Fade", "Reversal"}
    assert {row["key"] for row in rows} == {"EURUSD", "GBPUSD"}
    day = 1_700_092_800_000
    assert all(day - 12 * 3_600_000 <= row["time_msc"] < day for row in rows)
    assert "2023-11-15 12:0" in result.stdout.splitlines()[0]


def test_results_and_assumptions_are_printed(folder: Path) -> None:
    lines = run(folder).stdout.splitlines()
    assert re.match(r"[\d,]+ records of 4 symbols, 2023-11-15 .* to 2023-11-16 .* UTC$", lines[0])
    assert re.match(r"rows: Buy \d+, Fade [\d,]+, Out \d+$", lines[1])
    found = (re.match(r"(\w+) +(\d+) +[\d.]+ % ", line) for line in lines)
    trades = {match[1]: int(match[2]) for match in found if match}
    assert trades.keys() == {"Fade", "Buy", "all"}
    assert trades["all"] == trades["Fade"] + trades["Buy"] > 0
    assert "assumptions:" in lines and any("No commission" in line for line in lines)


def test_points_and_validity_can_be_given(folder: Path) -> None:
    text = run(folder, "--point", "EURUSD=0.0001", "--valid-seconds", 5).stdout
    assert "EURUSD 0.0001 (given), GBPUSD 1e-05 (the archive has it from a file)" in text
    assert "good for 5 seconds" in text


FEW = """\
define stream Tick (symbol string, bid double);
define event Up for each symbol as Tick[bid > 0.0];
define complex Rise for each symbol as Up within 1 min;
define signal Go on Rise buy 0.1 lots stop 200 points;
"""


def test_a_point_that_nobody_has_told_must_be_given(tmp_path: Path) -> None:
    (tmp_path / "few.cep").write_text(FEW)
    (tmp_path / "few.csv").write_text(
        "time_msc,bid,ask\n1709280000000,1.10,1.10\n1709280000001,1.11,1.11\n"
    )
    archive = str(tmp_path / "archive")
    given = ["archive", "import", archive, str(tmp_path / "few.csv"), "--symbol", "EURUSD"]
    assert CliRunner().invoke(main, given).exit_code == 0
    given = ["backtest", str(tmp_path / "few.cep"), "--archive", archive, "--master", "none"]
    refused = CliRunner().invoke(main, given)
    assert refused.exit_code == 2
    assert "of a point (EURUSD: 2 different prices are too few" in refused.stderr
    assert "--point EURUSD=SIZE" in refused.stderr
    told = CliRunner().invoke(main, [*given, "--point", "EURUSD=0.00001"])
    assert told.exit_code == 0 and "EURUSD 1e-05 (given)" in told.stdout


def test_without_fills_only_rows_are_counted(folder: Path) -> None:
    assert len(run(folder, "--fills", "none").stdout.splitlines()) == 2


def test_a_page(folder: Path, tmp_path: Path) -> None:
    result = run(folder, "--report", tmp_path / "page.html")
    assert result.exit_code == 0, result.output
    [trades] = re.findall(r"^all +([\d,]+) ", result.stdout, re.MULTILINE)
    page = (tmp_path / "page.html").read_text()
    assert f"<dd>{trades}</dd>" in page and "Assumptions" in page


def test_no_name_of_a_stream_leads_out_of_the_folder(folder: Path, tmp_path: Path) -> None:
    names = ["../../out", f"{tmp_path}/absolute", "none/there", "c:\\x", "50%.a", "n" * 300]
    queries = "".join(f"from Tick select symbol, bid insert into `{name}`;\n" for name in names)
    (folder / "names.cep").write_text(TICK + queries)
    result = run(folder, "--run", tmp_path / "in" / "run", rules="names")
    assert result.exit_code == 0, result.output
    files = [path for path in tmp_path.rglob("*.parquet") if path.parent.name == "rows"]
    assert {path.parent for path in files} == {tmp_path / "in" / "run" / "rows"}
    assert len(files) == len(names)
    assert {path.parent for path in tmp_path.rglob("*") if path.is_file()} == {
        tmp_path / "in" / "run", tmp_path / "in" / "run" / "rows"
    }  # fmt: skip
    assert {decode_name(path.stem) for path in files} >= set(names[:-1])


def test_tables_that_would_be_one_are_refused(folder: Path, tmp_path: Path) -> None:
    names = ["Band", "bAND"]
    queries = "".join(f"from Tick select symbol, bid insert into {name};\n" for name in names)
    (folder / "clash.cep").write_text(TICK + queries)
    both = ("--run", tmp_path / "run", "--out", tmp_path / "rows")
    result = run(folder, *both, rules="clash")
    assert result.exit_code == 2
    assert names[-1] in result.stderr and "another name" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_rules_that_cross_symbols_run_in_one_process(folder: Path) -> None:
    result, out = fresh(folder, rules="across", master="local[2]")
    assert result.exit_code == 0, result.output
    assert "note: in this process, without Spark:" in result.stderr
    assert out.read_text().count('"stream":"All"') > 100


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--symbols", "EURUSX"], "no symbol EURUSX\nhelp: did you mean EURUSD?"),
        (["--symbols", " ,"], "names no symbol"),
        (["--from", "2024-03-01"], "no records in the range"),
        (["--from", "2023-11-16", "--to", "2023-11-15"], "ends before it begins"),
        (["--from", "yesterday"], "'yesterday' does not match the format"),
        (["--streams", "Fadee"], "no stream Fadee"),
        (["--point", "EURUSD"], "--point EURUSD: not SYMBOL=SIZE"),
        (["--point", "EURUSD=-1"], "not SYMBOL=SIZE"),
        (["--point", "EURUSD=nan"], "not SYMBOL=SIZE"),
        (["--point", "EURUSX=1"], "no symbol EURUSX\nhelp: did you mean EURUSD?"),
        (["--point", "EURUSD=1", "--point", "EURUSD=2"], "EURUSD has 1 already"),
    ],
)
def test_mistakes_are_named(folder: Path, arguments: list[str], message: str) -> None:
    result = run(folder, *arguments)
    assert result.exit_code == 2 and message in result.stderr


def test_a_missing_archive_is_named(folder: Path, tmp_path: Path) -> None:
    rules = str(folder / "keyed.cep")
    result = CliRunner().invoke(main, ["backtest", rules, "--archive", str(tmp_path / "no")])
    assert result.exit_code == 2 and "no: no such archive" in result.stderr
    result = CliRunner().invoke(main, ["backtest", rules, "--archive", str(tmp_path)])
    assert result.exit_code == 2 and "no archive here" in result.stderr


def test_a_newer_archive_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "manifest.jsonl").write_text('{"format":"mt5cep-archive","version":99}\n')
    rules = str(folder / "keyed.cep")
    result = CliRunner().invoke(main, ["backtest", rules, "--archive", str(tmp_path)])
    assert result.exit_code == 2 and "written in version 99" in result.stderr


def test_streams_that_archives_do_not_hold_are_refused(folder: Path, tmp_path: Path) -> None:
    rules = tmp_path / "news.cep"
    rules.write_text(
        "define stream News (symbol string);\nfrom News select symbol insert into A;\n"
    )
    given = ["backtest", str(rules), "--archive", str(folder / "archive")]
    result = CliRunner().invoke(main, given)
    assert result.exit_code == 2 and "stream News has no source here" in result.stderr


def test_spark_that_is_not_installed_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("cep.spark")]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("pyspark", "pyspark.sql"):
        monkeypatch.setitem(sys.modules, name, None)
    result = run(folder, master="local")
    assert result.exit_code == 2 and "or leave out --master" in result.stderr


TIMED = """\
define stream Tick (symbol string, bid double, ask double);
from Tick select symbol, bid output last every 1 hour insert into Sampled;
from Tick select symbol, bid insert into Copied;
"""


def test_rules_that_mind_the_time_run_in_this_process(folder: Path) -> None:
    (folder / "timed.cep").write_text(TIMED)
    result, out = fresh(folder, rules="timed", master="local[2]")
    assert result.exit_code == 0, result.output
    assert "note: in this process, without Spark: " in result.stderr
    assert "nothing in the rules works per key" in result.stderr
    assert b'"stream":"Sampled"' in out.read_bytes()


def test_rules_that_no_order_of_stages_can_run_go_without_spark(folder: Path) -> None:
    (folder / "circle.cep").write_text(CIRCLE)
    result, out = fresh(folder, rules="circle", master="local[2]")
    assert result.exit_code == 0, result.output
    assert "note: in this process, without Spark: " in result.stderr
    assert b'"stream":"Some"' in out.read_bytes()


DIRECT = "Leg (line 10), Named (line 11), query3 (line 14)"
DEPENDING = "Copies, Filled, Mixed, Out"


def test_rules_on_fills_are_told_what_they_see(folder: Path, tmp_path: Path) -> None:
    """The archive has recorded deals: rules see them. Imported history has none."""
    page = tmp_path / "page.html"
    result = run(folder, "--report", page)
    said = f"rules that read fills (Deal), {DIRECT}: here are those that the archive has recorded"
    assert result.exit_code == 0, result.output
    assert result.stderr.startswith(f"warning: {said}, and no others; fills that this run sim")
    assert f"do not become deals; on them depend: {DEPENDING}\ndropped:\n" in result.stderr
    assert " Leg " in rows_line(result), "recorded deals do reach the rules"
    assert said in result.stdout and "here are those that the archive has recorded" in (
        page.read_text()
    )


def test_rules_on_fills_see_those_of_the_account(folder: Path, tmp_path: Path) -> None:
    """Imported history has no deals; in place of recorded ones they are shown when asked for."""
    without = tmp_path / "ticks"
    ticks = walk(np.random.default_rng(1), START_MSC, DAY_MS, 400)
    import_history(archive := Archive(without), [TickBlock("EURUSD", ticks)])
    with_points(archive)
    (folder / "own.cep").write_text(CHAINED.replace("comment == 'leg 1'", "magic == 5"))
    where = ["--archive", str(without), "--master", "local[2]"]
    command = ["backtest", str(folder / "own.cep"), *where]
    own = CliRunner().invoke(main, [*command, "--magic=5", "--out", str(tmp_path / "rows")])
    assert own.exit_code == 0, own.output
    told = f"note: rules that read fills (Deal), {DIRECT}: they see those of the simulated account"
    assert own.stderr.startswith(told)
    assert "without Spark: rules that see the fills of one account are one task" in own.stderr
    assert "no record of the stream Deal" not in own.stderr
    assert " Copies " in rows_line(own) and " Leg " not in rows_line(own)
    instead, _ = fresh(folder, "--deals", "simulated")
    assert instead.stderr.startswith(told), instead.output
    assert " Leg " in rows_line(instead) and " Named " not in rows_line(instead)


def test_simulated_deals_where_there_are_none_are_refused(folder: Path) -> None:
    for rules, *options in (("keyed",), ("chained", "--fills=none")):
        result = run(folder, "--deals=simulated", *options, rules=rules)
        assert result.exit_code != 0
        assert "error: --deals simulated: there are none" in result.output


def test_rules_without_fills_are_told_nothing(folder: Path) -> None:
    assert "fills (Deal)" not in run(folder, rules="keyed").output


def test_an_account_has_money(folder: Path, tmp_path: Path) -> None:
    """`--account FILE`: costs are charged, and the terminal says what came of the money."""
    path = tmp_path / "account.toml"
    said = "[account]\nbalance = 5000\n[symbols.'*']\ncommission_per_lot = 10\n"
    path.write_text(said)
    untold = run(folder, "--account", path, rules="keyed")
    assert untold.exit_code == 2, untold.output
    assert "nobody has told the contract size of EURUSD, GBPUSD" in untold.stderr
    assert 'help: say contract_size in [symbols."EURUSD"]' in untold.stderr
    path.write_text(f"{said}contract_size = 1\n")
    result = run(folder, "--account", path, rules="keyed")
    assert result.exit_code == 0, result.output
    line = next(one for one in result.stdout.splitlines() if one.startswith("account: "))
    assert line.startswith("account: balance 5,000.00 to 4,") and "commission -" in line
    assert "EURUSD (a file and --account)" in result.stdout
    path.write_text("[account]\nlevarage = 5\n")
    wrong = run(folder, "--account", path, rules="keyed")
    assert (
        wrong.exit_code == 2
        and "`account.levarage`: no such key" in wrong.output
        and "account.toml" in wrong.output
    )


def test_the_risk_guard_judges_signals(folder: Path, tmp_path: Path) -> None:
    """`[risk]` of `--account`: signals are refused by limit, in one task, and the run says so."""
    path = tmp_path / "account.toml"
    path.write_text("[risk]\nlots_per_day = 0.5\n")
    result = run(folder, "--account", path, rules="keyed", master="local[2]")
    assert result.exit_code == 0, result.output
    assert "without Spark: signals that the risk guard judges by one account" in result.stderr
    assert "not filled: " in result.stdout and "limit lots_per_day 1" in result.stdout
