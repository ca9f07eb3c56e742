"""`mt5cep daemon`: the live service."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from threading import Event
from types import FrameType

import click

from cep.cli.check import check_stages

FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.option("--config", required=True, type=FILE, help="The settings file (TOML).")
@click.option("--check", is_flag=True, help="Read settings and rules, say what is wrong, and end.")
def command(config: Path, check: bool) -> None:
    """Take ticks and deals from terminals, run the rules, send signals, store everything."""
    # Imported here: Numba and Arrow cost a second that `--help` need not wait.
    from loguru import logger

    from cep.daemon import Daemon, load_delivery, load_plan
    from cep.live.config import read_config

    settings = read_config(config)
    if check:
        plan = load_plan(settings)
        check_stages(plan)
        load_delivery(settings, plan)
        click.echo(f"{config}: fine; rules {plan.name}: {len(plan.operators)} statements")
        return
    logger.remove()
    logger.add(sys.stderr, level=settings.log_level)
    stop = Event()
    daemon = Daemon(settings)

    def end(_number: int, _frame: FrameType | None) -> None:
        stop.set()
        if daemon.server is not None:
            daemon.server.wake()

    signal.signal(signal.SIGINT, end)
    signal.signal(signal.SIGTERM, end)
    daemon.run(stop)
    for name, count in sorted(daemon.sink.counters.items()):
        logger.info("{}: {}", name, count)
