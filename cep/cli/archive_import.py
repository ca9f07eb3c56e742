"""`mt5cep archive import`: history from files or from a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import click

from cep.archive import Archive, Imported, Overlap, import_history
from cep.cli.errors import UserError
from cep.cli.moments import SERVER_MOMENT
from cep.cli.paths import PATH, WRITTEN_ARCHIVE
from cep.cli.points import given_points
from cep.cli.progress import progress
from cep.cli.text import counted, say
from cep.live.config import read_config
from cep.report.tables import time_text
from mt5bridge.aliases import NO_ALIASES, AliasError, Aliases, alias_table
from mt5bridge.escapes import one_line
from mt5bridge.history import (
    Broken,
    ServerTime,
    TickBlock,
    copy_ticks,
    files_in,
    read_ticks,
    terminal,
)


@click.command("import")
@click.argument("archive", type=WRITTEN_ARCHIVE)
@click.argument("files", nargs=-1, type=PATH)
@click.option("--symbol", help="The symbol, where neither a column nor the file's name tells it.")
@click.option("--server-time", help="Clock of zoneless times: UTC, +02:00, Europe/Athens, ny+7.")
@click.option(
    "--point",
    "points",
    multiple=True,
    help="SYMBOL=SIZE of a point, where a file counts in points (.bi5); repeat it.",
)
@click.option(
    "--decimal-comma", is_flag=True, help="Commas in numbers are decimal, also before 3 digits."
)
@click.option(
    "--source", default="history", show_default=True, help="Name that the rows are stored under."
)
@click.option("--skip-broken", is_flag=True, help="Leave broken lines out instead of stopping.")
@click.option(
    "--overlap",
    type=click.Choice(get_args(Overlap)),
    default="refuse",
    show_default=True,
    help="Times that are there already: refuse, take what is new, or keep all.",
)
@click.option("--from-terminal", is_flag=True, help="Ask the running terminal (Windows).")
@click.option(
    "--config",
    "settings",
    type=PATH,
    help="Settings of a daemon: store symbols under the names that its [aliases] give them.",
)
@click.option("--from", "start", type=SERVER_MOMENT, help="First server time to ask for.")
@click.option("--to", "end", type=SERVER_MOMENT, help="Server time to ask up to.")
def command(
    archive: Path,
    files: tuple[Path, ...],
    symbol: str | None,
    server_time: str | None,
    points: tuple[str, ...],
    decimal_comma: bool,
    source: str,
    skip_broken: bool,
    overlap: Overlap,
    from_terminal: bool,
    settings: Path | None,
    start: datetime | None,
    end: datetime | None,
) -> None:
    """Import ticks from files, also of data vendors, or from a terminal.

    The files of a symbol are given in order of time; a folder stands for all files in it, in order
    of their names. Either everything is imported or nothing.
    """
    server = ServerTime.parse(server_time) if server_time else None
    broken = Broken("skip" if skip_broken else "stop")
    aliases = alias_table(read_config(settings).aliases).of(source) if settings else NO_ALIASES
    empty: list[Path] = []
    if from_terminal:
        blocks = aliased(terminal_blocks(symbol, start, end, server), aliases)
    elif files:
        given: dict[str, Any] = {"symbol": symbol, "server": server, "broken": broken}
        given |= {"points": given_points(points), "decimal_comma": decimal_comma}
        blocks = file_blocks(all_files(files), overlap, empty, aliases, **given)
    else:
        raise UserError("nothing to import", "name files, or give --from-terminal")
    done = run_import(Archive(archive), blocks, source, overlap)
    rows = done.rows + done.left_out
    for example in broken.examples:
        say(f"left out: {one_line(str(example))}", err=True)
    if broken.count:
        say(f"{counted(broken.count, 'broken line')} left out", err=True)
        if not rows:
            raise UserError("no line could be read", "correct what is named above")
    tell_empty(empty, rows)


def all_files(paths: Iterable[Path]) -> list[Path]:
    """Files of ticks, also those in folders, whose other files are told of."""
    ticks: list[Path] = []
    for path in paths:
        found, others = files_in(path)
        ticks += found
        if others:
            what = counted(len(others), "file")
            say(f"note: left out in {path}: {what} of no known format ({others[0]})", err=True)
    return ticks


def tell_empty(empty: Sequence[Path], rows: int) -> None:
    """Name the files that hold no tick; UserError when there was none to import at all."""
    names = ", ".join(map(str, empty))
    if rows and empty:
        say(f"note: no tick in {names}", err=True)
    elif empty:
        raise UserError(f"{names}: nothing to import, no tick in it", "export the ticks again")
    elif not rows:
        raise UserError(
            "nothing to import: the terminal has no ticks of that time",
            "check --from and --to, which are server time",
        )


def run_import(
    archive: Archive, blocks: Iterable[TickBlock], source: str, overlap: Overlap
) -> Imported:
    """Import and say what came of it."""
    with progress("import", unit="ticks") as bar:
        done = import_history(archive, blocks, source, overlap=overlap, on_rows=bar.advance)
    if done.rows:
        in_files = f"in {counted(done.files, 'file')}"
        say(f"{counted(done.rows, 'tick')} of {', '.join(map(one_line, done.symbols))} {in_files}")
    if done.marks:
        marks = ", ".join(f"{count:,} {mark}" for mark, count in sorted(done.marks.items()))
        say(
            f"note: odd quotes: {marks}; rules do not see those that are nan, zero or negative",
            err=True,
        )
    if done.left_out:
        say(
            f"note: {counted(done.left_out, 'tick')} with the same time, prices and volume were "
            f"there before, and left out{'' if done.rows else '; nothing is new'}", err=True,
        )  # fmt: skip
    if done.unsorted:
        say(
            f"note: {counted(done.unsorted, 'tick')} behind later ones in the file; the archive "
            "has all in the order of time", err=True,
        )  # fmt: skip
    if done.far_first is not None:
        tell_far(done.far, *done.far_first)
    if done.repeated:
        say(
            f"note: {counted(done.repeated, 'tick')} with the same time, prices and volume were "
            "archived before, and are there again now", err=True,
        )  # fmt: skip
    if done.doubled:
        say(
            f"note: {counted(done.doubled, 'tick')} with the time, prices and volume of another in "
            "this import; all are archived", err=True,
        )  # fmt: skip
    return done


def tell_far(count: int, symbol: str, time_msc: int, price: float) -> None:
    """Say that prices are of another unit, or slips."""
    say(
        f"note: {counted(count, 'price')} three times that of the day or the day before, or a third"
        f" (first: {symbol} {price:g} at {time_text(time_msc)} UTC): another unit, or a slip? "
        "`mt5cep archive doctor --mark` marks outliers, `backtest --reject outlier` minds them",
        err=True,
    )


def file_blocks(
    files: Iterable[Path],
    overlap: Overlap,
    empty: list[Path],
    aliases: Aliases = NO_ALIASES,
    **options: Any,
) -> Iterator[TickBlock]:
    """Ticks of the files in turn; those without any are added to `empty`.

    UserError when two have a symbol's ticks of the same time, which `overlap` refuses.
    """
    known: dict[str, list[tuple[int, int, Path]]] = {}
    for export, file in enumerate(files):
        own: dict[str, tuple[int, int]] = {}
        for block in aliased(read_ticks(file, **options), aliases):
            first, last = int(block.utc_msc.min()), int(block.utc_msc.max())
            for low, high, other in known.get(block.symbol, ()) if overlap == "refuse" else ():
                # Files may be cut within a millisecond, which then is in both.
                if (first < high and low < last) or (first, last) == (low, high):
                    raise UserError(
                        f"{file}: has ticks of {block.symbol} from a time that {other} has too, "
                        f"{time_text(max(first, low))} UTC on",
                        "give each time in one file only, or --overlap new to take each tick once",
                    )
            low, high = own.get(block.symbol, (first, last))
            own[block.symbol] = min(low, first), max(high, last)
            yield block if overlap == "refuse" else replace(block, export=export)
        if not own:
            empty.append(file)
        for symbol, span in own.items():
            known.setdefault(symbol, []).append((*span, file))


def aliased(blocks: Iterable[TickBlock], aliases: Aliases) -> Iterator[TickBlock]:
    """Ticks under the names that rules have for their symbols. UserError for one that is none."""
    for block in blocks:
        try:
            name = aliases.symbol_of(block.symbol)
        except AliasError as problem:
            raise UserError(str(problem), "correct [aliases] in the settings") from None
        yield block if name == block.symbol else replace(block, symbol=name)


def terminal_blocks(
    symbol: str | None, start: datetime | None, end: datetime | None, server: ServerTime | None
) -> Iterator[TickBlock]:
    if not (symbol and start and end and server):
        raise UserError(
            "the terminal must be told what to give",
            "add --symbol, --from, --to and --server-time (the broker's clock)",
        )
    if not wall_msc(start) < wall_msc(end):
        raise UserError("the range of time ends before it begins", "let --from be before --to")
    with terminal() as found:
        yield from copy_ticks(found, symbol, wall_msc(start), wall_msc(end), server)


def wall_msc(moment: datetime) -> int:
    """Server time as a number of ms, the way MetaTrader counts it."""
    return round(moment.replace(tzinfo=UTC).timestamp() * 1000)
