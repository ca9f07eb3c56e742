"""`mt5cep terminals`: which terminals the running daemon knows, letting one go or trade anew."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from shlex import quote

import click
import msgspec

from cep.cli.errors import INTERNAL, UserError
from cep.cli.groups import Commands
from cep.cli.orders import JSON, WAIT, awaited, unanswered
from cep.cli.settings_file import NEEDED_CONFIG
from cep.cli.text import aligned, say
from cep.live.config import Config, read_config
from cep.live.outgoing import inbox_of
from cep.live.status_file import running, status_path
from cep.report.tables import time_text
from mt5bridge.clock import now_msc
from mt5bridge.escapes import one_line
from mt5bridge.orders import ConfirmAccount, ForgetTerminal
from mt5bridge.server.status import Status, TerminalStatus, running_status

HEAD = [
    "identity", "state", "since (UTC)", "complete (UTC)", "trades", "account", "symbols", "on disk",
    "unanswered",
]  # fmt: skip

NAMED = 20
"""So many symbols are listed by name."""


@click.group(cls=Commands)
def command() -> None:
    """List the terminals that the running daemon knows, let one go, or confirm its account."""


@command.command("ls")
@NEEDED_CONFIG
@JSON
def ls_command(config: Path, as_json: bool) -> None:
    """List terminals: those that are connected, and those that are away and may come back."""
    status = told(read_config(config))
    if as_json:
        say(json.dumps(msgspec.to_builtins(status.terminals), indent=1))
        return
    rows = [row(terminal) for terminal in status.terminals]
    say("\n".join(aligned([HEAD, *rows])) if rows else "no terminal")
    for terminal in status.terminals:
        if terminal.names:
            say(f"{one_line(terminal.identity)} has other names for {named(terminal.names)}")
    for identity, account in status.unconfirmed.items():
        remedy = f"`mt5cep terminals confirm {quote(identity)} {quote(account)}` lets it"
        say(f"{one_line(identity)} may not trade on account {one_line(account)} yet: {remedy}")


def told(config: Config) -> Status:
    """What the daemon tells of itself. UserError when none runs."""
    status = running(config)
    if status is None:
        raise UserError("no daemon runs with these settings", "start `mt5cep daemon` first")
    return status


def named(names: Mapping[str, str]) -> str:
    """Symbols, and behind each what a terminal calls it; of many the first ones."""
    pairs = [f"{one_line(ours)} ({one_line(theirs)})" for ours, theirs in names.items()]
    rest = len(pairs) - NAMED
    return ", ".join(pairs[:NAMED]) + (f" and {rest} more (--json has all)" if rest > 0 else "")


def row(terminal: TerminalStatus) -> list[str]:
    records = sum(stream.durable for stream in terminal.streams)
    return [
        terminal.identity,
        "connected" if terminal.connected else "away",
        time_text(terminal.since_msc) if terminal.since_msc else "",
        time_text(terminal.complete_msc) if terminal.complete_msc else "",
        terminal.trades.replace("_", " "),
        str(terminal.account or ""),
        str(len(terminal.symbols)),
        f"{records:,}",
        str(terminal.unanswered),
    ]


@command.command("forget")
@click.argument("identity")
@NEEDED_CONFIG
@WAIT
def forget_command(identity: str, config: Path, wait: float) -> None:
    """Let a terminal that is away go: another has its place, and no signal waits for it.

    Where its streams stand stays known, so its numbers go on if it comes back.
    """
    settings = read_config(config)
    check_away(told(settings), identity)
    asked_msc = now_msc()
    path = inbox_of(settings).put(ForgetTerminal(identity), asked_msc)
    if awaited(lambda: None if path.exists() else path, wait) is None:
        unanswered("handed over, not taken yet: forgotten when the daemon looks")
    if awaited(lambda: listed(settings, identity, now_msc()), wait) is not False:
        say(f"{identity} is not forgotten; the daemon's log says why", err=True)
        raise click.exceptions.Exit(INTERNAL)
    say("forgotten")


@command.command("confirm")
@click.argument("identity")
@click.argument("account")
@NEEDED_CONFIG
@WAIT
def confirm_command(identity: str, account: str, config: Path, wait: float) -> None:
    """Let a terminal trade on ACCOUNT (LOGIN@SERVER), another one than before.

    What was meant for the account before is never sent to this one.
    """
    settings = read_config(config)
    waiting = told(settings).unconfirmed
    if waiting.get(identity) != account:
        known = ", ".join(f"{name} for {came}" for name, came in waiting.items()) or "nobody"
        raise UserError(f"{identity} does not wait for {account}", f"waiting: {known}")
    asked_msc = now_msc()
    path = inbox_of(settings).put(ConfirmAccount(identity, account), asked_msc)
    if awaited(lambda: None if path.exists() else path, wait) is None:
        unanswered("handed over, not taken yet: confirmed when the daemon looks")
    if awaited(lambda: waits(settings, identity, account, now_msc()), wait) is not False:
        say(f"{identity} is not confirmed; the daemon's log says why", err=True)
        raise click.exceptions.Exit(INTERNAL)
    say("confirmed; the terminal is let in when it tries again")


def waits(config: Config, identity: str, account: str, after_msc: int) -> bool | None:
    """False when it waits for this account no more; None while it does, or nothing is told."""
    status = running_status(status_path(config), after_msc)
    if status is None or status.unconfirmed.get(identity) == account:
        return None
    return False


def check_away(status: Status, identity: str) -> None:
    """UserError for who is not known, or is connected."""
    found = next((one for one in status.terminals if one.identity == identity), None)
    if found is None:
        known = ", ".join(one.identity for one in status.terminals) or "none"
        raise UserError(f"{identity}: no such terminal", f"the daemon knows {known}")
    if found.connected:
        raise UserError(f"{identity} is connected", "stop its program first")


def listed(config: Config, identity: str, after_msc: int) -> bool | None:
    """False when the daemon lists it no more; None while it does, or tells nothing."""
    status = running_status(status_path(config), after_msc)
    if status is None or any(one.identity == identity for one in status.terminals):
        return None
    return False
