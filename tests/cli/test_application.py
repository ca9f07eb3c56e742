"""The command group: lazy commands, error messages and exit codes."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from cep.cli import application, main
from cep.cli.application import COMMANDS
from cep.cli.errors import UserError, explain_error
from cep.lang import RuleError
from tests.waiting import LONG_S

ROOT = Path(__file__).parents[2]


def run_with(monkeypatch: pytest.MonkeyPatch, error: Exception, *arguments: str) -> tuple[int, str]:
    """Exit code and stderr of a command that raises `error`."""

    @click.command()
    def failing() -> None:
        raise error

    monkeypatch.setattr(application.Application, "get_command", lambda *_: failing)
    result = CliRunner().invoke(main, [*arguments, "failing"])
    return result.exit_code, result.stderr


def test_help_names_every_command_with_its_own_summary() -> None:
    listed = " ".join(CliRunner().invoke(main, ["--help"]).output.split())
    context = click.Context(main)
    for name, (_, summary) in application.COMMANDS.items():
        command = main.get_command(context, name)
        assert command is not None
        assert f"{name} " in listed and summary in listed
        assert command.get_short_help_str(200) == summary, name


def test_help_loads_no_command() -> None:
    code = (
        "import sys; from cep.cli import main; main(['--help'], standalone_mode=False);"
        "heavy = {'numba', 'pyspark', 'pyarrow', 'pandas', 'zmq', 'cep.plan', 'cep.cli.check'};"
        "sys.exit(', '.join(sorted(heavy & set(sys.modules))) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=LONG_S
    )
    assert done.returncode == 0, done.stderr


def test_unknown_command_is_a_usage_error() -> None:
    result = CliRunner().invoke(main, ["chek"])
    assert result.exit_code == 2 and "No such command" in result.stderr


def test_user_error_shows_message_and_help(monkeypatch: pytest.MonkeyPatch) -> None:
    code, text = run_with(monkeypatch, UserError("ticks.csv:7: no bid", "add a column bid"))
    assert (code, text) == (2, "error: ticks.csv:7: no bid\nhelp: add a column bid\n")


def test_rule_error_shows_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    error = RuleError("unknown stream", source="a.cep", line=2, column=6, line_text="from Tik")
    code, text = run_with(monkeypatch, error)
    assert code == 2 and text == error.render() + "\n"


def test_missing_file_is_named() -> None:
    error = FileNotFoundError(2, "No such file or directory", "ticks.csv")
    text, code = explain_error(error)
    assert text.startswith("error: ticks.csv: No such file or directory\nhelp: check the path")
    assert code == 2


def test_errors_defined_by_the_project_are_expected() -> None:
    class FullError(Exception):
        hint = "free some space"

    FullError.__module__ = "mt5bridge.spool.disk"
    assert explain_error(FullError("disk full")) == ("error: disk full\nhelp: free some space", 2)


def test_unexpected_error_is_short_without_debug(monkeypatch: pytest.MonkeyPatch) -> None:
    code, text = run_with(monkeypatch, KeyError("mid"))
    assert code == 1
    assert text.startswith("error: internal error: KeyError: 'mid'\nhelp: run `mt5cep --debug")


def test_debug_lets_the_traceback_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        application.Application,
        "get_command",
        lambda *_: click.Command("x", callback=lambda: 1 // 0),
    )
    result = CliRunner().invoke(main, ["--debug", "x"])
    assert isinstance(result.exception, ZeroDivisionError)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES, errno.ENAMETOOLONG, errno.EFBIG])
def test_an_error_of_the_system_has_its_remedy(code: int) -> None:
    text, _ = explain_error(OSError(code, os.strerror(code), "f"))
    assert text.startswith(f"error: f: {os.strerror(code)}\nhelp: ")


def test_an_error_of_the_system_that_nobody_knows_has_none() -> None:
    text, _ = explain_error(OSError(errno.ELOOP, "too many links", "f"))
    assert text == "error: f: too many links"


def test_help_of_a_group_says_whole_sentences() -> None:
    """Of every command, at the width of the narrowest terminal."""
    groups = [one for name in COMMANDS if isinstance(one := command_of(name), click.Group)]
    assert len(groups) >= 5
    for group in groups:
        said = CliRunner().invoke(group, ["--help"], terminal_width=60).output
        assert "..." not in said.partition("Commands:")[2]
        for name, command in group.commands.items():
            assert name in said and command.help and " ".join(command.help.split())[:20] in said


def command_of(name: str) -> click.Command:
    found = main.get_command(click.Context(main), name)
    assert found is not None
    return found
