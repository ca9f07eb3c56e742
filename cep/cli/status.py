"""`mt5cep status`: how the daemon stands, whether it is healthy, and why not."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from cep.cli.errors import INTERNAL
from cep.cli.settings_file import NEEDED_CONFIG
from cep.cli.text import counted, say
from mt5bridge.escapes import visible_json


@click.command()
@NEEDED_CONFIG
@click.option("--json", "as_json", is_flag=True, help="Print JSON: all that the daemon tells.")
@click.pass_context
def command(ctx: click.Context, config: Path, as_json: bool) -> None:
    """Tell how the daemon stands: what fails, which limits were reached, and why.

    The exit code is 1 when it is not healthy, or does not run.
    """
    from cep.live.config import read_config
    from cep.live.health import faults, notices
    from cep.live.log import escaped
    from cep.live.state_folder import was_left
    from cep.live.status_file import status_path
    from cep.report.tables import time_text
    from mt5bridge.clock import now_msc
    from mt5bridge.server.status import read_status

    settings = read_config(config)
    try:
        status = read_status(status_path(settings))
    except (OSError, msgspec.MsgspecError):
        say("no daemon runs with these settings")
        ctx.exit(INTERNAL)
    wrong = faults(status, now_msc(), was_left=was_left(settings.state.folder))
    if as_json:
        say(visible_json(msgspec.json.format(msgspec.json.encode(status))).decode())
        ctx.exit(INTERNAL if wrong else 0)
    connected = sum(one.connected for one in status.terminals)
    away = len(status.terminals) - connected
    took = f"{counted(status.counters.get('ticks', 0), 'tick')}, " + counted(
        status.counters.get("deals", 0), "deal"
    )
    memory = f"{status.memory_bytes >> 20:,} MiB of memory"
    say(f"{status.program} {status.version}, process {status.pid}, at {status.bind}")
    say(f"since {time_text(status.since_msc)} UTC: {took}; {memory}")
    say(f"{counted(connected, 'terminal')} connected, {away} away")
    if (paper := status.paper) is not None:
        say(
            f"paper trading, no terminal trades: balance {paper.balance:,.2f}, equity "
            f"{paper.equity:,.2f}, {counted(paper.positions, 'position')}, "
            f"{counted(paper.orders, 'order')}"
        )
    if len(status.rules) > 1:
        running = [one.name for one in status.rules if one.runs]
        say(f"{counted(len(status.rules), 'rule file')}; running: {', '.join(running) or 'none'}")
    for one in status.rules:
        if one.loaded < 1.0:
            say(f"rules {one.name} warm up: {one.loaded:.0%}; what comes is stored meanwhile")
    for text in notices(status):
        say(f"notice: {escaped(text)}")
    for text in wrong:
        say(f"fails: {escaped(text)}")
    say("not healthy" if wrong else "healthy")
    ctx.exit(INTERNAL if wrong else 0)
