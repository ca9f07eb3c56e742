"""Whose position it is: the magic number of the statement, of the run, or the usual one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cep.account import market
from cep.app import App
from cep.cli import main
from cep.lang import format_rules, with_magic
from cep.live.config import Trading, each_file, read_config
from cep.live.rules import load_plan
from cep.market import SIMULATED, fills_told
from cep.plan import Plan, compile_rules
from cep.plan.explain import explain
from cep.plan.positions import MAGIC, written_out
from cep.plan.readers import readers

SOURCES = """\
define stream Tick (symbol string, bid double, ask double);
define stream Deal (symbol string, ticket long, order long, position long, magic long, side string,
  entry string, lots double, price double, commission double, swap double, profit double,
  fee double);
"""
RULES = f"{SOURCES}define position Mine;\ndefine position Theirs magic 9;\n"
DEAL = {
    "symbol": "EURUSD", "ticket": 3, "order": 2, "position": 2, "magic": 5, "side": "buy",
    "entry": "in", "lots": 0.1, "price": 1.1, "commission": 0.0, "swap": 0.0, "profit": 0.0,
    "fee": 0.0,
}  # fmt: skip


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "rules.cep"
    path.write_text(RULES, encoding="utf-8")
    return path


def whose(plan: Plan) -> set[str]:
    """What its text says of magic numbers."""
    return {line.rpartition("magic")[2].strip(" ;") for line in plan.text.splitlines()[4:]}


def test_the_usual_number_is_that_of_runs() -> None:
    assert MAGIC == market.MAGIC == Trading().magic
    assert compile_rules(RULES) == compile_rules(RULES, magic=MAGIC)
    assert compile_rules(RULES) != compile_rules(RULES, magic=5)


@pytest.mark.parametrize(("magic", "written"), [(0, "0"), (5, "5"), (2**31, "2147483648L")])
def test_a_run_gives_its_number_to_those_without_one(magic: int, written: str) -> None:
    bound = with_magic(RULES, "rules", magic)
    assert bound == RULES.replace("Mine;", f"Mine magic {written};")
    assert with_magic(bound, "rules", 1) == bound
    plain = compile_rules(SOURCES + written_out("Mine", magic) + written_out("Theirs", 9))
    assert compile_rules(RULES, magic=magic) == plain


def test_a_parameter_may_be_the_number() -> None:
    text = f"define parameter Whose int = 9;\n{SOURCES}define position Mine magic Whose;"
    assert "magic == 12L" in explain(compile_rules(text, parameters={"Whose": 12}))


def test_the_statement_is_formatted() -> None:
    wild = f"{SOURCES}define   POSITION Mine\n MAGIC  77L ;"
    assert format_rules(wild).endswith("define position Mine magic 77L;\n")


def test_explain_writes_it_out(rules: Path) -> None:
    shown = run("explain", rules, "--magic", 5, "--written-out")
    assert shown.output == written_out("Mine", 5) + "\n" + written_out("Theirs", 9)
    assert "magic == 5L" in run("explain", rules, "--magic", 5).output
    rules.write_text(SOURCES, encoding="utf-8")
    assert "defines no position" in run("explain", rules, "--written-out").output


def test_a_replay_takes_the_number(rules: Path, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps({"time_msc": 1_700_000_000_000, **DEAL}) + "\n")
    given = ("replay", rules, "--input", f"Deal={rows}", "--plain")
    found = {magic: run(*given, "--magic", magic).stdout.splitlines() for magic in (5, 77, 9)}
    assert {magic: len(lines) for magic, lines in found.items()} == {5: 1, 77: 0, 9: 0}
    assert json.loads(found[5][0])["stream"] == "MineFills"


def test_a_program_takes_the_number() -> None:
    with App(RULES, jit=False, magic=5) as app:
        assert [row["stream"] for row in app.send("Deal", DEAL, 1)] == ["MineFills"]
        app.change(RULES)
        theirs = {**DEAL, "position": 4, "magic": 9}
        assert [row["stream"] for row in app.send("Deal", theirs, 2)] == ["TheirsFills"]
        assert app.send("Deal", {**DEAL, "position": 5}, 3) == []
    with pytest.raises(TypeError, match="magic belong to a rule text"):
        App(compile_rules(RULES), magic=5)


def test_each_rule_file_of_a_daemon_has_its_own(rules: Path, tmp_path: Path) -> None:
    settings = tmp_path / "daemon.toml"
    settings.write_text(
        '[rules]\nfile = "rules.cep"\n[signals]\nmagic = 12\n'
        '[rules.quick]\nfile = "rules.cep"\nmagic = 101\n'
    )
    plans = [load_plan(one) for one in each_file(read_config(settings))]
    assert [whose(plan) for plan in plans] == [{"12", "9"}, {"101", "9"}]
    assert plans == [compile_rules(RULES, magic=magic) for magic in (12, 101)]


def test_names_and_lines_are_those_of_the_text(rules: Path) -> None:
    """As if the position was one statement: other queries keep their names, lines and counts."""
    more = "from Tick select bid insert into Bids;\nfrom Deal select lots insert into Lots;\n"
    rules.write_text(RULES + more, encoding="utf-8")
    plan = compile_rules(RULES + more)
    names = [query.name for query in plan.queries]
    assert names[-2:] == ["query1", "query2"] and {*names[:-2]} == {
        f"{name}:{one.partition(':')[2]}" for name in ("Mine", "Theirs") for one in names[:-2]
    }
    lines = readers(plan, "Deal").direct
    assert lines["query2"] == 8 and lines["Mine:deals"] == 5 and lines["Theirs:opening"] == 6
    told = fills_told(plan, SIMULATED)
    assert "(Deal), Mine (line 5), Theirs (line 6), query2 (line 8): they see" in told
    assert run("check", rules).output.endswith(": ok, 2 streams, 2 positions, 2 queries\n")
