"""`--param` of every command that runs rules, and what it says when a value does not fit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cep.cli import main
from cep.cli.application import COMMANDS, Application
from cep.live.config import ConfigError, read_config
from cep.live.rules import bound_text, load_plan, rules_text
from tests.backtest.archives import recorded

RULES = """\
define parameter Least double = 1.1 range 1.0 to 1.2 step 0.01;
define parameter Wait time = 5 min;
define stream Tick (symbol string, bid double, ask double);
define event High for each symbol as Tick[bid > Least];
define complex Top for each symbol as High within Wait;
define signal Go on Top sell 0.1 lots stop 20 points for Wait;
"""


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "rules.cep"
    path.write_text(RULES, encoding="utf-8")
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_check_counts_and_explain_lists_them(rules: Path) -> None:
    checked = run("check", rules, "--param", "Least=1.15")
    assert checked.exit_code == 0 and "ok, 2 parameters, 1 stream" in checked.output
    shown = run("explain", rules, "--param", "Least = 1.15", "--param", "Wait=90 sec")
    assert "  Least double = 1.15, range 1.0 to 1.2 step 0.01\n" in shown.output
    assert "  Wait time = 90 sec\n" in shown.output
    assert "Tick[bid > 1.15]" in shown.output


def test_a_replay_takes_the_values(rules: Path, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text(
        "time_msc,symbol,bid,ask\n1700000000000,A,1.12,1.13\n1700000000100,A,1.17,1.2\n"
    )
    given = ("replay", rules, "--input", f"Tick={rows}", "--streams", "High", "--plain")
    times = {
        value: [json.loads(line)["time_msc"] for line in run(*given, *value).stdout.splitlines()]
        for value in ((), ("--param", "Least=1.15"), ("--param", "Least=1.2"))
    }
    assert list(times.values()) == [[1700000000000], [1700000000100], []]


def test_a_backtest_takes_the_values_and_writes_them_down(rules: Path, tmp_path: Path) -> None:
    recorded(tmp_path)
    given = ("backtest", rules, "--archive", tmp_path / "archive", "--master", "none")
    found = run(*given, "--run", tmp_path / "run", "--param", "Least=1.12")
    assert found.exit_code == 0, found.output
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["options"]["parameters"] == {"Least": 1.12, "Wait": 300_000}
    literal = tmp_path / "literal.cep"
    literal.write_text(RULES.replace("= 1.1 range", "= 1.12 range"), encoding="utf-8")
    other = run("backtest", literal, *given[2:], "--run", tmp_path / "other")
    assert other.exit_code == 0, other.output
    for name in ("orders", "deals", "trades", "equity", "returns"):
        files = (tmp_path / folder / f"{name}.parquet" for folder in ("run", "other"))
        assert len({file.read_bytes() for file in files}) == 1, name


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (
            "Laest=1.1",
            "error: --param: the rules have no parameter Laest\nhelp: did you mean `Least`?",
        ),
        ("Least=1.3", "error: --param: Least: 1.3 is not within 1.0 and 1.2\nhelp: the rules say"),
        ("Least=high", "error: --param: Least: 'high' is not a double"),
        ("Least", "error: --param Least: says no value\nhelp: write NAME=VALUE"),
    ],
)
def test_what_does_not_fit_is_told(rules: Path, value: str, text: str) -> None:
    for command in (("explain", rules), ("check", rules)):
        found = run(*command, "--param", value)
        assert found.exit_code == 2 and text in found.output


def test_a_value_given_twice_is_refused(rules: Path) -> None:
    found = run("explain", rules, "--param", "Least=1.1", "--param", "Least=1.2")
    assert found.exit_code == 2 and "--param Least is given twice" in found.output


def test_a_parameter_that_nothing_uses_is_warned_of(rules: Path) -> None:
    rules.write_text("define parameter Spare int = 1;\n" + RULES, encoding="utf-8")
    found = run("check", rules)
    assert found.exit_code == 0
    assert f"{rules}:1: warning: this parameter is used nowhere" in found.output


@pytest.mark.parametrize(
    "name", sorted({"check", "explain", "replay", "backtest", "daemon", "parity", "lookahead"})
)
def test_every_command_that_runs_rules_has_the_option(name: str) -> None:
    assert name in COMMANDS
    command = main.get_command(None, name) if isinstance(main, Application) else None  # type: ignore[arg-type]
    assert command is not None
    assert any("--param" in option.opts for option in command.params)


def settings(tmp_path: Path, more: str) -> Path:
    path = tmp_path / "daemon.toml"
    path.write_text(f'[rules]\nfile = "rules.cep"\n{more}\n', encoding="utf-8")
    return path


def test_the_daemon_takes_them_from_its_settings(rules: Path, tmp_path: Path) -> None:
    more = (
        'parameters = { Least = 1.15, Wait = "2 min" }\n'
        '[rules.second]\nfile = "rules.cep"\nmagic = 7\nparameters = { Least = 1.18 }'
    )
    config = read_config(settings(tmp_path, more))
    assert [one.value for one in load_plan(config).parameters] == [1.15, 120_000]
    assert [one.value for one in load_plan(config.of("second")).parameters] == [1.18, 300_000]
    # what a run remembers of its rules has the values, whatever the settings say later
    text = bound_text(config, rules_text(config))
    plain = read_config(settings(tmp_path, ""))
    assert load_plan(plain, text) == load_plan(config) != load_plan(plain)


def test_settings_that_do_not_fit_are_refused(rules: Path, tmp_path: Path) -> None:
    config = read_config(settings(tmp_path, "parameters = { Least = 3 }"))
    with pytest.raises(ConfigError) as caught:
        load_plan(config)
    assert "[rules] parameters: " in str(caught.value)
    assert "Least: 3.0 is not within 1.0 and 1.2; the rules say `Least double" in str(caught.value)
