"""`mt5cep rules`: the rule files of the running daemon."""

from __future__ import annotations

import json
from pathlib import Path

import click
import msgspec

from cep.cli.errors import UserError
from cep.cli.groups import Commands
from cep.cli.orders import JSON
from cep.cli.settings_file import NEEDED_CONFIG
from cep.cli.terminals import told
from cep.cli.text import aligned, say
from cep.live.config import MAIN, Config, read_config
from mt5bridge.escapes import one_line
from mt5bridge.server.status import RuleFileStatus

HEAD = ["name", "state", "signals", "magic", "rows", "file"]


@click.group(cls=Commands)
def command() -> None:
    """List the rule files of the running daemon."""


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
            say(f"{one.name} is stopped: {one_line(one.why)}")


def row(one: RuleFileStatus) -> list[str]:
    """One of them in the table."""
    return [
        one.name,
        "runs" if one.runs else "stopped",
        "sent" if one.sends_signals else "not sent",
        str(one.magic),
        f"{one.rows_bytes:,} bytes",
        one.file,
    ]


def settings_of(config: Config, name: str) -> Config:
    """The settings of one rule file. UserError for a name that there is not."""
    if name == MAIN:
        return config
    if name not in config.rule_files:
        known = ", ".join([MAIN, *config.rule_files])
        raise UserError(f"{name}: no such rule file", f"the settings name {known}")
    return config.of(name)
