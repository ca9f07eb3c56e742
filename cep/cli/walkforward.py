"""`mt5cep walkforward`: choose on one stretch, trade on the next, and again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cep.cli.backtest_options import FILLS, RECORDS, options_of
from cep.cli.ending import ended_by_signals
from cep.cli.functions import FUNCTIONS
from cep.cli.masters import place_of
from cep.cli.output import output
from cep.cli.parameters import given_values, parameter_errors
from cep.cli.paths import FILE
from cep.cli.progress import progress
from cep.cli.rules import RULES, read_rules
from cep.cli.summary import note
from cep.cli.sweep import INTERRUPTED, SHOWN, cells
from cep.cli.sweep_options import LENGTH, TRIALS, wish_of
from cep.cli.text import counted, right_aligned, say
from cep.report.tables import time_text

if TYPE_CHECKING:
    from cep.backtest.pool import Helpers
    from cep.sweep.sweep import Bench
    from cep.sweep.walk import Walk, Walked, Window


@click.command()
@click.argument("rules", type=RULES)
@FUNCTIONS
@RECORDS
@click.option("--train", "train_ms", type=LENGTH, required=True, help="Choose on so long: 30d.")
@click.option("--test", "test_ms", type=LENGTH, required=True, help="Then trade so long: 10d.")
@TRIALS
@click.option("--out", type=FILE, help="Write a row for each window here: .csv, .parquet or .json.")
@FILLS
def command(
    rules: Path, folder: Path | str, train_ms: int, test_ms: int, tried: tuple[str, ...], by: str,
    out: Path | None, **given: Any,
) -> None:  # fmt: skip
    """Choose the best values of RULES on a stretch, trade them on the next, and so on.

    What the stretches of trading come to together is what choosing so would have brought.
    """
    # Imported here: Numba and Arrow cost a second that `--help` need not wait.
    from cep.sweep.files import content, need_format
    from cep.sweep.sweep import Bench, Job
    from cep.sweep.walk import Walk, windows

    if out is not None:
        need_format(out)
    wish, place = wish_of(by, given), place_of(given)
    with parameter_errors():
        bench = Bench(Job(read_rules(rules), str(folder), options_of(given)))
        search = wish.search(bench, given_values(tried))
    some = windows(*bench.asked.selection.interval_msc, train_ms, test_ms)
    if place.is_on_spark:
        note(f"on Spark {place.master}, {counted(len(some), 'window')}, each a task")
    with ended_by_signals(), place.helpers() as helpers:
        found = _walked(Walk(bench, search, by), some, helpers)
    say("\n".join(lines(found, by, bench)))
    if out is not None:
        with output(out) as sink:
            sink.write(content([one.row() for one in found], out))
    if len(found) < len(some):
        raise click.exceptions.Exit(INTERRUPTED)


def _walked(walk: Walk, some: Sequence[Window], helpers: Helpers | None) -> list[Walked]:
    """All windows, or those that were done when it was told to end."""
    from cep.sweep.walk import walked

    found: list[Walked] = []
    with progress("walk forward", walk.search.count * len(some), unit="variants") as bar:
        try:
            with ended_by_signals():
                found.extend(walked(walk, some, helpers, bar.advance))
        except (KeyboardInterrupt, SystemExit):
            note(f"ended early: {len(found):,} of {len(some):,} windows are done")
    return found


def lines(found: Sequence[Walked], by: str, bench: Bench) -> list[str]:
    """A line for each window, and what all tests come to."""
    from cep.sweep.tried import measure_text
    from cep.sweep.walk import total

    if not found:
        return []
    names = list(next((one.values for one in found if one.values), {}))
    head = ["traded from", *names, f"trained {by}", *SHOWN]
    shown = {one.name: one.shown for one in bench.known}
    digits = bench.asked.market.terms.money_digits
    rows = [
        [
            time_text(one.window.test_msc)[:16],
            *(shown[name](one.values[name]) if one.values else "-" for name in names),
            measure_text(by, one.trained, digits),
            *cells(one.row(), digits),
        ]
        for one in found
    ]
    together = total(found)
    sums = {name: getattr(together, name) for name in SHOWN}
    last = ["together", *[""] * len(names), "", *cells(sums, digits)]
    return [
        *right_aligned([head, *rows, last]),
        f"{counted(len(found), 'window')}; each began with flat positions, rules had seen the "
        "training before it",
    ]
