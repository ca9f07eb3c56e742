"""`mt5cep archive publish`: a copy of an archive in an object store."""

from __future__ import annotations

from pathlib import Path

import click

from cep.archive.publish import JOBS, publish
from cep.archive.remote import remote_at
from cep.cli.archives import existing
from cep.cli.errors import UserError
from cep.cli.paths import WRITTEN_ARCHIVE
from cep.cli.progress import progress
from cep.cli.text import counted, say
from mt5bridge.local import is_address

MB = 1_000_000


@click.command("publish")
@click.argument("archive", type=WRITTEN_ARCHIVE)
@click.argument("address")
@click.option(
    "--jobs", type=click.IntRange(1, 256), default=JOBS, show_default=True,
    help="How many files are copied at a time.",
)  # fmt: skip
def command(archive: Path, address: str, jobs: int) -> None:
    """Copy an archive to an object store, where backtests read it.

    ADDRESS is such as s3://bucket/ticks. What is there already is not copied again. Readers find
    the archive as it was until all is there; a run that was killed can be repeated.
    """
    if not is_address(address):
        raise UserError(f"{address} is no address", "write it such as s3://bucket/ticks")
    target = remote_at(address)
    with progress("publish", unit="bytes") as bar:
        done = publish(existing(archive), target, jobs=jobs, on_bytes=bar.advance_to)
    say(
        f"{counted(done.copied, 'file')} of {done.bytes / MB:,.1f} MB copied, "
        f"{done.there:,} there already"
    )
    if done.removed:
        say(f"{counted(done.removed, 'file')} removed that no reader needs any more")
