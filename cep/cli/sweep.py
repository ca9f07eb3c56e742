"""`mt5cep sweep`: rules over an archive with many values of their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cep.cli.backtest_options import FILLS, RECORDS, options_of
from cep.cli.ending import ended_by_signals
from cep.cli.functions import FUNCTIONS
from cep.cli.masters import Place, place_of
from cep.cli.output import need_apart, output
from cep.cli.parameters import given_values, parameter_errors
from cep.cli.paths import FILE
from cep.cli.progress import progress
from cep.cli.rules import RULES, read_rules
from cep.cli.summary import note
from cep.cli.sweep_options import TRIALS, wish_of
from cep.cli.text import counted, right_aligned, say

if TYPE_CHECKING:
    from cep.backtest.pool import Helpers
    from cep.sweep.found import Found
    from cep.sweep.search import Search
    from cep.sweep.sweep import Bench
    from cep.sweep.tried import Tried

SHOWN = ("net", "trades", "win_rate", "profit_factor", "sharpe", "drawdown")
INTERRUPTED = 130


@click.command()
@click.argument("rules", type=RULES)
@FUNCTIONS
@RECORDS
@TRIALS
@click.option(
    "--top", type=click.IntRange(min=0), default=10, show_default=True,
    help="How many of the best to print.",
)  # fmt: skip
@click.option("--out", type=FILE, help="Write all rows here: .csv, .parquet or .json.")
@click.option("--report", type=FILE, help="Write an HTML page with maps of two parameters each.")
@FILLS
def command(
    rules: Path,
    folder: Path | str,
    tried: tuple[str, ...],
    by: str,
    top: int,
    out: Path | None,
    report: Path | None,
    **given: Any,
) -> None:
    """Run RULES over an archive with many values of their parameters, and list the best.

    Records are read once for many variants, and nothing is compiled again for other values. Each
    row is what `backtest --param` says of these values alone. Ctrl-C keeps what was done.
    """
    # Imported here: Numba and Arrow cost a second that `--help` need not wait.
    from cep.sweep.files import content, need_format
    from cep.sweep.page import page
    from cep.sweep.sweep import Bench, Job
    from cep.sweep.tried import columns_of

    need_apart({"--out": out, "--report": report})
    if out is not None:
        need_format(out)
    wish, place = wish_of(by, given), place_of(given)
    with parameter_errors():
        bench = Bench(Job(read_rules(rules), str(folder), options_of(given)))
        search = wish.search(bench, given_values(tried))
    tell_place(place, bench)
    with ended_by_signals(), place.helpers() as helpers:
        found = _swept(bench, search, helpers)
    say("\n".join(lines(found, by, top, bench)))
    if out is not None:
        with output(out) as sink:
            columns = columns_of(search.names)
            sink.write(content([one.row() for one in found.rows], out, columns))
    if report is not None and found.run:
        with output(report) as sink:
            sink.write(page(found, by, bench.asked, bench.known).encode())
    if len(found.rows) < found.wanted:
        raise click.exceptions.Exit(INTERRUPTED)


def tell_place(place: Place, bench: Bench) -> None:
    """Say how the work is shared, if it is."""
    from cep.sweep.apart import how_cut, is_worth_cutting

    if place.is_on_spark:
        symbols = counted(len(bench.asked.selection.symbols), "symbol")
        note(
            f"on Spark {place.master}, variants apart, some in each task, rules and fills: an "
            f"account of {symbols} is one task"
        )
    if (place.is_on_spark or place.jobs > 1) and is_worth_cutting(bench):
        note(f"rules, where few are tried: {how_cut(bench)}")


def _swept(bench: Bench, search: Search, helpers: Helpers | None) -> Found:
    """All rows, or those that were there when it was told to end."""
    from cep.sweep.found import Found

    rows: list[Tried] = []
    wanted = count = search.count
    with progress("sweep", bench.asked.selection.rows * count, unit="tick-variants") as bar:
        try:
            with ended_by_signals():
                for block in search.rows(bench, helpers, bar.advance):
                    rows += block
            wanted = len(rows)  # a search may have found no more
        except (KeyboardInterrupt, SystemExit):
            note(f"ended early: {len(rows):,} of {count:,} variants are done")
    return Found(sorted(rows, key=lambda one: one.number), wanted)


def lines(found: Found, by: str, top: int, bench: Bench) -> list[str]:
    """The best as text, and what is to be thought of them."""
    shown = {one.name: one.shown for one in bench.known}
    digits = bench.asked.market.terms.money_digits
    run, best = found.run, found.best(by, top)
    told = [f"{counted(len(run), 'variant')} of {found.wanted:,}, best by {by}:"]
    if best:
        names = list(best[0].values)
        rows = [
            [
                *(shown[name](value) for name, value in one.values.items()),
                *cells(one.measures, digits),
            ]
            for one in best
        ]
        told += right_aligned([[*names, *SHOWN], *rows])
    wrong = [one for one in found.rows if one.error]
    if wrong:
        which = counted(len(wrong), "variant")
        told.append(f"{which} could not be run, the first: {wrong[0].error}")
    return [*told, *warning(found, by)]


def warning(found: Found, by: str) -> list[str]:
    """That the best of many is better than it will be."""
    if len(found.run) < 2:
        return []
    luck = found.luck(by)
    told = (
        f"the best of {len(found.run):,} tries is biased: some of it is luck, which later days "
        "will not repeat"
    )
    if luck is None:
        return [told, "deflated Sharpe ratio: too few trades to tell"]
    return [
        told,
        f"deflated Sharpe ratio of the best: {luck:.3f}, the probability that it has more than the "
        "luck of so many tries (0.95 is the usual bar)",
    ]


def cells(measures: Mapping[str, Any], digits: int | None) -> list[str]:
    """The measures that tables show; money has so many digits."""
    from cep.sweep.tried import measure_text

    return [measure_text(name, measures[name], digits) for name in SHOWN]
