"""The options that say where a run's tasks run: `--master` and `--conf`."""

from __future__ import annotations

from collections.abc import Sequence

import click

from cep.cli.errors import UserError

NO_SPARK = "none"
AUTO = "auto"
ALL_CORES = "local[*]"
SPARK_PAYS_ROWS = 20_000_000
"""Records from which Spark, with its start, is faster on two cores (benchmarks/s1.md)."""

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


def chosen(master: str, rows: int, whole: str) -> tuple[str, str]:
    """The master of a run over so many records, and why, where it was not given. `whole` says why
    there would be one task, if so.
    """
    if master != AUTO:
        return master, ""
    if whole:
        return NO_SPARK, whole
    if rows < SPARK_PAYS_ROWS:
        return NO_SPARK, f"Spark pays from {SPARK_PAYS_ROWS:,} records, these are {rows:,}"
    return ALL_CORES, ""
