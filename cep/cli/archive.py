"""`mt5cep archive`: fill, tidy up, prove, list and publish an archive."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from cep.archive import Archive, File, Ingested, compact, ingest_spool, verify
from cep.archive.replacing import KEEP_MS
from cep.cli.archive_doctor import command as doctor_command
from cep.cli.archive_import import command as import_command
from cep.cli.archive_publish import command as publish_command
from cep.cli.archive_specify import list_command, specify_command
from cep.cli.archives import existing
from cep.cli.errors import BAD_INPUT, UserError, extra
from cep.cli.groups import Commands
from cep.cli.numbers import HOURS
from cep.cli.paths import ARCHIVE, FOLDER, WRITTEN_ARCHIVE
from cep.cli.progress import progress
from cep.cli.text import aligned, counted, say
from mt5bridge.escapes import one_line
from mt5bridge.history.zones import HOUR_MS
from mt5bridge.spool import list_segments


@click.group(cls=Commands)
def command() -> None:
    """Fill, tidy up, prove, list and publish an archive of ticks and deals."""


command.add_command(import_command)
command.add_command(doctor_command)
command.add_command(publish_command)
command.add_command(specify_command)
command.add_command(list_command)


@command.command("ingest")
@click.argument("spool", type=FOLDER)
@click.argument("archive", type=WRITTEN_ARCHIVE)
@click.option("--include-open", is_flag=True, help="Also take the segment being written.")
@click.option("--spark", "master", help="Spark master that converts segments in parallel.")
def ingest_command(spool: Path, archive: Path, include_open: bool, master: str | None) -> None:
    """Move a daemon's spool into an archive.

    Every record arrives exactly once, however often this is run or killed.
    """
    if spool.is_dir() and not list_segments(spool):
        raise UserError(f"{spool}: no spool here, it has no segments", "check spool.folder")
    with progress("ingest", unit="segments") as bar:
        ingest = ingest_spool if master is None else partial(spark_ingest, master)
        done = ingest(spool, Archive(archive), include_open=include_open, on_segment=bar.advance_to)
    say(
        f"{counted(done.rows, 'row')} of {counted(done.segments, 'segment')}"
        f" in {counted(done.files, 'file')}"
    )
    if done.specifications:
        say(f"{counted(done.specifications, 'version')} of what terminals tell of symbols")
    if done.duplicates:
        say(f"{done.duplicates:,} records were archived before and left out")
    if done.damaged:
        say(f"{done.damaged:,} damaged places; `mt5cep archive verify` names them", err=True)


def spark_ingest(
    master: str,
    spool: Path,
    archive: Archive,
    *,
    include_open: bool,
    on_segment: Callable[[int, int], None],
) -> Ingested:
    """As `ingest_spool`, by Spark."""
    # Imported here: most archives are filled without Spark, which need not be installed.
    with extra("spark"):
        from cep.spark.ingest import ingest_spool as ingest
        from cep.spark.session import session
    with session(master) as spark:
        return ingest(spark, spool, archive, include_open=include_open, on_segment=on_segment)


@command.command("compact")
@click.argument("archive", type=WRITTEN_ARCHIVE)
@click.option(
    "--keep-hours",
    type=HOURS,
    default=KEEP_MS / HOUR_MS,
    show_default=True,
    help="So long replaced files stay for who reads them.",
)
def compact_command(archive: Path, keep_hours: float) -> None:
    """Make one file of all files of a day and symbol."""
    with progress("compact", unit="partitions") as bar:
        done = compact(
            existing(archive), keep_ms=round(HOUR_MS * keep_hours), on_partition=bar.advance_to
        )
    say(f"{counted(done.files_before, 'file')} before, {done.files_after:,} now")
    if done.kept:
        kept = counted(done.kept, "replaced file")
        say(f"{kept} kept for {keep_hours:g} hours, for those who read the archive meanwhile")


@command.command("verify")
@click.argument("archive", type=ARCHIVE)
@click.pass_context
def verify_command(ctx: click.Context, archive: Path | str) -> None:
    """Prove that every record is there once and in order.

    Checksums, counts, order and the sequence numbers of every source are checked. Intervals that a
    terminal declared lost are named; anything else that is missing is a failure (exit code 2).
    """
    with progress("verify", unit="files") as bar:
        found = verify(existing(archive), on_file=bar.advance_to)
    for lost in found.lost:
        place = " ".join((lost.source, *lost.stream))
        say(f"declared lost: {one_line(place)} {lost.first}-{lost.last}: {one_line(lost.reason)}")
    for problem in found.problems:
        say(f"error: {one_line(problem.where)}: {one_line(problem.what)}", err=True)
    verdict = "each record once, in order" if found.ok else counted(len(found.problems), "problem")
    sizes = [(found.rows, "row"), (found.files, "file"), (found.streams, "stream")]
    say(f"{', '.join(counted(*size) for size in sizes)}: {verdict}")
    if not found.ok:
        ctx.exit(BAD_INPUT)


@command.command("ls")
@click.argument("archive", type=ARCHIVE)
@click.option("--files", is_flag=True, help="List files instead of symbols.")
def ls_command(archive: Path | str, files: bool) -> None:
    """List what an archive holds, by stream and symbol."""
    content = existing(archive).manifest.files
    if files:
        rows = [["file", "mode", "rows", "bytes"], *map(file_row, content)]
    else:
        rows = [["stream", "symbol", "from", "to", "rows", "files"], *symbol_rows(content)]
    say("\n".join(aligned(rows)))


def file_row(file: File) -> list[str]:
    return [file.path, str(file.mode), f"{file.rows:,}", f"{file.bytes:,}"]


def symbol_rows(files: tuple[File, ...]) -> list[list[str]]:
    """One row per stream and symbol: first and last date, totals."""
    groups: dict[tuple[str, str], list[File]] = {}
    for file in files:
        groups.setdefault((file.stream, file.symbol), []).append(file)
    return [
        [
            *key,
            min(file.date for file in group),
            max(file.date for file in group),
            f"{sum(file.rows for file in group):,}",
            f"{len(group):,}",
        ]
        for key, group in sorted(groups.items())
    ]
