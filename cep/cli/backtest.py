"""`mt5cep backtest`: rules over an archive on Spark, fills for their signals, and a report."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cep.cli.archive import existing
from cep.cli.errors import UserError
from cep.cli.progress import progress
from cep.cli.replay import output, wanted
from cep.cli.rules import RULES, read_rules
from cep.cli.text import aligned, counted
from cep.plan import Plan, compile_rules
from cep.report.tables import time_text

if TYPE_CHECKING:
    from cep.archive import Archive
    from cep.backtest.metrics import Metrics
    from cep.backtest.results import Results
    from cep.backtest.selection import Selection
    from cep.backtest.simulate import Outcome
    from cep.engine.native import Compiled
    from cep.engine.rows import Rows

FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)
MOMENT = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"])
NO_SPARK = "none"


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the command line asks for."""

    master: str
    out: Path | None
    streams: list[str] | None
    tables: Path | None
    report: Path | None
    fills: bool
    points: dict[str, float]
    valid_seconds: int


@click.command()
@click.argument("rules", type=RULES)
@click.option("--archive", "folder", required=True, type=FOLDER, help="The archive to read.")
@click.option("--from", "start", type=MOMENT, help="First moment, UTC (default: all there is).")
@click.option("--to", "end", type=MOMENT, help="Moment to stop before, UTC.")
@click.option("--symbols", metavar="A,B", help="Only records of these symbols.")
@click.option(
    "--master", default="local[*]", show_default=True,
    help="Spark master; none runs in this process, without Spark.",
)  # fmt: skip
@click.option("--out", type=FILE, help="Write output rows here, as JSON lines like `replay`.")
@click.option("--streams", metavar="A,B", help="Only rows of these streams (default: all).")
@click.option("--tables", type=FOLDER, help="Write a Parquet table per stream into a new folder.")
@click.option("--report", type=FILE, help="Write an HTML page with charts, trades and results.")
@click.option(
    "--fills", type=click.Choice(["next-tick", "none"]), default="next-tick", show_default=True,
    help="How signals are filled.",
)  # fmt: skip
@click.option(
    "--point", "points", multiple=True, metavar="SYMBOL=SIZE",
    help="Size of a point (default: from the prices' decimals). Repeat it.",
)  # fmt: skip
@click.option(
    "--valid-seconds", type=click.IntRange(min=0), default=60, show_default=True,
    help="How long a signal without `for` TIME waits for a tick.",
)  # fmt: skip
def command(
    rules: Path,
    folder: Path,
    start: datetime | None,
    end: datetime | None,
    symbols: str | None,
    master: str,
    out: Path | None,
    streams: str | None,
    tables: Path | None,
    report: Path | None,
    fills: str,
    points: tuple[str, ...],
    valid_seconds: int,
) -> None:
    """Run RULES over an archive on Spark, fill their signals, and show what came of it."""
    # Imported here: Numba and Arrow cost a second that `--help` need not wait.
    from cep.backtest.selection import select
    from cep.market import check_market

    plan = compile_rules(*read_rules(rules))
    check_market(plan)
    wishes = Wishes(
        master, out, wanted(plan, streams), tables, report, fills != "none",
        dict(map(_point, points)), valid_seconds,
    )  # fmt: skip
    archive = existing(folder)
    selection = select(archive, plan, names(symbols), utc_msc(start), utc_msc(end))
    run_backtest(plan, archive, selection, wishes)


def run_backtest(plan: Plan, archive: Archive, selection: Selection, wishes: Wishes) -> None:
    """Run the rules, then the fills; write and print."""
    from cep.backtest.results import Results
    from cep.engine.native import Compiled

    shown = shown_streams(plan, wishes)
    needed = {signal.name for signal in plan.signals}
    if wishes.report:
        needed |= {found.name for found in (*plan.events, *plan.complexes)}
    results = Results(plan, keep_events=wishes.report is not None)
    rules = Compiled(plan, outputs=shown | needed)
    records = run_rules(rules, selection, wishes, shown, results)
    click.echo("\n".join(run_lines(records, selection, results, shown | needed)))
    if wishes.fills and plan.signals or wishes.report:
        finish(archive, selection, wishes, results)


def shown_streams(plan: Plan, wishes: Wishes) -> set[str]:
    """The streams whose rows are written."""
    if wishes.out is None and wishes.tables is None:
        return set()
    derived = {stream.name for stream in plan.streams if stream not in plan.sources}
    return derived if wishes.streams is None else set(wishes.streams)


def run_rules(
    rules: Compiled, selection: Selection, wishes: Wishes, shown: set[str], results: Results
) -> int:
    """Send every output row where it is wanted; how many records were read, about."""
    from cep.backtest.results import picked
    from cep.backtest.tables import Tables

    with ExitStack() as stack:
        takers: list[Callable[[Rows], None]] = []
        if wishes.out is not None:
            sink = stack.enter_context(output(wishes.out))
            takers.append(lambda rows: sink.writelines(line + b"\n" for line in rows.json_lines()))
        if wishes.tables is not None:
            tables = stack.enter_context(Tables(wishes.tables, rules.plan, sorted(shown)))
            takers.append(tables.take)
        for rows in stack.enter_context(_Rows(rules, selection, wishes.master)):
            results.take(rows)
            chosen = picked(rows, shown) if takers else rows
            for take in takers:
                take(chosen)
    return selection.rows
