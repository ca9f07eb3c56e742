"""`mt5cep archive doctor`: what of an archive's ticks deserves a doubt."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from cep.archive import ArchiveError, Findings, Odd, examine
from cep.archive.doctor import WEEKS_MIN
from cep.cli.archives import existing
from cep.cli.errors import UserError
from cep.cli.paths import ARCHIVE
from cep.cli.progress import progress
from cep.cli.text import counted, say
from cep.report.tables import time_text
from mt5bridge.escapes import one_line
from mt5bridge.history.zones import HOUR_MS, MINUTE_MS
from mt5bridge.local import PUBLISH, local


@click.command("doctor")
@click.argument("archive", type=ARCHIVE)
@click.option("--symbols", metavar="A,B", help="Only these symbols.")
@click.option(
    "--gap-minutes", type=click.IntRange(min=1), default=60, show_default=True,
    help="Usual hours without a tick that are a gap.",
)  # fmt: skip
@click.option("--mark", is_flag=True, help="Write the marks into the archive.")
def command(archive: Path | str, symbols: str | None, gap_minutes: int, mark: bool) -> None:
    """Find outliers, crossed quotes, repeated ticks and gaps in an archive.

    Nothing is removed or corrected. With --mark the ticks are marked, and `mt5cep backtest
    --reject outlier,gap` leaves out those that you name.
    """
    if mark:
        local(archive, PUBLISH)
    found = existing(archive)
    wanted = None if symbols is None else {name.strip() for name in symbols.split(",")}
    known = {file.symbol for file in found.files()}
    if unknown := sorted((wanted or set()) - known):
        raise UserError(
            f"the archive has no ticks of {unknown[0]}", f"there are {', '.join(sorted(known))}"
        )
    if not known:
        raise ArchiveError(f"{found.address}: no ticks in it; import some")
    with progress("doctor", unit="files") as bar:
        examined = examine(
            found, wanted, gap_ms=gap_minutes * MINUTE_MS, mark=mark, on_file=bar.advance_to
        )
    for findings in examined.findings:
        say("\n".join(map(one_line, lines_of(findings))))
    if mark:
        say(f"{counted(examined.marked_files, 'file')} marked anew")


def lines_of(findings: Findings) -> Iterator[str]:
    """What was found about one symbol, for people."""
    told = list(_told(findings))
    yield f"{findings.symbol}: {counted(findings.ticks, 'tick')}, " + (
        "odd:" if told else "nothing odd"
    )
    yield from (f"  {line}" for line in told)
    if findings.weeks < WEEKS_MIN:
        yield "  note: gaps are not judged, which takes two weeks of history to know the sessions"


def _told(findings: Findings) -> Iterator[str]:
    counts = findings.counts
    if counts[Odd.OUTLIER]:
        places = ", ".join(
            f"{time_text(one.time_msc)} {one.bid:g}/{one.ask:g}" for one in findings.outliers
        )
        yield f"{counted(counts[Odd.OUTLIER], 'outlier')}: {places}{_more(findings)}"
    if longest := findings.longest_crossed:
        quotes = counted(findings.crossed, "crossed quote")
        stretches = counted(findings.crossed_runs, "run")
        longest_text = f"{counted(longest.ticks, 'tick')} from {time_text(longest.first_msc)}"
        yield f"{quotes} in {stretches}, the longest {longest_text}"
    if counts[Odd.REPEATED]:
        yield f"{counted(counts[Odd.REPEATED], 'tick')} with the time, prices and volume of another"
    if findings.gaps:
        longest_gap = max(findings.gaps, key=lambda gap: gap.last_msc - gap.first_msc)
        hours = (longest_gap.last_msc - longest_gap.first_msc) / HOUR_MS
        yield (
            f"{counted(len(findings.gaps), 'gap')} in usual hours, the longest {hours:.1f} h from "
            f"{time_text(longest_gap.first_msc)}"
        )
    for level in findings.levels:
        yield f"from {level.date} on, prices are {level.ratio:.4g} times those of the day before"


def _more(findings: Findings) -> str:
    rest = findings.counts[Odd.OUTLIER] - len(findings.outliers)
    return f" and {rest:,} more" if rest else ""
