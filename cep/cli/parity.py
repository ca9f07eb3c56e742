"""`mt5cep parity`: a day that a daemon has lived on paper, run again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cep.cli.errors import UserError
from cep.cli.functions import MORE_FUNCTIONS
from cep.cli.parameters import PARAMETERS
from cep.cli.paths import FOLDER
from cep.cli.progress import progress
from cep.cli.settings_file import NEEDED_CONFIG
from cep.cli.text import counted, say
from mt5bridge.escapes import one_line

if TYPE_CHECKING:
    from cep.live.config import Config
    from cep.parity.paper import Compared


@click.command()
@click.argument("spool", type=FOLDER, required=False)
@NEEDED_CONFIG
@MORE_FUNCTIONS
@PARAMETERS
@click.option(
    "--most", type=click.IntRange(min=0), default=20, show_default=True,
    help="How many differences to list.",
)  # fmt: skip
def command(
    spool: Path | None,
    config: Path,
    functions: tuple[Path, ...],
    parameters: dict[str, str],
    most: int,
) -> None:
    """Run a day of `daemon --paper` again, and list every difference.

    The records of SPOOL (default: that of the settings) go through the same rules and an account
    like the daemon's; rows, orders and deals are compared with those that it has written, byte for
    byte. Exit code 1 when any differ.
    """
    # Imported here: Numba and Arrow cost a second that `--help` need not wait.
    from cep.functions import load_functions
    from cep.live.config import for_paper, read_config, with_more

    settings = for_paper(with_more(read_config(config), functions, parameters))
    load_functions(settings.rules.functions)
    found = _compared(settings, settings.spool.folder if spool is None else spool)
    say(found.summary)
    for one in found.differences[:most]:
        say(one_line(one.text))
    if len(found.differences) > most:
        say(f"and {len(found.differences) - most:,} more; --most lists them")
    for note in found.notes:
        say(f"note: {note}", err=True)
    if found.differences:
        raise click.exceptions.Exit(1)


def _compared(settings: Config, spool: Path) -> Compared:
    """Both days; the spool itself stays as it is."""
    from tempfile import TemporaryDirectory

    import msgspec

    from cep.parity.paper import compared, entries_of
    from cep.parity.records import archived

    if not spool.is_dir():
        raise UserError(f"{spool}: no such folder", "name the spool, or leave it to the settings")
    store = msgspec.structs.replace(settings.spool, folder=spool)
    settings = msgspec.structs.replace(settings, spool=store)
    entries_of(settings)  # whether there is anything to compare, before it takes time
    with TemporaryDirectory(prefix="mt5cep-parity-") as folder:
        archive = archived(spool, Path(folder))
        rows = sum(file.rows for file in archive.manifest.files)
        say(f"{counted(rows, 'record')} of {spool}")
        with progress("parity", rows) as bar:
            return compared(settings, archive, bar.advance)
