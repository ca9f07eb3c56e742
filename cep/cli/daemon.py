"""`mt5cep daemon`: the live service."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from threading import Event
from types import FrameType
from typing import TYPE_CHECKING

import click

from cep.cli.check import check_stages
from cep.cli.errors import extra

if TYPE_CHECKING:
    from cep.daemon import Daemon
    from cep.live.config import Config

FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.option("--config", required=True, type=FILE, help="The settings file (TOML).")
@click.option("--check", is_flag=True, help="Read settings and rules, say what is wrong, and end.")
def command(config: Path, check: bool) -> None:
    """Take ticks and deals from terminals, run the rules, send signals, store everything."""
    # Imported here: Numba and Arrow cost a second that `--help` need not wait.
    from loguru import logger

    from cep.daemon import load_delivery, load_plan
    from cep.live.config import read_config

    settings = read_config(config)
    if check:
        plan = load_plan(settings)
        check_stages(plan)
        load_delivery(settings, plan)
        _check_database(settings)
        click.echo(f"{config}: fine; rules {plan.name}: {len(plan.operators)} statements")
        return
    logger.remove()
    logger.add(sys.stderr, level=settings.log_level)
    stop = Event()
    daemon = _made(settings)

    def end(_number: int, _frame: FrameType | None) -> None:
        stop.set()
        if daemon.server is not None:
            daemon.server.wake()

    signal.signal(signal.SIGINT, end)
    signal.signal(signal.SIGTERM, end)
    daemon.run(stop)
    for name, count in sorted(daemon.sink.counters.items()):
        logger.info("{}: {}", name, count)


def _made(settings: Config) -> Daemon:
    """With the queries on a database, if the settings name one."""
    from cep.daemon import Daemon

    if settings.database.url is None:
        return Daemon(settings)
    with extra("database"):
        from cep.daemon_on_database import DatabaseDaemon
    return DatabaseDaemon(settings)


def _check_database(settings: Config) -> None:
    """DatabaseError when the database cannot be used."""
    wanted = settings.database
    if wanted.url is not None:
        with extra("database"):
            from cep.database.check import check_database
        check_database(wanted.url, wanted.prefix, wanted.durable)
