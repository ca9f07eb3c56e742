"""`replay --trace`: what it prints, and what it refuses with which remedy."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cep.cli.application import main

RULES = """
define stream Tick (symbol string, bid double);
define engine Main (queue = 1 min);
define event High for each symbol as Tick[bid > 2.0] repeat allow;
define complex Twice for each symbol as High followed by High within 10 sec;
"""
ALL = "define event Any as every Tick[bid > 0.0] repeat allow;\n"
TICKS = "time_msc,symbol,bid\n1000,A,2.5\n1500,A,1.5\n2000,B,3.0\n3000,A,2.2\n"


def replay(folder: Path, *arguments: str, rules: str = RULES) -> Result:
    (folder / "rules.cep").write_text(rules, encoding="utf-8")
    (folder / "ticks.csv").write_text(TICKS, encoding="utf-8")
    files = [str(folder / "rules.cep"), "--input", f"Tick={folder / 'ticks.csv'}"]
    return CliRunner().invoke(main, ["replay", *files, *arguments])


def test_one_rule_of_one_key(tmp_path: Path) -> None:
    result = replay(tmp_path, "--trace", "A", "--rule", "Twice")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines() == [
        "1970-01-01T00:00:01.000Z Tick symbol='A' bid=2.5",
        "  Twice: #1 High came: completes no match",
        "      (High, High): has #1 High; lacks High before",
        "        none has come",
        "1970-01-01T00:00:03.000Z Tick symbol='A' bid=2.2",
        "  Twice: #3 High came: FIRED with #1 High, #3 High",
    ]


@pytest.mark.parametrize(
    ("arguments", "error", "remedy"),
    [
        (["--trace", "X"], "--trace X: no row has this key", "the keys are A, B"),
        (["--trace", "X", "--rule", "Twice"], "no row has this key", "the keys are A, B"),
        (["--trace", "-"], "every rule works per key", "--trace KEY"),
        (["--trace", "A", "--rule", "Hihg"], "--rule Hihg: no such rule", "did you mean High?"),
        (["--trace", "A", "--rule", "x"], "no such rule", "the rules are High, Twice"),
        (["--rule", "High"], "--rule says what --trace is about", "add --trace KEY"),
        (["--trace", "A", "--backend", "spark"], "needs --backend native", "leave --backend out"),
        (["--trace", "A", "--streams", "High"], "--streams means nothing", "--rule"),
        (["--trace", "A", "--callback", "x.py"], "runs no --callback", "leave one of them out"),
    ],
)
def test_refusals(tmp_path: Path, arguments: list[str], error: str, remedy: str) -> None:
    result = replay(tmp_path, *arguments)
    assert result.exit_code == 2
    message, help_ = result.stderr.splitlines()[-2:]
    assert error in message
    assert remedy in help_


@pytest.mark.parametrize(
    ("key", "rule", "remedy"), [("A", "Any", "use --trace -"), ("-", "High", "--trace KEY")]
)
def test_a_rule_of_another_kind_of_key(tmp_path: Path, key: str, rule: str, remedy: str) -> None:
    result = replay(tmp_path, "--trace", key, "--rule", rule, rules=RULES + ALL)
    assert result.exit_code == 2
    assert remedy in result.stderr


def test_rules_without_keys(tmp_path: Path) -> None:
    rules = RULES.splitlines()[1] + "\n" + ALL
    refused = replay(tmp_path, "--trace", "A", rules=rules)
    assert "no rule has a key" in refused.stderr
    result = replay(tmp_path, "--trace", "-", rules=rules)
    assert result.stdout.count("Any: RAISED") == 4


def test_nothing_is_written_when_the_trace_fails(tmp_path: Path) -> None:
    out = tmp_path / "trace.txt"
    assert replay(tmp_path, "--trace", "X", "--out", str(out)).exit_code == 2
    assert not out.exists()


CALM = """
define stream Tick (symbol string, bid double);
@info(name='calm') from every e1=Tick[bid > 2.4 and symbol == 'A'] -> not Tick[bid < 1.0] for 5 sec
select e1.bid as bid insert into Calm;
"""


def test_what_time_alone_makes_happen_at_the_end(tmp_path: Path) -> None:
    result = replay(tmp_path, "--trace", "-", "--until", "1970-01-01T00:01:00", rules=CALM)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines()[-5:] == [
        "1970-01-01T00:01:00.000Z time passes",
        "  calm: Tick absent for the whole time: goes on",
        "      partial match: e1=(symbol='A' bid=2.5 at 1970-01-01T00:00:01.000Z)",
        "  calm: Tick MATCHED",
        "  calm: PUT OUT bid=2.5",
    ]
