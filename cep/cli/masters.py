"""The options that say where a run's tasks run: `--master`, `--conf` and `--jobs`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from cep.cli.errors import UserError, extra
from cep.cli.options import Command, with_options

if TYPE_CHECKING:
    from cep.backtest.pool import Helpers

NO_SPARK = "none"
AUTO = "auto"
CONF = click.option(
    "--conf", "settings", multiple=True, metavar="NAME=VALUE",
    help="A setting of Spark's own, such as spark.executor.memory=4g. Repeat it.",
)  # fmt: skip
_PLACE = (
    click.option(
        "--jobs", type=click.IntRange(min=1),
        help="How many processes of this machine work at it (default: 1).",
    ),
    click.option(
        "--master", default=NO_SPARK, show_default=True,
        help="Spark master, such as local[*], whose tasks work at it; none: processes, as --jobs "
        "says.",
    ),
    CONF,
)  # fmt: skip


def PLACE(command: Command) -> Command:  # noqa: N802 -- stands among options
    """Parameters `jobs`, `master` and `settings`, of which `place_of` makes a place."""
    return with_options(command, _PLACE)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run's tasks run."""

    jobs: int
    master: str
    settings: Mapping[str, str]

    @property
    def is_on_spark(self) -> bool:
        """Whether a master was named."""
        return is_on_spark(self.master)

    @contextmanager
    def helpers(self) -> Iterator[Helpers | None]:
        """Those who work at it, for the length of a block; None where this process does."""
        # Imported here: Numba and Arrow cost a second that `--help` need not wait.
        from cep.sweep.api import helpers_of

        if not self.is_on_spark:
            yield helpers_of(self.jobs)
            return
        with extra("spark", "or leave out --master"):
            from cep.spark.helpers import SparkHelpers
            from cep.spark.session import session
        with session(self.master, settings=self.settings) as spark:
            yield SparkHelpers(spark)


def place_of(given: dict[str, Any]) -> Place:
    """The place of PLACE's options, which are taken out of what was given. UserError."""
    jobs, master, settings = (given.pop(name) for name in ("jobs", "master", "settings"))
    need_place(master, {f"--jobs {jobs}": jobs}, {"--conf": settings})
    return Place(jobs or 1, master, given_settings(settings))


def is_on_spark(master: str) -> bool:
    """Whether it names one of Spark."""
    return master not in (AUTO, NO_SPARK)


def need_place(master: str, ours: Mapping[str, object], theirs: Mapping[str, object]) -> None:
    """UserError for options of Spark without it, and of processes with it, as far as given."""
    what = [name for name, value in ours.items() if value]
    if is_on_spark(master) and what:
        raise UserError(
            f"{what[0]}: Spark has tasks of its own", f"leave out {what[0]} or --master"
        )
    what = [name for name, value in theirs.items() if value]
    if what and not is_on_spark(master):
        raise UserError(f"{what[0]}: this run is not on Spark", "name its --master: local[*]")


def given_settings(settings: Sequence[str]) -> dict[str, str]:
    """Spark's settings by name; UserError for one that is none."""
    found = {}
    for text in settings:
        name, equals, value = text.partition("=")
        if not equals or not name.startswith("spark."):
            raise UserError(f"--conf {text}: no setting of Spark", "write --conf spark.NAME=VALUE")
        found[name.strip()] = value.strip()
    return found
