"""The command group: finds commands by name, and turns errors into messages and exit codes."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import click

from cep.cli.errors import explain_error
from cep.cli.streams import StreamEnd, guard
from cep.cli.text import say

COMMANDS: dict[str, tuple[str, str]] = {
    "demo": (
        "cep.cli.demo",
        "Run everything at once on this machine and compare live with backtest.",
    ),
    "check": ("cep.cli.check", "Validate rule files."),
    "explain": (
        "cep.cli.explain",
        "Show numbers, arrangements and the plan of a rule file, and how it runs.",
    ),
    "fmt": ("cep.cli.fmt", "Format rule files."),
    "simulate": ("cep.cli.simulate", "Play ticks to a daemon like a terminal would."),
    "replay": (
        "cep.cli.replay",
        "Run RULES over recorded rows and print one JSON object per output row.",
    ),
    "daemon": (
        "cep.cli.daemon",
        "Take ticks and deals from terminals, run the rules, send signals, store everything.",
    ),
    "backtest": (
        "cep.cli.backtest",
        "Run RULES over an archive, fill their signals, and show what came of it.",
    ),
    "lookahead": (
        "cep.cli.lookahead",
        "Cut the future of RULES off behind random records, and see whether the past changes.",
    ),
    "stress": (
        "cep.cli.stress",
        "Fill the signals of RULES at harsher and harsher markets, and say what breaks first.",
    ),
    "sweep": (
        "cep.cli.sweep",
        "Run RULES over an archive with many values of their parameters, and list the best.",
    ),
    "walkforward": (
        "cep.cli.walkforward",
        "Choose the best values of RULES on a stretch, trade them on the next, and so on.",
    ),
    "compare": (
        "cep.cli.compare",
        "Compare the folders A and B of two runs of `mt5cep backtest --run`.",
    ),
    "parity": (
        "cep.cli.parity",
        "Run a day that a daemon has lived again, and list every difference.",
    ),
    "terminal": (
        "cep.cli.terminal",
        "Put the MQL5 sources into a terminal, and examine the link to it.",
    ),
    "status": (
        "cep.cli.status",
        "Tell how the daemon stands: what fails, which limits were reached, and why.",
    ),
    "alert": (
        "cep.cli.alert",
        "Send a text to all that the settings name for alerts.",
    ),
    "terminals": (
        "cep.cli.terminals",
        "List the terminals that the running daemon knows, let one go, or confirm its account.",
    ),
    "credential": (
        "cep.cli.credential",
        "Say who may publish, trade or read, as which terminal, account and symbols.",
    ),
    "rules": (
        "cep.cli.rule_files",
        "List the rule files of the running daemon, and turn the kill switch of one.",
    ),
    "orders": (
        "cep.cli.orders",
        "List and send orders, ask what became of them, and turn the kill switch.",
    ),
    "rows": (
        "cep.cli.rows",
        "Print the rows that the daemon has written to its journal, and follow it.",
    ),
    "archive": (
        "cep.cli.archive",
        "Fill, tidy up, prove, list and publish an archive of ticks and deals.",
    ),
}
"""Command name -> (module with a click command called `command`, one line for the help)."""


class Application(click.Group):
    """A group whose commands are imported only when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(COMMANDS[cmd_name][0]).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            if ctx.params.get("debug"):
                raise
            message, exit_code = explain_error(error)
            say(message, err=True)
            ctx.exit(exit_code)

    def main(self, *args: Any, **extra: Any) -> Any:
        guard()
        try:
            return super().main(*args, **extra)
        except StreamEnd as end:
            if end.message:
                sys.stderr.write(end.message + "\n")
            sys.exit(end.exit_code)


@click.group(
    cls=Application,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("--debug", is_flag=True, help="Show tracebacks.")
@click.version_option(package_name="mt5cep", prog_name="mt5cep")
def main(debug: bool) -> None:
    """Write a trading rule once; run it live, in a replay and on years of archived ticks."""
