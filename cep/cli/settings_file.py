"""The option `--config`, and where settings are looked for without it."""

from __future__ import annotations

from pathlib import Path

import click

from cep.cli.errors import UserError
from cep.cli.paths import FILE

PLACES = (Path("daemon.toml"), Path("config", "daemon.toml"))
HELP = "The daemon's settings file (TOML); left out, daemon.toml or config/daemon.toml here."


def found_settings(config: Path | None) -> Path | None:
    """The file that is meant; None when none is named and none is here."""
    if config is not None:
        return config
    return next((path for path in PLACES if path.is_file()), None)


def needed_settings(config: Path | None) -> Path:
    """The file that is meant. UserError when that is not clear."""
    found = found_settings(config)
    if found is None:
        raise UserError(
            f"no settings file: neither {PLACES[0]} nor {PLACES[1].as_posix()} is here",
            "name one with --config, or let `mt5cep daemon --init` write one",
        )
    return found


CONFIG = click.option("--config", type=FILE, help=HELP)
"""For commands that can do without: a path or None."""
NEEDED_CONFIG = click.option(
    "--config", type=FILE, help=HELP, callback=lambda _context, _option, path: needed_settings(path)
)
"""For all others: always a path."""
