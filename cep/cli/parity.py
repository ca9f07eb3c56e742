"""`mt5cep parity`: a day that a daemon has lived, on paper or with terminals, run again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click
import msgspec

from cep.cli.account import ACCOUNT
from cep.cli.errors import UserError
from cep.cli.functions import MORE_FUNCTIONS
from cep.cli.parameters import PARAMETERS
from cep.cli.paths import FOLDER
from cep.cli.points import given_points
from cep.cli.progress import progress
from cep.cli.settings_file import NEEDED_CONFIG
from cep.cli.summary import note
from cep.cli.text import counted, say
from mt5bridge.escapes import one_line

if TYPE_CHECKING:
    from cep.archive import Archive
    from cep.live.config import Config
    from cep.parity.differences import Difference
    from cep.parity.terminal import Here


@dataclass(frozen=True, slots=True)
class Wishes:
    """Which rule file, how many differences to list, what is said of the account at which orders
    are dealt once more; that of a day on paper is the daemon's.
    """

    name: str
    most: int
    given: Mapping[str, Any]
    points: Mapping[str, float]

    @property
    def is_plain(self) -> bool:
        """Whether nothing is said of the account."""
        return not (any(self.given.values()) or self.points)


@click.command()
@click.argument("spool", type=FOLDER, required=False)
@NEEDED_CONFIG
@MORE_FUNCTIONS
@PARAMETERS
@click.option(
    "--rules", "name", default="main", show_default=True, metavar="NAME",
    help="Compare what the rule file of [rules.NAME] has made.",
)  # fmt: skip
@click.option(
    "--most", type=click.IntRange(min=0), default=20, show_default=True,
    help="How many differences to list, and how many fills.",
)  # fmt: skip
@click.option(
    "--point", multiple=True, metavar="SYMBOL=SIZE",
    help="Size of a point, where nobody else has told it. Repeat it.",
)  # fmt: skip
@ACCOUNT
def command(
    spool: Path | None,
    config: Path,
    functions: tuple[Path, ...],
    parameters: dict[str, str],
    name: str,
    most: int,
    point: tuple[str, ...],
    **given: Any,
) -> None:
    """Run a day that a daemon has lived again, and list every difference.

    The records of SPOOL (default: that of the settings) go through the same rules; rows and orders
    are compared with those that the daemon has written, byte for byte. Of a day on paper the
    account's deals are, too; what terminals have dealt is told beside what the broker here deals.
    Exit code 1 when rows, orders or deals on paper differ.
    """
    # Imported here: Numba and Arrow cost a second that `--help` need not wait.
    from cep.functions import load_functions
    from cep.live.config import MAIN, read_config, with_more

    settings = read_config(config)
    if name != MAIN and name not in settings.rule_files:
        known = ", ".join([MAIN, *settings.rule_files])
        raise UserError(f"--rules {name}: no such rule file", f"there are {known}")
    settings = with_more(settings, functions, parameters if name == MAIN else {})
    if name != MAIN:
        settings = _with_values(settings, name, parameters)
    load_functions(settings.rules.functions)
    folder = settings.spool.folder if spool is None else spool
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder", "name the spool, or leave it to the settings")
    store = msgspec.structs.replace(settings.spool, folder=folder)
    wishes = Wishes(name, most, given, given_points(point))
    if _compare(msgspec.structs.replace(settings, spool=store), wishes):
        raise click.exceptions.Exit(1)


def _with_values(settings: Config, name: str, parameters: Mapping[str, str]) -> Config:
    """The settings with other values for parameters of a rule file `[rules.NAME]`."""
    one = settings.rule_files[name]
    one = msgspec.structs.replace(one, parameters={**one.parameters, **parameters})
    return msgspec.structs.replace(settings, rule_files={**settings.rule_files, name: one})


def _here(settings: Config, archive: Archive, wishes: Wishes) -> Here:
    """Where orders that terminals have dealt are dealt once more: at an account as these told it, a
    file's keys over that.
    """
    from cep.account.known import known
    from cep.account.market import market_at
    from cep.archive.specifications import told_in
    from cep.backtest.points import told_points
    from cep.parity.terminal import Here
    from mt5bridge.broker import Terms

    versions, problem = told_in(settings.spool.folder)
    if problem is not None:
        raise problem
    given, files = wishes.given, archive.files()
    interval_msc = (
        min((file.first_msc for file in files), default=0),
        max((file.last_msc for file in files), default=0),
    )
    told = known(given["account_file"], versions, interval_msc, wishes.points)
    market = market_at(
        told, Terms(given["hedging"]), given["latency_ms"] or 0, given["slippage_points"] or 0.0
    )
    return Here(market, told_points(told, wishes.points))


def _compare(settings: Config, wishes: Wishes) -> bool:
    """Run the day again and say how it differs; whether it does."""
    from cep.live.paper import path_of
    from cep.parity.paper import spool_name

    is_paper = path_of(settings.state.folder, spool_name(settings.spool.folder)).exists()
    if is_paper and not wishes.is_plain:
        raise UserError(
            "the account of a day on paper is the daemon's", "leave its options out, and --point"
        )
    if is_paper and not settings.rule_files:
        return _compare_paper(settings, wishes)
    return _compare_traded(settings, wishes, is_paper=is_paper)


def _compare_paper(settings: Config, wishes: Wishes) -> bool:
    from cep.live.config import for_paper
    from cep.parity.paper import compared, entries_of

    settings = for_paper(settings)
    entries_of(settings)  # whether there is anything to compare, before it takes time
    with _archived(settings) as (archive, advance):
        found = compared(settings, archive, advance)
    say(found.summary)
    _list(found.differences, wishes.most, found.notes)
    return bool(found.differences)


def _compare_traded(settings: Config, wishes: Wishes, *, is_paper: bool) -> bool:
    from cep.live.config import for_paper
    from cep.parity.paper import entries_of, market_of_log
    from cep.parity.terminal import Here, traded

    here = None
    if is_paper:
        settings = for_paper(settings)
        market = market_of_log(settings, entries_of(settings))
        here = Here(market, {name: one.point for name, one in market.symbols.items()})
    with _archived(settings) as (archive, advance):
        here = here or _here(settings, archive, wishes)
        found = traded(settings, archive, here, wishes.name, advance)
    say("\n".join(found.summary))
    _list(found.differences, wishes.most, found.notes)
    others = [pair for pair in found.pairs if pair.differs]
    for pair in others[: wishes.most]:
        say(one_line(pair.text))
    if len(others) > wishes.most:
        say(f"and {len(others) - wishes.most:,} more fills; --most lists them")
    return bool(found.differences)


def _list(differences: Sequence[Difference], most: int, notes: Sequence[str]) -> None:
    for one in differences[:most]:
        say(one_line(one.text))
    if len(differences) > most:
        say(f"and {len(differences) - most:,} more; --most lists them")
    for told in notes:
        note(told)


@contextmanager
def _archived(settings: Config) -> Iterator[tuple[Archive, Callable[[int], None]]]:
    """The records, and what is told how many are done; the spool itself stays as it is."""
    from cep.parity.records import archived

    with TemporaryDirectory(prefix="mt5cep-parity-") as folder:
        archive = archived(settings.spool.folder, Path(folder))
        rows = sum(file.rows for file in archive.manifest.files)
        say(f"{counted(rows, 'record')} of {settings.spool.folder}")
        with progress("parity", rows) as bar:
            yield archive, bar.advance
