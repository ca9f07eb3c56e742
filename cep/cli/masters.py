"""The options that say where a run's tasks run: `--master` and `--conf`."""

from __future__ import annotations

from collections.abc import Sequence

import click

from cep.cli.errors import UserError

NO_SPARK = "none"
AUTO = "auto"
CONF = click.option(
    "--conf", "settings", multiple=True, metavar="NAME=VALUE",
    help="A setting of Spark's own, such as spark.executor.memory=4g. Repeat it.",
)  # fmt: skip


def given_settings(settings: Sequence[str]) -> dict[str, str]:
    """Spark's settings by name; UserError for one that is none."""
    found = {}
    for text in settings:
        name, equals, value = text.partition("=")
        if not equals or not name.startswith("spark."):
            raise UserError(f"--conf {text}: no setting of Spark", "write --conf spark.NAME=VALUE")
        found[name.strip()] = value.strip()
    return found
