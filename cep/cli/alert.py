"""`mt5cep alert`: whether those that are to be told of what fails can be reached."""

from __future__ import annotations

from pathlib import Path

import click

from cep.cli.errors import INTERNAL, UserError, extra
from cep.cli.settings_file import NEEDED_CONFIG
from cep.cli.text import say


@click.command()
@NEEDED_CONFIG
@click.argument("text", default="A test of mt5cep: nothing has happened.")
@click.pass_context
def command(ctx: click.Context, config: Path, text: str) -> None:
    """Send a text to all that the settings name for alerts.

    The exit code is 1 when one could not be reached.
    """
    from cep.live.alerts import recipients_of
    from cep.live.config import read_config

    with extra("alerts"):
        recipients = recipients_of(read_config(config).alerts)
    if not recipients:
        raise UserError(f"{config}: nobody is to be told", "name addresses in [alerts] urls")
    failed = 0
    for recipient in recipients:
        is_told = recipient.tell("mt5cep", text)
        failed += not is_told
        say(f"{recipient.name}: {'sent' if is_told else 'not sent'}")
    ctx.exit(INTERNAL if failed else 0)
