"""`mt5cep daemon`: the live service."""

from __future__ import annotations

import signal
import sys
from contextlib import suppress
from pathlib import Path
from threading import Event
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from cep.cli.account import ACCOUNT
from cep.cli.errors import UserError, extra
from cep.cli.functions import MORE_FUNCTIONS
from cep.cli.parameters import PARAMETERS
from cep.cli.settings_file import CONFIG, needed_settings
from cep.cli.streams import unguarded
from cep.cli.text import say
from mt5bridge.credential import (
    USER,
    Credential,
    CredentialMissingError,
    others_can_use,
    read_credential,
)

if TYPE_CHECKING:
    from cep.daemon import Daemon
    from cep.live.config import Config
    from cep.live.log import Log
    from cep.live.operations import Reread


@click.command()
@CONFIG
@MORE_FUNCTIONS
@PARAMETERS
@click.option("--check", is_flag=True, help="Read settings and rules, say what is wrong, and end.")
@click.option("--paper", is_flag=True, help="Trade on a paper account; no terminal trades.")
@ACCOUNT
@click.option("--init", "begin", is_flag=True, help="Write settings and a credential, and end.")
def command(
    config: Path | None,
    functions: tuple[Path, ...],
    parameters: dict[str, str],
    check: bool,
    paper: bool,
    account_file: Path | None,
    hedging: bool,
    latency_ms: int | None,
    slippage_points: float | str | None,
    begin: bool,
) -> None:
    """Take ticks and deals from terminals, run the rules, send signals, store everything."""
    # Imported here: Numba and Arrow cost a second that `--help` need not wait.
    from loguru import logger

    from cep.live.config import for_paper, read_config, with_more
    from cep.live.log import Log
    from mt5bridge.server.files import raise_limit

    if begin:
        _begin(config, check)
        return
    config = needed_settings(config)
    given = _given(account_file, latency_ms, slippage_points, hedging=hedging)
    if given and not paper:
        named = ", ".join(f"--{key.partition('_')[0]}" for key in given)
        raise UserError(f"{named}: what is simulated is a paper account", "give --paper, too")

    def read() -> Config:
        found = with_more(read_config(config), functions, parameters)
        return for_paper(found, given) if paper else found

    settings = read()
    if check:
        _check(config, settings)
        return
    log = Log(unguarded(sys.stderr))  # that nobody can read it ends no daemon
    log.begin(settings)
    if (settings.server.users or settings.alerts.urls) and others_can_use(config):
        logger.warning("{}: others can read the secrets in it; run `chmod 600 {}`", config, config)
    raise_limit()
    stop = Event()
    daemon = _made(settings, read, log, is_paper=paper)

    def end(_number: int, _frame: FrameType | None) -> None:
        stop.set()
        if daemon.server is not None:
            daemon.server.wake()

    signal.signal(signal.SIGINT, end)
    signal.signal(signal.SIGTERM, end)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, lambda _number, _frame: daemon.reload())
    try:
        daemon.run(stop)
    finally:
        for name, count in sorted(daemon.sink.counters.items()):
            logger.info("{}: {}", name, count)
        logger.info("{}", "\n".join(daemon.dropped.lines()))


def _check(config: Path, settings: Config) -> None:
    """Say that settings and rules are fine, if they are."""
    from cep.functions import load_functions
    from cep.live.config import each_file
    from cep.live.rules import load_delivery, load_plan
    from cep.live.state_folder import check_access

    load_functions(settings.rules.functions)
    plans = [load_plan(one) for one in each_file(settings)]
    for one, plan in zip(each_file(settings), plans, strict=True):
        load_delivery(one, plan)
    check_access(settings)
    _check_credential(settings)
    _check_database(settings)
    _check_operations(settings)
    named = ", ".join(f"{one.name}: {len(one.operators)} statements" for one in plans)
    say(f"{config}: fine; rules {named}")


def _given(
    account_file: Path | None,
    latency_ms: int | None,
    slippage_points: float | str | None,
    *,
    hedging: bool,
) -> dict[str, Any]:
    """The keys of `[paper]` that the command line says."""
    account = None if account_file is None else account_file.resolve()
    found = {
        "account": account, "hedging": hedging or None, "latency_ms": latency_ms,
        "slippage_points": slippage_points,
    }  # fmt: skip
    return {key: value for key, value in found.items() if value is not None}


def _made(settings: Config, reread: Reread, log: Log, *, is_paper: bool) -> Daemon:
    """With the queries on a database, if the settings name one, and the packages it needs."""
    from cep.daemon import Daemon

    if settings.database.url is not None:
        with extra("database"):
            import cep.live.rules_on_database  # noqa: F401 -- what is missing is told here
    _check_operations(settings)
    return Daemon(settings, reread, log, is_paper=is_paper)


def _check_operations(settings: Config) -> None:
    """ConfigError for an address that is none; UserError when a package is missing."""
    from cep.live.alerts import recipients_of

    if settings.metrics.bind is not None:
        with extra("metrics"):
            from cep.live.endpoint import address_of
        address_of(settings.metrics)
    with extra("alerts"):
        recipients_of(settings.alerts)


def _begin(config: Path | None, check: bool) -> None:
    """Write what is missing, and say what to do with it."""
    if check:
        raise UserError("--check and --init: which of both?", "leave one of them out")
    from cep.cli.init import init

    for path in init(config):
        say(f"wrote {path}")
    named = f" --config {config}" if config is not None else ""
    say(f"next: `mt5cep terminal install{named}` gives the credential to your terminal,")
    say(f"and `mt5cep daemon{named}` starts")


def _check_credential(settings: Config) -> None:
    """CredentialError when there is one that cannot be used; the first start makes the daemon's."""
    from cep.live.config import credential_path
    from cep.live.credentials import admitted

    with suppress(CredentialMissingError):
        read_credential(credential_path(settings))
    admitted(settings, Credential(USER, "unknown"))


def _check_database(settings: Config) -> None:
    """DatabaseError when the database cannot be used."""
    wanted = settings.database
    if wanted.url is not None:
        with extra("database"):
            from cep.database.check import check_database
        check_database(wanted.url, wanted.prefix, wanted.durable)
