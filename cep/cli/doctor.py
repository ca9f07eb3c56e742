"""`mt5cep terminal doctor`: is the link between terminal and daemon well, and if not, what then."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import click
import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cep.cli.numbers import SECONDS
from cep.cli.paths import FOLDER
from cep.cli.settings_file import NEEDED_CONFIG
from cep.cli.text import counted
from mt5bridge.clock import monotonic_ms, now_msc
from mt5bridge.credential import Credential, CredentialError, read_credential
from mt5bridge.escapes import one_line, visible, visible_json
from mt5bridge.terminal.findings import Finding, Level, finding
from mt5bridge.terminal.folders import DataFolder, Machine, find, named
from mt5bridge.terminal.inspection import judge_folders
from mt5bridge.terminal.probe import judge_probes
from mt5bridge.terminal.reachable import judge_reach
from mt5bridge.terminal.sources import sources_folder, sources_version

if TYPE_CHECKING:
    from cep.live.config import Config
    from mt5bridge.server import Settings
    from mt5bridge.server.status import Status

STYLES = {Level.OK: "green", Level.WARNING: "yellow", Level.PROBLEM: "bold red"}
POLL_S = 0.1


@click.command("doctor")
@NEEDED_CONFIG
@click.option(
    "--folder",
    "paths",
    multiple=True,
    type=FOLDER,
    help="A data folder that is not found by itself; repeatable.",
)
@click.option(
    "--wait",
    type=SECONDS,
    default=10.0,
    show_default=True,
    help="Seconds to wait for a terminal.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per finding.")
@click.pass_context
def command(
    ctx: click.Context, config: Path, paths: tuple[Path, ...], wait: float, as_json: bool
) -> None:
    """Examine the link between terminal and daemon, and say what to do about each finding.

    Without a running daemon it listens in its place for a while, and takes nothing. The exit code
    is 1 when there is a problem.
    """
    # Imported here: ZeroMQ and NumPy cost half a second that `--help` need not wait.
    from cep.live.config import read_config

    found = find(Machine.here())
    folders = list(dict.fromkeys([*found, *named(paths, found)]))
    findings = list(examined(read_config(config), folders, round(1000 * wait)))
    if as_json:
        for one in findings:
            click.echo(visible_json(msgspec.json.encode(one)))
    else:
        show(findings, Console(file=sys.stdout))
    ctx.exit(int(any(one.level is Level.PROBLEM for one in findings)))


def examined(config: Config, folders: list[DataFolder], wait_ms: int) -> Iterator[Finding]:
    """All findings, in the order of a tick's way: terminal's disk, address, daemon, terminals."""
    from cep.live.config import ConfigError, credential_path
    from cep.live.credentials import admitted, settings_for
    from mt5bridge.terminal.doctor import judge, judge_address
    from mt5bridge.terminal.handover import judge_credentials

    sources = sources_folder()
    version = sources_version(sources) or ""
    now = told(config)
    sends = now is not None and (now.sends_signals or now.sends_orders)
    yield from judge_folders(folders, sources, now.version if now else "", sends)
    yield from judge_probes(folders)
    yield from judge_reach(folders, sources, now_msc())
    yield judge_address(config.server.bind)
    try:
        credential = read_credential(credential_path(config))
        found = admitted(config, credential)
    except (CredentialError, ConfigError) as problem:
        yield finding("no credential", "daemon", str(problem))
        return
    daemons = [Credential(user, password) for user, password in found.passwords.items()]
    yield from judge_credentials(folders, daemons)
    status = running(config, wait_ms)
    if status is not None:
        yield finding("daemon", "daemon", f"{status.version}, process {status.pid}")
        if status.version != version:
            yield finding("daemon version", "daemon", f"{status.version}; this is {version}")
    else:
        yield from ended(config)
        settings = settings_for(config, credential, found)
        status, troubles = stand_in(settings, config, wait_ms)
        yield from troubles
    if status is not None:
        yield from judge(status)


def ended(config: Config) -> Iterator[Finding]:
    """Why the last daemon has ended, if it has left a reason behind."""
    from cep.live.status_file import status_path
    from mt5bridge.server.status import read_status
    from mt5bridge.terminal.doctor import failure
    from mt5bridge.troubles import Effect

    with suppress(OSError, msgspec.MsgspecError):
        for trouble in read_status(status_path(config)).troubles:
            if trouble.effect is Effect.ENDS:
                yield failure(trouble)


def told(config: Config) -> Status | None:
    """What a running daemon has last told; None without one."""
    from cep.live.status_file import status_path
    from mt5bridge.server.status import running_status

    return running_status(status_path(config), now_msc())


def running(config: Config, wait_ms: int) -> Status | None:
    """What a running daemon tells, once it is enough or the time is over; None without one."""
    from cep.live.status_file import status_path
    from mt5bridge.server.status import running_status
    from mt5bridge.terminal.listening import daemon_holds, is_settled

    path, pause, end_ms = status_path(config), Event(), monotonic_ms() + wait_ms
    while daemon_holds(config.spool.folder):
        status = running_status(path, now_msc())
        if (status is not None and is_settled(status)) or monotonic_ms() >= end_ms:
            return status
        pause.wait(POLL_S)
    return None


def stand_in(
    settings: Settings, config: Config, wait_ms: int
) -> tuple[Status | None, list[Finding]]:
    """What terminals tell when the doctor listens itself, or why it cannot."""
    from loguru import logger

    from cep.live.outgoing import journal_path
    from cep.live.status_file import status_path
    from mt5bridge.orders import read_book
    from mt5bridge.server import BindError
    from mt5bridge.spool import SpoolLockedError
    from mt5bridge.terminal.listening import listen

    logger.disable("mt5bridge")  # what it would log are findings
    try:
        traders = read_book(journal_path(config)).traders
        status = listen(settings, config.spool.folder, wait_ms, traders)
    except SpoolLockedError:
        seen = f"nothing new in {status_path(config)}"
        return None, [finding("daemon silent", "daemon", seen)]
    except BindError as error:
        return None, [finding("address taken", settings.bind, str(error))]
    finally:
        logger.enable("mt5bridge")
    return status, [finding("no daemon", "daemon", "none runs on this spool")]


def show(findings: list[Finding], console: Console) -> None:
    """A table, the worst at its end, and a line in short."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    ranks = list(Level)
    for found in sorted(findings, key=lambda found: ranks.index(found.level)):
        said = Text(visible(found.seen))
        if found.remedy:
            said.append(f"\n{visible(found.remedy)}", style="dim")
        table.add_row(
            Text(found.level.value, STYLES[found.level]), Text(one_line(found.subject)), said
        )
    console.print(table)
    problems = sum(found.level is Level.PROBLEM for found in findings)
    warnings = sum(found.level is Level.WARNING for found in findings)
    console.print(f"{counted(problems, 'problem')}, {counted(warnings, 'warning')}")
