"""`mt5cep rules`: the rule files of the running daemon."""

from __future__ import annotations

import json
from pathlib import Path

import click
import msgspec

from cep.cli.errors import INTERNAL, UserError
from cep.cli.groups import Commands
from cep.cli.orders import JSON, WAIT, awaited, turn, unanswered
from cep.cli.settings_file import NEEDED_CONFIG
from cep.cli.terminals import told
from cep.cli.text import aligned, say
from cep.live.config import MAIN, Config, read_config
from cep.live.log import escaped
from cep.live.outgoing import HALTED, TURNED, inbox_of, plain
from cep.live.status_file import status_path
from mt5bridge.clock import now_msc
from mt5bridge.escapes import one_line
from mt5bridge.orders import HaltRules, TurnRules
from mt5bridge.server.status import RuleFileStatus, running_status

HEAD = ["name", "state", "signals", "magic", "rows", "file"]


@click.group(cls=Commands)
def command() -> None:
    """List the rule files of the running daemon, and turn the kill switch of one."""


@command.command("ls")
@NEEDED_CONFIG
@JSON
def ls_command(config: Path, as_json: bool) -> None:
    """List rule files: whether they run and send signals, their magic numbers, and why not."""
    found = told(read_config(config)).rules
    if as_json:
        say(json.dumps(msgspec.to_builtins(found), indent=1))
        return
    say("\n".join(aligned([HEAD, *map(row, found)])))
    for one in found:
        if one.why:
            say(f"{one.name} is stopped: {escaped(one.why)}")
        if one.refused:
            say(f"{one.name} runs as before its file was changed: {escaped(one.refused)}")
        if one.halted:
            say(f"{one.name} is halted: {one_line(one.halted)}")


def state(one: RuleFileStatus) -> str:
    """Whether it runs, in words."""
    if one.loaded < 1.0:
        return f"warms up {one.loaded:.0%}"
    if not one.runs:
        return "stopped"
    return "runs, changed file refused" if one.refused else "runs"


def row(one: RuleFileStatus) -> list[str]:
    """One of them in the table."""
    return [
        one.name,
        state(one),
        "not sent" if not one.sends_signals else "halted" if one.halted else "sent",
        str(one.magic),
        f"{one.rows_bytes:,} bytes",
        one.file,
    ]


@command.command("halt")
@click.argument("name")
@NEEDED_CONFIG
@click.option("--reason", default="by hand", show_default=True, help="Why.")
@WAIT
def halt_command(name: str, config: Path, reason: str, wait: float) -> None:
    """Send nothing any more that opens or enlarges a position for the rule file NAME.

    What it holds can be closed, and others go on. Works also when the daemon is down.
    """
    turned(read_config(config), HaltRules(name, True, plain(reason)), wait)


@command.command("stop")
@click.argument("name")
@NEEDED_CONFIG
@WAIT
def stop_command(name: str, config: Path, wait: float) -> None:
    """Stop the rule file NAME, until it is loaded again; the others go on."""
    ask(read_config(config), TurnRules(name, "stop"), wait)


@command.command("load")
@click.argument("name")
@NEEDED_CONFIG
@WAIT
def load_command(name: str, config: Path, wait: float) -> None:
    """Let the rule file NAME run, as its file and the settings are now; it may be new in them.

    It warms up on what the spool has, and nothing is sent for that.
    """
    ask(read_config(config), TurnRules(name, "load"), wait)


def ask(config: Config, command: TurnRules, wait: float) -> None:
    """Hand the command over, and wait for what comes of it."""
    settings_of(config, command.name)
    told(config)
    wanted, asked_msc = command.action == "load", now_msc()
    path = inbox_of(config).put(command, asked_msc)
    if awaited(lambda: None if path.exists() else path, wait) is None:
        unanswered("handed over, not taken yet: the daemon's log says what comes of it")
    if awaited(lambda: runs(config, command.name, wanted), wait) is None:
        say(f"{command.name} is not {TURNED[command.action]} yet; `mt5cep rules ls` tells why")
        raise click.exceptions.Exit(INTERNAL)
    say(TURNED[command.action])


def runs(config: Config, name: str, wanted: bool) -> bool | None:
    """True when it is as wanted; None while it is not."""
    status = running_status(status_path(config), now_msc())
    found = [one.runs for one in status.rules if one.name == name] if status else []
    return True if found == [wanted] else None


@command.command("resume")
@click.argument("name")
@NEEDED_CONFIG
@click.option("--reason", default="by hand", show_default=True, help="Why.")
@WAIT
def resume_command(name: str, config: Path, reason: str, wait: float) -> None:
    """Let the rule file NAME trade again."""
    turned(read_config(config), HaltRules(name, False, plain(reason)), wait)


def turned(config: Config, command: HaltRules, wait: float) -> None:
    """Turn the kill switch of one that there is."""
    settings_of(config, command.name)
    turn(config, command, f"{command.name} is {HALTED[command.halted]}", wait)


def settings_of(config: Config, name: str) -> Config:
    """The settings of one rule file. UserError for a name that there is not."""
    if name == MAIN:
        return config
    if name not in config.rule_files:
        known = ", ".join([MAIN, *config.rule_files])
        raise UserError(f"{name}: no such rule file", f"the settings name {known}")
    return config.of(name)
