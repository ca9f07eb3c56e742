"""`mt5cep rows`: the rows that a daemon has written down, and those to come."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import click
import msgspec

from cep.cli.errors import UserError
from cep.cli.settings_file import NEEDED_CONFIG
from mt5bridge.escapes import visible_json

if TYPE_CHECKING:
    from cep.live.journal_reader import JournalReader

LOOK_S = 0.2


class _Stream(msgspec.Struct):
    stream: str = ""


@click.command()
@NEEDED_CONFIG
@click.option("--rules", "name", default="main", help="Of the rule file [rules.NAME].")
@click.option("--last", type=click.IntRange(min=0), help="Begin with so many, the newest.")
@click.option("--from", "position", type=click.IntRange(min=0), help="Begin at this position.")
@click.option("--follow", is_flag=True, help="Go on with those that come, until Ctrl-C.")
@click.option("--streams", help="Only rows of these streams, A,B; all if left out.")
@click.option(
    "--positions", is_flag=True,
    help='Print each row with its position: {"position": .., "row": {..}}.',
)  # fmt: skip
def command(
    config: Path,
    name: str,
    last: int | None,
    position: int | None,
    follow: bool,
    streams: str | None,
    positions: bool,
) -> None:
    """Print the rows that the daemon has written to its journal, and follow it.

    One JSON object a line. Its files are read in their order, and followed into the next one.
    """
    from cep.cli.rule_files import settings_of
    from cep.live.config import read_config
    from cep.live.journal_reader import JournalReader

    if last is not None and position is not None:
        raise UserError("--last and --from: which of both?", "leave one of them out")
    path = settings_of(read_config(config), name).state.journal
    if path is None:
        raise UserError(f"{config}: no journal is kept", "name one in [state] journal")
    reader = JournalReader(path, position or 0)
    if last is not None:
        reader.go_to_last(last)
    wanted = set(streams.split(",")) if streams else None
    for at, line in _lines(reader, follow):
        if wanted is None or msgspec.json.decode(line, type=_Stream).stream in wanted:
            shown = visible_json(line)
            click.echo(b'{"position":%d,"row":%s}' % (at, shown) if positions else shown)


def _lines(reader: JournalReader, follow: bool) -> Iterator[tuple[int, bytes]]:
    """What there is, then what comes, if it is to be followed."""
    pause, told_bytes = Event(), 0
    while True:
        lines = reader.read()
        if reader.missed_bytes > told_bytes:
            click.echo(
                f"{reader.missed_bytes - told_bytes:,} bytes are not there any more", err=True
            )
            told_bytes = reader.missed_bytes
        yield from lines
        if not lines:
            if not follow:
                return
            pause.wait(LOOK_S)
