"""The option `--functions`: files with functions of the user, for commands that read rules."""

from __future__ import annotations

from pathlib import Path

import click

from cep.cli.paths import FILE


def _load(context: click.Context, option: click.Parameter, files: tuple[Path, ...]) -> None:
    """Make the functions known before the command reads its rules."""
    from cep.functions import load_functions

    load_functions(files)


HELP = "A Python file with functions and indicators of your own. Repeat it."
FUNCTIONS = click.option(
    "--functions", multiple=True, type=FILE, metavar="FILE", help=HELP, callback=_load,
    expose_value=False,
)  # fmt: skip
"""They are known when the command begins."""
MORE_FUNCTIONS = click.option(
    "--functions", multiple=True, type=FILE, metavar="FILE",
    help=HELP + " They add to [rules] functions.",
)  # fmt: skip
"""For the daemon, whose settings name files, too."""
