"""`mt5cep terminal`: put the MQL5 sources into a terminal, and examine the link to it."""

from __future__ import annotations

import click

from cep.cli.doctor import command as doctor_command
from cep.cli.groups import Commands
from cep.cli.install import command as install_command
from cep.cli.probe import command as probe_command


@click.group(cls=Commands)
def command() -> None:
    """Put the MQL5 sources into a terminal, and examine the link to it."""


command.add_command(install_command)
command.add_command(doctor_command)
command.add_command(probe_command)
