"""`mt5cep archive specify` and `specifications`: what an archive knows of symbols and accounts."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from pathlib import Path
from typing import Any

import click
import numpy as np

from cep.account.account_file import OTHERS
from cep.account.specifications import Version, in_order, versions_in
from cep.archive import Archive, specify
from cep.archive.schema import TICKS
from cep.cli.archives import existing
from cep.cli.errors import UserError
from cep.cli.moments import MOMENT, utc_msc
from cep.cli.paths import ARCHIVE, FILE, WRITTEN_ARCHIVE
from cep.cli.points import given_points
from cep.cli.summary import note
from cep.cli.text import aligned, say
from cep.report.tables import time_text


@click.command("specify")
@click.argument("archive", type=WRITTEN_ARCHIVE)
@click.argument("file", type=FILE, required=False)
@click.option(
    "--point", "points", multiple=True, metavar="SYMBOL=SIZE", help="The size of a point."
)
@click.option(
    "--from-prices",
    is_flag=True,
    help="The sizes of points that prices show, of symbols of which none is told.",
)
@click.option("--since", type=MOMENT, help="From when on it holds (UTC); left out, always.")
def specify_command(
    archive: Path,
    file: Path | None,
    points: tuple[str, ...],
    from_prices: bool,
    since: datetime | None,
) -> None:
    """Tell an archive what a broker says of its symbols and of the account.

    FILE is an account's file as for `backtest --account`. Backtests on the archive then know it.
    """
    since_msc = max(0, utc_msc(since) or 0)
    stored = existing(archive)
    sizes = given_points(points)
    told = [] if file is None else versions_in(file, since_msc)
    if not (sizes or told or from_prices):
        raise UserError(
            "nothing is told",
            "name an account's file, or --point SYMBOL=SIZE such as EURUSD=0.00001",
        )
    if from_prices:
        sizes = _shown_by_prices(stored, {*sizes, *(one.symbol for one in told)}) | sizes
    told += [
        Version(symbol=name, since_msc=since_msc, told={"point": size})
        for name, size in sizes.items()
    ]
    _tell_unknown(stored, {one.symbol for one in told} - {"", OTHERS})
    new = specify(stored, told)
    say("\n".join(aligned([*map(_row, new)])) if new else "nothing new: all of it is known")


def _tell_unknown(archive: Archive, symbols: Collection[str]) -> None:
    """Say which symbols the archive has no tick of: nothing that is told of them counts yet."""
    from cep.backtest.selection import similar_symbol

    known = sorted({file.symbol for file in archive.files(TICKS)})
    for name in sorted(symbols):
        if name not in known:
            note(f"the archive has no tick of {name} yet; {similar_symbol(name, known)}")


def _shown_by_prices(archive: Archive, others: Collection[str]) -> dict[str, float]:
    """The sizes of points by symbol; says of which they are not shown."""
    from cep.backtest.suggested import untold_points

    found: dict[str, float] = {}
    for name, seen in untold_points(archive, others).items():
        if seen.problem is None:
            found[name] = seen.point.size
        else:
            say(f"not told: {name}: {seen.problem}; tell it with --point {name}=SIZE", err=True)
    return found


@click.command("specifications")
@click.argument("archive", type=ARCHIVE)
def list_command(archive: Path | str) -> None:
    """List what an archive knows of symbols and accounts, and who told it.

    Of a key that several lines tell for a time, the lowest one counts.
    """
    found = sorted(in_order(existing(archive).manifest.specifications), key=lambda one: one.symbol)
    rows = [["symbol", "since", "from", "told"], *map(_row, found)]
    say("\n".join(aligned(rows)) if found else "none; tell some with `mt5cep archive specify`")


def _row(one: Version) -> list[str]:
    since = time_text(one.since_msc) if one.since_msc else "always"
    told = ", ".join(f"{key} {_shown(value)}" for key, value in one.told.items())
    return [one.symbol or "(account)", since, one.source or "a file", told]


def _shown(value: Any) -> str:
    """As people write it."""
    if value is None:
        return "no more"
    if isinstance(value, float):
        return np.format_float_positional(value, trim="-")
    if isinstance(value, list):
        return "/".join(map(_shown, value)) or "none"
    return str(value).lower() if isinstance(value, bool) else str(value)
