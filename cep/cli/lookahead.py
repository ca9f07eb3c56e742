"""`mt5cep lookahead`: whether rules know anything before it happens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cep.cli.backtest_options import FILLS, RECORDS, options_of
from cep.cli.ending import ended_by_signals
from cep.cli.functions import FUNCTIONS
from cep.cli.parameters import PARAMETERS
from cep.cli.paths import PATH
from cep.cli.progress import advancing
from cep.cli.rules import RULES, read_rules
from cep.cli.summary import note
from cep.cli.text import counted, say
from cep.report.tables import time_text
from mt5bridge.escapes import one_line

if TYPE_CHECKING:
    from cep.backtest.cutting import Difference, Lookahead

FOUND = 1
"""Exit code where anything looks ahead."""
SHOWN_MAX = 5
KEPT = (
    "what has come by the cut gives the same each time, and another with what comes later: a "
    "function sees what is still to come, or remembers it from the run over all records"
)
LEAKS = (
    "the same records give other rows each time: a function remembers what earlier runs brought, "
    "or asks a clock or chance"
)
REMEDY = (
    "let functions see their arguments only, and keep what they remember in attributes of an "
    "@indicator"
)
READS = (
    "no cut takes back what a file holds: give it to rules as records, or, where it holds nothing "
    "of the days of the run, say --known FILE"
)


@click.command()
@click.argument("rules", type=RULES)
@FUNCTIONS
@PARAMETERS
@RECORDS
@click.option(
    "--cuts", type=click.IntRange(min=1), default=10, show_default=True,
    help="How many beginnings of the records to run beside all of them.",
)  # fmt: skip
@click.option(
    "--seed", type=click.IntRange(min=0), default=1, show_default=True,
    help="Another number cuts behind other records.",
)  # fmt: skip
@click.option(
    "--known", multiple=True, type=PATH, metavar="PATH",
    help="A file or folder that functions may read: it holds nothing of later. Repeat it.",
)  # fmt: skip
@FILLS
def command(
    rules: Path, folder: Path | str, cuts: int, seed: int, known: tuple[Path, ...],
    **given: Any,
) -> None:  # fmt: skip
    """Cut the future of RULES off behind random records, and see whether the past changes.

    Runs over all records of an archive, and over those up to each cut: every row, order and deal
    made before it must be the same. Files that functions read are named. The exit code is 1 when
    anything looks ahead."""
    # Imported here: Numba and Arrow cost a second that `--help` need not wait.
    from cep.backtest.cutting import Cuts, look

    text, options = read_rules(rules, given["parameters"]), options_of(given)
    with ended_by_signals():
        found = look(
            text, folder, options, Cuts(cuts, seed, known), advancing("lookahead", "records")
        )
    for told in found.told:
        note(told)
    say("\n".join(map(one_line, lines(found))))
    if found.looks_ahead:
        raise click.exceptions.Exit(FOUND)


def lines(found: Lookahead) -> Iterator[str]:
    """What was found, as text."""
    cuts = counted(len(found.cuts), "cut")
    made = ", ".join(
        counted(n, noun)
        for n, noun in ((found.rows, "row"), (found.orders, "order"), (found.deals, "deal"))
    )
    if not found.differences:
        yield f"{cuts}: nothing made before one changes with what comes later ({made})"
    else:
        yield f"looks ahead at {len(found.differences):,} of {cuts} ({made}): {_who(found)}"
        for one in found.differences[:SHOWN_MAX]:
            yield from _difference(one)
        if len(found.differences) > SHOWN_MAX:
            yield f"and {counted(len(found.differences) - SHOWN_MAX, 'cut')} more"
        yield f"help: {KEPT if found.repeats else LEAKS}; {REMEDY}"
    if found.reads:
        yield f"functions read {counted(len(found.reads), 'thing')} besides their arguments:"
        yield from (f"  {read.text}" for read in found.reads)
        yield f"help: {READS}"


def _who(found: Lookahead) -> str:
    """The streams whose rows, orders or deals are the first to differ, and how often."""
    counts = Counter(one.stream or one.what for one in found.differences)
    return ", ".join(f"{name} {n:,}" for name, n in counts.most_common())


def _difference(one: Difference) -> Iterator[str]:
    """A cut, and the first that differs before it."""
    cut = one.cut
    yield (
        f"cut behind the record of {time_text(cut.time_msc)} UTC "
        f"({f'{cut.symbol}, ' if cut.symbol else ''}ingest {cut.ingest})"
    )
    yield f"  first: {one.what} {one.number:,}, made by the record with ingest {one.ingest}"
    yield f"    with all records: {one.whole or 'nothing'}"
    yield f"    up to the cut:    {one.short or 'nothing'}"
